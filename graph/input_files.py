"""Recognises and reads the files and folders that are given to an import on the command line."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import cast

import orjson

from domain.errors import BrokenInputError, UsageError
from domain.tool import ToolDoc
from graph.blocks import Block, RecordKind, list_file_blocks, read_line_blocks
from graph.importers import apibank, apibank_dialogues, jsonl, nestful, toolbench, toolbench_trees
from graph.importers.lines import JsonlLine, read_lines
from graph.importers.records import (
    Record,
    RecordError,
    SkippedInput,
    describe_defect,
    ensure_list,
    ensure_object,
    load,
    load_any,
    read_capped,
)


@dataclass(frozen=True, slots=True)
class RecordSource:
    """The recorded trajectories or calls of one path, in blocks."""

    path: Path
    size: int
    """Sum of the blocks' weights, for progress."""
    files: int
    """Number of search trees."""
    blocks: Callable[[], Iterator[Block]]


def read_tools(path: Path, server: str = "", address: str = "") -> Iterator[ToolDoc | SkippedInput]:
    """Read tool documents from a path whose format is recognised.

    Formats: a folder in ToolBench's layout, ToolBench's requests (``G*_query.json``, or a folder of them), an OpenAPI
    or Swagger document (JSON or YAML), API-Bank's table, NESTFUL's list of endpoints, or JSONL.

    Args:
        path: file or folder.
        server: base address for relative servers of an OpenAPI document.
        address: the address that the document was fetched from.

    Raises:
        UsageError: there is nothing at ``path``.
    """
    path = _require_existing(path, "--tools")
    if path.is_dir():
        listed = _find_inside(path, ("tools.jsonl", "tools.jsonl.gz", "all_apis.csv", "data/all_apis.csv"))
        if listed is not None:
            return read_tools(listed)
        return _read_toolbench_folder(path)
    if path.suffix == ".csv":
        return apibank.read_tools(path)
    if path.suffix == ".json":
        return _read_json_document(path, server, address)
    if path.suffix in (".yaml", ".yml"):
        return _read_openapi_document(path, server, address)
    return _read_tool_lines(path)


def read_fetched(path: Path, address: str, server: str = "") -> Iterator[ToolDoc | SkippedInput]:
    """Read documents from a file that was fetched from ``address``, which problems name in place of the file.

    Servers without a host are relative to that address unless ``server`` overrides it; documents without servers use
    the root of its host.
    """
    for item in read_tools(path, server, address):
        if isinstance(item, SkippedInput):
            yield SkippedInput(address, item.line, item.reason.replace(str(path), address))
        else:
            yield item


def find_own_addresses(paths: Iterable[Path], server: str) -> tuple[str, ...]:
    """Return the addresses that OpenAPI documents name themselves, so that ``server`` has no effect on them.

    Empty if ``server`` is.
    """
    from graph.importers.openapi_servers import find_other_server

    documents = [path for path in paths if server and path.suffix in (".json", ".yaml", ".yml") and path.is_file()]
    docs = (doc for path in documents for doc in read_tools(path, server) if isinstance(doc, ToolDoc) and doc.url)
    return tuple(dict.fromkeys(other for doc in docs if (other := find_other_server(server, doc.url))))


def read_records(path: Path, kind: RecordKind) -> RecordSource:
    """Read trajectories or recorded calls (JSONL).

    Trajectories are search trees or dialogues, one per file or per line, or JSONL. Raises ``UsageError`` as
    :func:`read_tools` does.
    """
    path = _require_existing(path, f"--{kind}")
    if path.is_dir():
        names = ("calls.jsonl", "calls.jsonl.gz")
        if kind == "trajectories":
            names = ("trajectories.jsonl", "trajectories.jsonl.gz", "dialogues_dev.jsonl")
        listed = _find_inside(path, names)
        if listed is None and kind == "calls":
            raise UsageError(f"--calls {path} is a folder without calls.jsonl or calls.jsonl.gz; name the file")
        if listed is None:
            files = sum(
                1 for _ in chain(toolbench_trees.find_tree_files(path), apibank_dialogues.find_dialogue_files(path))
            )
            return RecordSource(path, files, files, lambda: list_file_blocks(path))
        path = listed
    if kind == "trajectories" and (path.suffix == ".json" or apibank_dialogues.is_dialogue(path)):
        return RecordSource(path, 1, 1, lambda: list_file_blocks(path))
    return RecordSource(path, path.stat().st_size, 0, lambda: read_line_blocks(path, kind))


def _require_existing(path: Path, option: str) -> Path:
    if not path.exists():
        raise UsageError(f"{option} {path}: there is no such file or folder")
    return path


def _find_inside(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _read_toolbench_folder(path: Path) -> Iterator[ToolDoc | SkippedInput]:
    queries = toolbench.find_query_files(path) if toolbench.find_tools_root(path) == path else []
    yield from toolbench.read_queries(queries) if queries else toolbench.read_tools(path)


def _read_json_document(path: Path, server: str, address: str) -> Iterator[ToolDoc | SkippedInput]:
    if toolbench.is_query_file(path):
        yield from toolbench.read_queries([path])
        return
    try:
        body = read_capped(path).removeprefix(b"\xef\xbb\xbf")
        content = load_any(body)
        endpoints = ensure_list(cast(object, content), "the endpoints") if isinstance(content, list) else []
        record = {} if endpoints else ensure_object(cast(object, content), "the record")
    except (RecordError, OSError) as error:
        yield SkippedInput(str(path), None, str(error))
        return
    if endpoints:
        yield from nestful.read_tools(path, endpoints)
    elif "openapi" in record or "swagger" in record:
        from graph.importers.openapi_files import load_joining_paths

        yield from _read_openapi_document(path, server, address, ensure_object(load_joining_paths(body), "the record"))
    elif "api_list" in record:
        yield from toolbench.read_tool_file(path)
    else:
        keys = orjson.dumps(sorted(record)[:5]).decode()
        yield SkippedInput(
            str(path), None, f"neither an OpenAPI document nor a tool set with 'api_list'; it has {keys}"
        )


def _read_openapi_document(
    path: Path, server: str, address: str, document: Record | None = None
) -> Iterator[ToolDoc | SkippedInput]:
    from graph.importers.openapi import read_openapi

    problems: list[BrokenInputError] = []
    try:
        yield from read_openapi(path, problems.append, server=server, address=address, document=document)
    except BrokenInputError as error:
        problems.append(error)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  # a defect of ours must not take along the documents beside this one
        problems.append(BrokenInputError(describe_defect(error), file=str(path)))
    for problem in problems:
        yield SkippedInput(problem.file, problem.line, str(problem).removeprefix(f"{problem.file}: "))


def _read_tool_lines(path: Path) -> Iterator[ToolDoc | SkippedInput]:
    empty = True
    for line in read_lines(path):
        empty = False
        if isinstance(line, JsonlLine):
            try:
                yield jsonl.parse_tool(load(line.body))
            except RecordError as error:
                yield SkippedInput(str(path), line.number, str(error))
        else:
            yield line
    if empty:
        yield SkippedInput(str(path), None, "an empty file: no tool in it")
