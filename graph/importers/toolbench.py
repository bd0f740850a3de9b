"""ToolBench's official tool folder: ``toolenv/tools/<Category>/<tool set>.json``, several APIs a file."""

from collections.abc import Iterator
from pathlib import Path

from domain.tool import ToolDoc, tool_id
from graph.function_names import function_name
from graph.importers import jsonl
from graph.importers.records import (
    Record,
    RecordError,
    Skipped,
    as_list,
    as_object,
    json_text,
    load,
    optional_text,
    read_capped,
    text,
)


def tools_root(path: Path) -> Path:
    """The folder of categories in ``path``, which may be it, ``toolenv``, or the folder that holds ``toolenv``."""
    for inner in ("toolenv/tools", "tools"):
        if (path / inner).is_dir():
            return path / inner
    return path


def read_tools(path: Path) -> Iterator[ToolDoc | Skipped]:
    """All APIs below a folder, by category and file, or those of one file. One broken API skips that API alone."""
    if path.is_file():
        yield from read_tool_file(path)
        return
    root, files = tools_root(path), 0
    for file in sorted(root.glob("*/*.json")):
        files += 1
        yield from read_tool_file(file)
    if not files:
        yield Skipped(str(path), None, "an empty folder: no <Category>/<tool set>.json in it, nor in toolenv/tools")


def read_tool_file(file: Path) -> Iterator[ToolDoc | Skipped]:
    """The APIs of one tool set; the category is the folder's name."""
    try:
        record = load(read_capped(file))
        apis = as_list(record.get("api_list"), "'api_list'")
        toolset = text(record, "tool_name")
    except (RecordError, OSError) as error:
        yield Skipped(str(file), None, str(error))
        return
    for number, item in enumerate(apis, 1):
        try:
            yield _tool(as_object(item, "the API"), record, file.parent.name, toolset)
        except RecordError as error:
            yield Skipped(str(file), None, f"API {number} of {len(apis)}: {error}")


def _tool(api: Record, toolset_record: Record, category: str, toolset: str) -> ToolDoc:
    name = text(api, "name")
    method, url = (optional_text(api, "method") or "GET").upper(), optional_text(api, "url") or ""
    return ToolDoc(
        id=tool_id(category, toolset, name),
        category=category,
        toolset=toolset,
        api=name,
        function=function_name(name, toolset),
        method=method,
        url=url,
        description=optional_text(api, "description") or "",
        toolset_description=optional_text(toolset_record, "tool_description") or "",
        parameters=jsonl.parameters(api, method, url),
        example_response=json_text(api.get("test_endpoint")) or json_text(api.get("body")),
        response_schema=json_text(api.get("schema")),
        source="toolbench",
        side_effect=jsonl.side_effect(api),
    )
