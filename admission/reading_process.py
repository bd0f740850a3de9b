"""Process that reads one document: it limits itself, reads standard input and writes one tool a line.

A last line holds what was skipped and found. Started by :mod:`admission.sandboxed_reader` only.
"""

import resource
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import orjson

from admission.findings import MISSING_ADDRESS, report_failure
from admission.limits import ReadLimits
from domain.errors import BrokenInputError, TooManyOperationsError
from domain.tool_source import NO_TAG, Operation, OperationChoice, OperationOutline, TagCount
from graph.importers.openapi import METHODS, read_openapi
from graph.importers.openapi_files import read_json, to_openapi
from graph.importers.openapi_nodes import Schema, copy_duplicate_keys, to_mapping
from graph.importers.yaml_events import YamlError, read_yaml

_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_NAME = Path("document")
_MAX_SKIPPED = 200
_OUT_OF_MEMORY = 3
_MAX_OUTLINED_TAGS = 1_000
_MAX_NAMED_TAGS = 10
"""The largest tags, named when a document is refused."""
_CONTROLS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), " ")


def main() -> int:
    """Read the document from standard input."""
    return run_bounded(render_tools)


def run_bounded(read: Callable[[bytes, dict[str, Any], ReadLimits], Iterator[bytes]]) -> int:
    """Limit this process, and read standard input. Returns 0 if the last line says what was found, or why nothing was."""
    size = int.from_bytes(sys.stdin.buffer.read(4), "big")
    request: dict[str, Any] = orjson.loads(sys.stdin.buffer.read(size))
    limits = ReadLimits(**request["limits"])
    _limit_resources(limits)
    try:
        for line in read(sys.stdin.buffer.read(), request, limits):
            sys.stdout.buffer.write(line + b"\n")
    except BrokenInputError as error:
        _write_error(str(error).removeprefix(f"{error.file}: "), error.code)
    except RecursionError:
        _write_error("is nested too deeply to be read; take out schemas that contain themselves")
    except (MemoryError, SystemError):  # C code without memory may raise either
        return _OUT_OF_MEMORY
    except Exception as error:  # noqa: BLE001 whatever an untrusted document causes is reported for that document
        _write_error(
            f"holds something that cannot be read ({type(error).__name__}: {str(error)[:200]}); correct the document"
        )
    return 0


def _write_error(error: str, code: str = BrokenInputError.code) -> None:
    sys.stdout.buffer.write(orjson.dumps({"error": error, "code": code}) + b"\n")


def _limit_resources(limits: ReadLimits) -> None:
    """Limit memory and CPU time, and forbid writing files."""
    bounds = [
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_CPU, limits.cpu + 1),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ]
    if sys.platform == "linux":  # elsewhere the address space of an idle process may be larger
        bounds.append((resource.RLIMIT_AS, limits.memory))
    for resource_kind, bound in bounds:
        _, hard = resource.getrlimit(resource_kind)
        limit = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        # The soft CPU limit sends SIGXCPU, by which the parent knows the reason; the hard one kills with SIGKILL.
        resource.setrlimit(resource_kind, (max(1, limit - 1) if resource_kind == resource.RLIMIT_CPU else limit, limit))


def render_tools(data: bytes, request: dict[str, Any], limits: ReadLimits) -> Iterator[bytes]:
    """Yield a tool a line, then a last line with what was skipped and found.

    If an outline is requested, the document's outline replaces the tools.

    Raises:
        BrokenInputError: it is not a document that may be read.
    """
    document = _parse_document(data)
    del data
    document = to_mapping(_sort_alternatives(to_openapi(document, _NAME)))
    document["paths"] = _disambiguate_names(to_mapping(document.get("paths")))
    operations = _list_operations(document)
    if request.get("outline"):
        yield _build_outline(document, operations, limits).model_dump_json().encode()
        yield orjson.dumps({"skipped": [], "findings": []})
        return
    selected = _select_operations(operations, OperationChoice.model_validate(request.get("operations") or {}), limits)
    skipped: list[str] = []
    controls = placeless = 0

    def report(error: BrokenInputError) -> None:
        if len(skipped) < _MAX_SKIPPED:
            skipped.append(str(error).removeprefix(f"{error.file}: ")[:500])

    category_and_toolset = (str(request["category"]), str(request["toolset"]))
    for tool in read_openapi(
        _NAME,
        report,
        server=str(request["server"]),
        address=str(request.get("address", "")),
        document=document,
        place=category_and_toolset,
        is_selected=lambda one: (one.method, one.path) in selected,
    ):
        content = tool.model_dump(mode="json")
        line = orjson.dumps(clean := _strip_controls(content))
        controls += clean != content
        if len(line) > limits.tool:
            message = (
                f"it comes to {len(line) // 1024} KiB, more than the {limits.tool // 1024} KiB that a tool may have"
            )
            report(BrokenInputError(f"{tool.api[:200]} is not imported: {message}", file=""))
            continue
        placeless += not tool.url
        yield line
    yield orjson.dumps({"skipped": skipped, "findings": _build_findings(document, controls, placeless)})


def _list_operations(document: Schema) -> list[Operation]:
    operations: list[Operation] = []

    def collect_operation(operation: Operation) -> bool:
        operations.append(operation)
        return False

    for _ in read_openapi(_NAME, lambda _: None, document=document, is_selected=collect_operation):
        pass
    return operations


def _select_operations(
    operations: Sequence[Operation], choice: OperationChoice, limits: ReadLimits
) -> set[tuple[str, str]]:
    """Return method and path of each chosen operation. Raises ``BrokenInputError`` if they are too many, or none of some."""
    selected = choice.select(operations)
    largest = ", ".join(
        f"{one.tag[:60] or '(none)'} ({one.count:,})" for one in _count_tags(operations)[:_MAX_NAMED_TAGS]
    )
    advice = f"choose those that are needed, by tag, path, method or name ('operations'). Its largest tags: {largest}"
    if len(selected) > limits.operations:
        count = f"{len(operations):,} operations" + ("" if choice.is_empty else f", {len(selected):,} of them chosen")
        raise TooManyOperationsError(
            f"holds {count}, and a source may have {limits.operations:,} (FOOTPATH_SOURCE_TOOLS); {advice}", file=""
        )
    if operations and not selected:
        raise BrokenInputError(f"holds {len(operations):,} operations, none of which is chosen; {advice}", file="")
    return {(one.method, one.path) for one in selected}


def _build_outline(document: Schema, operations: Sequence[Operation], limits: ReadLimits) -> OperationOutline:
    """List the operations, within half of the allowed output."""
    remaining, outlined = limits.output // 2, list[Operation]()
    for operation in operations[: limits.outlined]:
        remaining -= len(operation.model_dump_json())
        if remaining < 0:
            break
        outlined.append(operation)
    title = to_mapping(document.get("info")).get("title")
    return OperationOutline(
        title=" ".join(title.split())[:200] if isinstance(title, str) else "",
        total=len(operations),
        operations=tuple(outlined),
        tags=tuple(_count_tags(operations)[:_MAX_OUTLINED_TAGS]),
    )


def _count_tags(operations: Sequence[Operation]) -> list[TagCount]:
    counts = Counter(tag for operation in operations for tag in operation.tags or (NO_TAG,))
    return [TagCount(tag=tag, count=count) for tag, count in counts.most_common()]


def _parse_document(data: bytes) -> Schema:
    for mark, codec in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            data = data.decode(codec, errors="replace").lstrip("\ufeff").encode()
    first_byte = data.lstrip()[:1]
    if not first_byte:
        raise BrokenInputError("is empty; give the text of an OpenAPI document", file="")
    try:
        if first_byte in (b"{", b"["):
            return to_mapping(read_json(data))
        if first_byte == b"<":
            raise BrokenInputError(
                "is a web page or XML, no OpenAPI document; give the address of the document itself (often /openapi.json)",
                file="",
            )
        return to_mapping(read_yaml(data))
    except YamlError as error:
        message = str(error).replace('in "<byte string>", ', "at ")
        raise BrokenInputError(
            f"is neither JSON nor YAML that can be read: {message}; correct it there", file=""
        ) from error
    except orjson.JSONDecodeError as error:
        raise BrokenInputError(f"is not JSON that can be read: {error}; correct the document", file="") from error


def _sort_alternatives(value: Any) -> Any:
    """Sort alternatives, the richest first: their order means nothing, but the importer uses the first."""
    if isinstance(value, list):
        return [_sort_alternatives(item) for item in cast(list[Any], value)]
    if not isinstance(value, dict):
        return value
    ordered = {key: _sort_alternatives(item) for key, item in cast(Schema, value).items()}
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(ordered.get(key), list):
            ordered[key] = sorted(ordered[key], key=_get_sort_key)
    return copy_duplicate_keys(ordered, cast(Schema, value))


def _get_sort_key(schema: Any) -> tuple[int, str]:
    """Return the sort key of an alternative: most properties first, then by its JSON, so that the order is stable."""
    properties = to_mapping(schema).get("properties")
    return -len(to_mapping(properties)), orjson.dumps(schema, option=orjson.OPT_SORT_KEYS, default=str).decode()


def _disambiguate_names(paths: Schema) -> Schema:
    """Add method and path to operation ids that occur more than once.

    All of them change, because which one comes first may differ in the next reading.
    """
    operations = [to_mapping(to_mapping(item).get(method)) for item in paths.values() for method in METHODS]
    counts = Counter(name for operation in operations if isinstance(name := operation.get("operationId"), str))
    return {
        route: copy_duplicate_keys(
            {key: _rename_operation(key, route, entry, counts) for key, entry in to_mapping(item).items()},
            to_mapping(item),
        )
        if item == to_mapping(item)
        else item
        for route, item in paths.items()
    }


def _rename_operation(method: str, route: str, entry: Any, counts: Counter[str]) -> Any:
    name = to_mapping(entry).get("operationId") if method in METHODS else None
    if not isinstance(name, str) or counts[name] < 2:
        return entry
    return {**to_mapping(entry), "operationId": f"{name} ({method.upper()} {route})"}


def _strip_controls(value: Any) -> Any:
    """Return a value without control characters, which break stores and terminals."""
    if isinstance(value, str):
        return value.translate(_CONTROLS)
    if isinstance(value, list):
        return [_strip_controls(item) for item in cast(list[Any], value)]
    if isinstance(value, dict):
        return {key: _strip_controls(item) for key, item in cast(dict[str, Any], value).items()}
    return value


def _build_findings(document: Schema, controls: int, placeless: int) -> list[dict[str, Any]]:
    """Return the findings on the whole document.

    ``controls`` is the number of tools that held control characters, ``placeless`` that of tools without an address.
    """
    findings: list[dict[str, Any]] = []
    if placeless:
        findings.append(report_failure("address", *MISSING_ADDRESS).model_dump(mode="json"))
    if controls:
        findings.append(
            {
                "check": "document",
                "verdict": "warned",
                "told": f"{controls} of its tools held control characters, which were taken out",
                "advice": "look at their descriptions; a program, rather than a person, may have written them",
            }
        )
    if not to_mapping(document.get("info")).get("title"):
        findings.append(
            {
                "check": "document",
                "verdict": "warned",
                "told": "the document has no title",
                "advice": "add info.title",
            }
        )
    return findings


if __name__ == "__main__":
    sys.exit(main())
