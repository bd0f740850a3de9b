"""Recognises and reads the files and folders that are given to an import on the command line."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import cast

import orjson

from domain.errors import BrokenInputError, UsageError
from domain.tool import ToolDoc
from graph.blocks import Block, Kind, file_blocks, line_blocks
from graph.importers import apibank, dialogues, jsonl, nestful, toolbench, trees
from graph.importers.lines import Line, read_lines
from graph.importers.records import (
    Record,
    RecordError,
    Skipped,
    as_list,
    as_object,
    describe_defect,
    load,
    load_any,
    read_capped,
)


@dataclass(frozen=True, slots=True)
class Source:
    """The recorded trajectories or calls of one path, in blocks."""

    path: Path
    size: int
    """Sum of the blocks' weights, for progress."""
    files: int
    """Number of search trees."""
    blocks: Callable[[], Iterator[Block]]


def read_tools(path: Path, server: str = "", address: str = "") -> Iterator[ToolDoc | Skipped]:
    """Read tool documents from a path whose format is recognised.

    Formats: a folder in ToolBench's layout, ToolBench's requests (``G*_query.json``, or a folder of them), an OpenAPI or Swagger document
    (JSON or YAML), API-Bank's table, NESTFUL's list of endpoints, or JSONL.

    Args:
        path: file or folder.
        server: base address for relative servers of an OpenAPI document.
        address: the address that the document was fetched from.

    Raises:
        UsageError: there is nothing at ``path``.
    """
    path = _existing(path, "--tools")
    if path.is_dir():
        listed = _inside(path, ("tools.jsonl", "tools.jsonl.gz", "all_apis.csv", "data/all_apis.csv"))
        if listed is not None:
            return read_tools(listed)
        return _toolbench_folder(path)
    if path.suffix == ".csv":
        return apibank.read_tools(path)
    if path.suffix == ".json":
        return _json_document(path, server, address)
    if path.suffix in (".yaml", ".yml"):
        return _openapi(path, server, address)
    return _tool_lines(path)


def read_fetched(path: Path, address: str, server: str = "") -> Iterator[ToolDoc | Skipped]:
    """Read documents from a file that was fetched from ``address``, which problems name in place of the file.

    Servers without a host are relative to that address unless ``server`` overrides it; documents without servers use the root of its host.
    """
    for one in read_tools(path, server, address):
        if isinstance(one, Skipped):
            yield Skipped(address, one.line, one.reason.replace(str(path), address))
        else:
            yield one


def addresses_kept(paths: Iterable[Path], server: str) -> tuple[str, ...]:
    """Return the addresses that OpenAPI documents name themselves, so that ``server`` has no effect on them.

    Empty if ``server`` is.
    """
    from graph.importers.openapi_servers import elsewhere

    documents = [path for path in paths if server and path.suffix in (".json", ".yaml", ".yml") and path.is_file()]
    docs = (doc for path in documents for doc in read_tools(path, server) if isinstance(doc, ToolDoc) and doc.url)
    return tuple(dict.fromkeys(other for doc in docs if (other := elsewhere(server, doc.url))))


def read_records(path: Path, kind: Kind) -> Source:
    """Read trajectories or recorded calls (JSONL).

    Trajectories are search trees or dialogues, one per file or per line, or JSONL. Raises ``UsageError`` as :func:`read_tools` does.
    """
    path = _existing(path, f"--{kind}")
    if path.is_dir():
        names = ("calls.jsonl", "calls.jsonl.gz")
        if kind == "trajectories":
            names = ("trajectories.jsonl", "trajectories.jsonl.gz", "dialogues_dev.jsonl")
        listed = _inside(path, names)
        if listed is None and kind == "calls":
            raise UsageError(f"--calls {path} is a folder without calls.jsonl or calls.jsonl.gz; name the file")
        if listed is None:
            files = sum(1 for _ in chain(trees.tree_files(path), dialogues.dialogue_files(path)))
            return Source(path, files, files, lambda: file_blocks(path))
        path = listed
    if kind == "trajectories" and (path.suffix == ".json" or dialogues.is_dialogue(path)):
        return Source(path, 1, 1, lambda: file_blocks(path))
    return Source(path, path.stat().st_size, 0, lambda: line_blocks(path, kind))


def _existing(path: Path, option: str) -> Path:
    if not path.exists():
        raise UsageError(f"{option} {path}: there is no such file or folder")
    return path


def _inside(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _toolbench_folder(path: Path) -> Iterator[ToolDoc | Skipped]:
    queries = toolbench.query_files(path) if toolbench.tools_root(path) == path else []
    yield from toolbench.read_queries(queries) if queries else toolbench.read_tools(path)


def _json_document(path: Path, server: str, address: str) -> Iterator[ToolDoc | Skipped]:
    if toolbench.is_queries(path):
        yield from toolbench.read_queries([path])
        return
    try:
        body = read_capped(path).removeprefix(b"\xef\xbb\xbf")
        content = load_any(body)
        endpoints = as_list(cast(object, content), "the endpoints") if isinstance(content, list) else []
        record = {} if endpoints else as_object(cast(object, content), "the record")
    except (RecordError, OSError) as error:
        yield Skipped(str(path), None, str(error))
        return
    if endpoints:
        yield from nestful.read_tools(path, endpoints)
    elif "openapi" in record or "swagger" in record:
        from graph.importers.openapi_files import join_paths

        yield from _openapi(path, server, address, as_object(join_paths(body), "the record"))
    elif "api_list" in record:
        yield from toolbench.read_tool_file(path)
    else:
        found = orjson.dumps(sorted(record)[:5]).decode()
        yield Skipped(str(path), None, f"neither an OpenAPI document nor a tool set with 'api_list'; it has {found}")


def _openapi(path: Path, server: str, address: str, document: Record | None = None) -> Iterator[ToolDoc | Skipped]:
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
        yield Skipped(problem.file, problem.line, str(problem).removeprefix(f"{problem.file}: "))


def _tool_lines(path: Path) -> Iterator[ToolDoc | Skipped]:
    empty = True
    for line in read_lines(path):
        empty = False
        if isinstance(line, Line):
            try:
                yield jsonl.tool(load(line.body))
            except RecordError as error:
                yield Skipped(str(path), line.number, str(error))
        else:
            yield line
    if empty:
        yield Skipped(str(path), None, "an empty file: no tool in it")
