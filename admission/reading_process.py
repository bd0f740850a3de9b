"""Process that reads one document: it limits itself, reads standard input and writes one tool a line.

A last line holds what was skipped and found. Started by :mod:`admission.reading` only.
"""

import resource
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import orjson

from admission.findings import PLACELESS, failed
from admission.limits import ReadLimits
from domain.errors import BrokenInputError, TooManyOperationsError
from domain.operations import NO_TAG, Operation, OperationChoice, Outline, TagCount
from graph.importers.openapi import METHODS, read_openapi
from graph.importers.openapi_files import as_openapi, read_json
from graph.importers.openapi_nodes import Schema, mapping, remember_given_twice
from graph.importers.yaml_events import YamlError, read_yaml

_TEXT_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_NAME = Path("document")
_MOST_SKIPPED = 200
_OUT_OF_MEMORY = 3
_OUTLINED_TAGS = 1_000
_NAMED_TAGS = 10
"""The largest tags, named when a document is refused."""
_CONTROLS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), " ")


def main() -> int:
    """Read the document from standard input."""
    return bounded(lines)


def bounded(read: Callable[[bytes, dict[str, Any], ReadLimits], Iterator[bytes]]) -> int:
    """Limit this process, and read standard input. Returns 0 if the last line says what was found, or why nothing was."""
    size = int.from_bytes(sys.stdin.buffer.read(4), "big")
    wanted: dict[str, Any] = orjson.loads(sys.stdin.buffer.read(size))
    limits = ReadLimits(**wanted["limits"])
    _bind(limits)
    try:
        for line in read(sys.stdin.buffer.read(), wanted, limits):
            sys.stdout.buffer.write(line + b"\n")
    except BrokenInputError as error:
        _tell(str(error).removeprefix(f"{error.file}: "), error.code)
    except RecursionError:
        _tell("is nested too deeply to be read; take out schemas that contain themselves")
    except (MemoryError, SystemError):  # C code without memory may raise either
        return _OUT_OF_MEMORY
    except Exception as error:  # noqa: BLE001 whatever an untrusted document causes is reported for that document
        _tell(f"holds something that cannot be read ({type(error).__name__}: {str(error)[:200]}); correct the document")
    return 0


def _tell(error: str, code: str = BrokenInputError.code) -> None:
    sys.stdout.buffer.write(orjson.dumps({"error": error, "code": code}) + b"\n")


def _bind(limits: ReadLimits) -> None:
    """Limit memory and CPU time, and forbid writing files."""
    bounds = [
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_CPU, limits.cpu + 1),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ]
    if sys.platform == "linux":  # elsewhere the address space of an idle process may be larger
        bounds.append((resource.RLIMIT_AS, limits.memory))
    for what, bound in bounds:
        _, hard = resource.getrlimit(what)
        most = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        # The soft CPU limit sends SIGXCPU, by which the parent knows the reason; the hard one kills with SIGKILL.
        resource.setrlimit(what, (max(1, most - 1) if what == resource.RLIMIT_CPU else most, most))


def lines(data: bytes, wanted: dict[str, Any], limits: ReadLimits) -> Iterator[bytes]:
    """Yield a tool a line, then a last line with what was skipped and found.

    If an outline is requested, the document's outline replaces the tools.

    Raises:
        BrokenInputError: it is not a document that may be read.
    """
    document = _parsed(data)
    del data
    document = mapping(_in_one_order(as_openapi(document, _NAME)))
    document["paths"] = _told_apart(mapping(document.get("paths")))
    listed = _listed(document)
    if wanted.get("outline"):
        yield _outline(document, listed, limits).model_dump_json().encode()
        yield orjson.dumps({"skipped": [], "findings": []})
        return
    taken = _taken(listed, OperationChoice.model_validate(wanted.get("operations") or {}), limits)
    skipped: list[str] = []
    controls = placeless = 0

    def report(error: BrokenInputError) -> None:
        if len(skipped) < _MOST_SKIPPED:
            skipped.append(str(error).removeprefix(f"{error.file}: ")[:500])

    place = (str(wanted["category"]), str(wanted["toolset"]))
    for tool in read_openapi(
        _NAME,
        report,
        server=str(wanted["server"]),
        address=str(wanted.get("address", "")),
        document=document,
        place=place,
        chosen=lambda one: (one.method, one.path) in taken,
    ):
        content = tool.model_dump(mode="json")
        line = orjson.dumps(clean := _clean(content))
        controls += clean != content
        if len(line) > limits.tool:
            told = f"it comes to {len(line) // 1024} KiB, more than the {limits.tool // 1024} KiB that a tool may have"
            report(BrokenInputError(f"{tool.api[:200]} is not imported: {told}", file=""))
            continue
        placeless += not tool.url
        yield line
    yield orjson.dumps({"skipped": skipped, "findings": _findings(document, controls, placeless)})


def _listed(document: Schema) -> list[Operation]:
    found: list[Operation] = []

    def note(one: Operation) -> bool:
        found.append(one)
        return False

    for _ in read_openapi(_NAME, lambda _: None, document=document, chosen=note):
        pass
    return found


def _taken(listed: Sequence[Operation], choice: OperationChoice, limits: ReadLimits) -> set[tuple[str, str]]:
    """Return method and path of each chosen operation. Raises ``BrokenInputError`` if they are too many, or none of some."""
    taken = choice.select(listed)
    largest = ", ".join(f"{one.tag[:60] or '(none)'} ({one.count:,})" for one in _tags(listed)[:_NAMED_TAGS])
    how = f"choose those that are needed, by tag, path, method or name ('operations'). Its largest tags: {largest}"
    if len(taken) > limits.operations:
        count = f"{len(listed):,} operations" + ("" if choice.is_empty else f", {len(taken):,} of them chosen")
        raise TooManyOperationsError(
            f"holds {count}, and a source may have {limits.operations:,} (FOOTPATH_SOURCE_TOOLS); {how}", file=""
        )
    if listed and not taken:
        raise BrokenInputError(f"holds {len(listed):,} operations, none of which is chosen; {how}", file="")
    return {(one.method, one.path) for one in taken}


def _outline(document: Schema, listed: Sequence[Operation], limits: ReadLimits) -> Outline:
    """List the operations, within half of the allowed output."""
    room, shown = limits.output // 2, list[Operation]()
    for one in listed[: limits.outlined]:
        room -= len(one.model_dump_json())
        if room < 0:
            break
        shown.append(one)
    title = mapping(document.get("info")).get("title")
    return Outline(
        title=" ".join(title.split())[:200] if isinstance(title, str) else "",
        total=len(listed),
        operations=tuple(shown),
        tags=tuple(_tags(listed)[:_OUTLINED_TAGS]),
    )


def _tags(listed: Sequence[Operation]) -> list[TagCount]:
    counted = Counter(tag for one in listed for tag in one.tags or (NO_TAG,))
    return [TagCount(tag=tag, count=count) for tag, count in counted.most_common()]


def _parsed(data: bytes) -> Schema:
    for mark, codec in _TEXT_MARKS:
        if data.startswith(mark):
            data = data.decode(codec, errors="replace").lstrip("\ufeff").encode()
    begins = data.lstrip()[:1]
    if not begins:
        raise BrokenInputError("is empty; give the text of an OpenAPI document", file="")
    try:
        if begins in (b"{", b"["):
            return mapping(read_json(data))
        if begins == b"<":
            raise BrokenInputError(
                "is a web page or XML, no OpenAPI document; give the address of the document itself (often /openapi.json)",
                file="",
            )
        return mapping(read_yaml(data))
    except YamlError as error:
        told = str(error).replace('in "<byte string>", ', "at ")
        raise BrokenInputError(
            f"is neither JSON nor YAML that can be read: {told}; correct it there", file=""
        ) from error
    except orjson.JSONDecodeError as error:
        raise BrokenInputError(f"is not JSON that can be read: {error}; correct the document", file="") from error


def _in_one_order(value: Any) -> Any:
    """Sort alternatives, the richest first: their order means nothing, but the importer uses the first."""
    if isinstance(value, list):
        return [_in_one_order(one) for one in cast(list[Any], value)]
    if not isinstance(value, dict):
        return value
    made = {key: _in_one_order(one) for key, one in cast(Schema, value).items()}
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(made.get(key), list):
            made[key] = sorted(made[key], key=_richness)
    return remember_given_twice(made, cast(Schema, value))


def _richness(one: Any) -> tuple[int, str]:
    """Return the sort key of an alternative: most properties first, then by its JSON, so that the order is stable."""
    properties = mapping(one).get("properties")
    return -len(mapping(properties)), orjson.dumps(one, option=orjson.OPT_SORT_KEYS, default=str).decode()


def _told_apart(paths: Schema) -> Schema:
    """Add method and path to operation ids that occur more than once.

    All of them change, because which one comes first may differ in the next reading.
    """
    written = [mapping(mapping(item).get(method)) for item in paths.values() for method in METHODS]
    often = Counter(name for one in written if isinstance(name := one.get("operationId"), str))
    return {
        route: remember_given_twice(
            {key: _named(key, route, part, often) for key, part in mapping(item).items()}, mapping(item)
        )
        if item == mapping(item)
        else item
        for route, item in paths.items()
    }


def _named(method: str, route: str, part: Any, often: Counter[str]) -> Any:
    name = mapping(part).get("operationId") if method in METHODS else None
    if not isinstance(name, str) or often[name] < 2:
        return part
    return {**mapping(part), "operationId": f"{name} ({method.upper()} {route})"}


def _clean(value: Any) -> Any:
    """Return a value without control characters, which break stores and terminals."""
    if isinstance(value, str):
        return value.translate(_CONTROLS)
    if isinstance(value, list):
        return [_clean(one) for one in cast(list[Any], value)]
    if isinstance(value, dict):
        return {key: _clean(one) for key, one in cast(dict[str, Any], value).items()}
    return value


def _findings(document: Schema, controls: int, placeless: int) -> list[dict[str, Any]]:
    """Return the findings on the whole document.

    ``controls`` is the number of tools that held control characters, ``placeless`` that of tools without an address.
    """
    found: list[dict[str, Any]] = []
    if placeless:
        found.append(failed("address", *PLACELESS).model_dump(mode="json"))
    if controls:
        found.append(
            {
                "check": "document",
                "verdict": "warned",
                "told": f"{controls} of its tools held control characters, which were taken out",
                "advice": "look at their descriptions; a program, rather than a person, may have written them",
            }
        )
    if not mapping(document.get("info")).get("title"):
        found.append(
            {
                "check": "document",
                "verdict": "warned",
                "told": "the document has no title",
                "advice": "add info.title",
            }
        )
    return found


if __name__ == "__main__":
    sys.exit(main())
