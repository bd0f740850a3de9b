"""Import of ToolBench's files: ``toolenv/tools/<Category>/<tool set>.json`` and ``instruction/G*_query.json``.

The former hold several APIs a file. The latter hold requests with the APIs that should serve each, so the same APIs
recur, described more or less completely.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import orjson

from domain.tool import JsonType, ToolDoc, ToolId, make_tool_id
from graph.function_names import build_function_name
from graph.importers import jsonl
from graph.importers.json_arrays import read_items
from graph.importers.records import (
    Record,
    RecordError,
    SkippedInput,
    ensure_list,
    ensure_object,
    get_optional_text,
    load,
    read_capped,
    require_text,
    to_json_text,
)

_TYPES: dict[str, JsonType | str] = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "NoneType": "null", "list": "array", "dict": "object",
}  # fmt: skip
_LIST_OF = re.compile(r"list of (\w+) with length \d+")
_LENGTH = "_list_length"
"""Key inside a list's item by which a template gives the length of the list."""
_MAX_DEPTH = 20


def find_tools_root(path: Path) -> Path:
    """Return the folder of categories: the path itself, or its ``toolenv/tools`` or ``tools``."""
    for inner in ("toolenv/tools", "tools"):
        if (path / inner).is_dir():
            return path / inner
    return path


def read_tools(path: Path) -> Iterator[ToolDoc | SkippedInput]:
    """Yield the APIs of one file, or of all files below a folder by category. A broken API is skipped alone."""
    if path.is_file():
        yield from read_tool_file(path)
        return
    root, files = find_tools_root(path), 0
    for file in sorted(root.glob("*/*.json")):
        files += 1
        yield from read_tool_file(file)
    if not files:
        yield SkippedInput(
            str(path), None, "an empty folder: no <Category>/<tool set>.json in it, nor in toolenv/tools"
        )


def read_tool_file(file: Path) -> Iterator[ToolDoc | SkippedInput]:
    """Yield the APIs of one tool set; the category is the name of the folder."""
    try:
        record = load(read_capped(file))
        apis = ensure_list(record.get("api_list"), "'api_list'")
        toolset = require_text(record, "tool_name")
    except (RecordError, OSError) as error:
        yield SkippedInput(str(file), None, str(error))
        return
    for number, item in enumerate(apis, 1):
        try:
            yield _build_tool(ensure_object(item, "the API"), record, file.parent.name, toolset)
        except RecordError as error:
            yield SkippedInput(str(file), None, f"API {number} of {len(apis)}: {error}")


def _build_tool(api: Record, toolset_record: Record, category: str, toolset: str) -> ToolDoc:
    name = require_text(api, "name")
    method, url = (get_optional_text(api, "method") or "GET").upper(), get_optional_text(api, "url") or ""
    return ToolDoc(
        id=make_tool_id(category, toolset, name),
        category=category,
        toolset=toolset,
        api=name,
        function=build_function_name(name, toolset),
        method=method,
        url=url,
        description=get_optional_text(api, "description") or "",
        toolset_description=get_optional_text(toolset_record, "tool_description") or "",
        parameters=jsonl.parse_parameters(api, method, url),
        example_response=to_json_text(api.get("test_endpoint")) or to_json_text(api.get("body")),
        response_schema=to_json_text(api.get("schema")),
        source="toolbench",
        side_effect=jsonl.read_side_effect(api),
    )


def find_query_files(path: Path) -> list[Path]:
    """Return the request files of a folder, which may be ``instruction`` or the folder above it."""
    return sorted(path.glob("G*_query.json")) or sorted(path.glob("instruction/G*_query.json"))


def is_query_file(path: Path) -> bool:
    """Return whether a file is a list of requests with their APIs, judged by its first item."""
    try:
        first = next(read_items(path), None)
    except (RecordError, OSError):  # reported by the importer that reads it as something else
        return False
    return isinstance(first, dict) and "query" in first and "api_list" in first


def read_queries(files: Sequence[Path]) -> Iterator[ToolDoc | SkippedInput]:
    """Yield the APIs of all requests, each once, in the order of their first occurrence.

    What an occurrence of an API lacks, such as its method or its response template, is taken from the next one that has
    it.
    """
    merged: dict[ToolId, Record] = {}
    for file in files:
        number = 0
        try:
            for number, item in enumerate(read_items(file), 1):
                yield from _merge_apis(merged, item, f"request {number}", file)
        except (RecordError, OSError) as error:
            read_note = f"; the {number} requests before it were read" if number else ""
            yield SkippedInput(str(file), None, f"{error}{read_note}")
    for record in merged.values():
        try:
            yield _build_queried_tool(record)
        except RecordError as error:
            yield SkippedInput(str(files[0]), None, f"{record['tool_name']}/{record['api_name']}: {error}")


def _merge_apis(merged: dict[ToolId, Record], item: object, place: str, file: Path) -> Iterator[SkippedInput]:
    """Add the APIs of a request to those of earlier ones; yield those that cannot be read."""
    try:
        apis = ensure_list(ensure_object(item, "the request").get("api_list"), "'api_list'")
    except RecordError as error:
        yield SkippedInput(str(file), None, f"{place}: {error}")
        return
    for api in apis:
        try:
            record = ensure_object(api, "the API")
            api_id = make_tool_id(*(require_text(record, key) for key in ("category_name", "tool_name", "api_name")))
        except RecordError as error:
            yield SkippedInput(str(file), None, f"{place}: {error}")
            continue
        merged_record = merged.setdefault(api_id, {})
        for key, value in record.items():
            if not merged_record.get(key) or str(merged_record[key]).isspace():
                merged_record[key] = value


def _build_queried_tool(record: Record) -> ToolDoc:
    category, toolset, name = (require_text(record, key) for key in ("category_name", "tool_name", "api_name"))
    method = (get_optional_text(record, "method") or "GET").upper()
    template: object = record.get("template_response")
    return ToolDoc(
        id=make_tool_id(category, toolset, name),
        category=category,
        toolset=toolset,
        api=name,
        function=build_function_name(name, toolset),
        method=method,
        description=(get_optional_text(record, "api_description") or "").strip(),
        parameters=jsonl.parse_parameters(record, method, ""),
        response_schema=orjson.dumps(_infer_schema(cast("object", template))).decode()
        if isinstance(template, (dict, list))
        else None,
        source="toolbench",
        side_effect=jsonl.read_side_effect(record),
    )


def _infer_schema(template: object, depth: int = _MAX_DEPTH) -> dict[str, Any]:
    """Infer the JSON Schema of a response template, which has the names of Python types in place of values."""
    if depth == 0:
        return {}
    match template:
        case dict():
            fields = cast("dict[str, object]", template)
            properties = {name: _infer_schema(value, depth - 1) for name, value in fields.items() if name != _LENGTH}
            return {"type": "object", "properties": properties}
        case list():
            parts = cast("list[object]", template)
            listed = _LIST_OF.fullmatch(parts[0]) if parts and isinstance(parts[0], str) else None
            return {
                "type": "array",
                "items": _infer_schema(listed[1] if listed else next(iter(parts), None), depth - 1),
            }
        case str() if template in _TYPES:
            return {"type": _TYPES[template]}
        case _:
            return {}
