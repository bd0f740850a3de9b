"""Import of NESTFUL's executable specification: a JSON list of endpoints with the fields of their responses.

It names neither category nor tool set, so the host is used for both. Functions keep their names.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import orjson
from pydantic.types import JsonValue

from domain.tool import JsonType, Location, Parameter, ToolDoc, make_tool_id
from graph.importers.records import (
    Record,
    RecordError,
    SkippedInput,
    ensure_list,
    ensure_object,
    get_optional_text,
    require_text,
)

_TYPES: dict[str, JsonType] = {
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
}
"""Types in lower case, whatever the file writes. All others (string, enum, a date with its format) are sent as text."""

_CHOICES = ("enum", "allowed_values", "possible_values")
_PLACES: tuple[tuple[str, Location], ...] = (
    ("path_parameters", "path"),
    ("query_parameters", "query"),
    ("body_parameters", "body"),
)
_STEP = re.compile(r"([^.\[\]]+)|(\[\d+\])")
_FIELD_PLACEHOLDER = "{param}"


def read_tools(path: Path, endpoints: Sequence[object]) -> Iterator[ToolDoc | SkippedInput]:
    """Yield the endpoints in order. An endpoint that cannot be read is skipped alone."""
    for number, item in enumerate(endpoints, 1):
        try:
            yield _build_tool(ensure_object(item, "the endpoint"))
        except RecordError as error:
            yield SkippedInput(str(path), None, f"endpoint {number} of {len(endpoints)}: {error}")


def _build_tool(record: Record) -> ToolDoc:
    name, host = require_text(record, "name"), require_text(record, "host")
    parameters = tuple(_iterate_parameters(record))
    route = "".join(f"/{{{one.name}}}" for one in parameters if one.location == "path")
    return ToolDoc(
        id=make_tool_id(host, host, name),
        category=host,
        toolset=host,
        api=name,
        function=name,
        method=(get_optional_text(record, "method") or "GET").upper(),
        url=_build_url(host, require_text(record, "endpoint"), route),
        description=get_optional_text(record, "description") or "",
        parameters=parameters,
        response_schema=_build_response_schema(record),
        source="nestful",
    )


def _build_url(host: str, endpoint: str, route: str) -> str:
    """Build the URL of an endpoint. Path parameters are appended, unless the endpoint has placeholders for them."""
    route = "" if "{" in endpoint else route
    return f"https://{host}{endpoint.rstrip('/') if route else endpoint}{route}"


def _iterate_parameters(record: Record) -> Iterator[Parameter]:
    for key, location in _PLACES:
        for name, spec in ensure_object(record.get(key) or {}, repr(key)).items():
            yield _build_parameter(name, ensure_object(spec, f"the parameter {name!r}"), location)


def _build_parameter(name: str, spec: Record, location: Location) -> Parameter:
    choices = next(
        (ensure_list(spec[key], repr(key)) for key in _CHOICES if isinstance(spec.get(key), list)), list[object]()
    )
    return Parameter(
        name=name,
        type=_read_type(spec),
        description=str(spec.get("description") or ""),
        required=spec.get("required") is True or location == "path",
        default=cast(JsonValue, spec.get("default")),
        example=cast(JsonValue, spec.get("example")),
        enum=tuple(cast("list[JsonValue]", choices)),
        location=location,
    )


def _read_type(spec: Record) -> JsonType:
    return _TYPES.get(str(spec.get("type")).lower(), "string")


def _build_response_schema(record: Record) -> str | None:
    """Build the JSON Schema of the response.

    The described fields lie at the path that ``output_parser`` names, such as ``result.data[0].{param}``.
    """
    fields = record.get("output_parameters")
    if not isinstance(fields, dict) or not fields:
        return None
    schema: Record = {"type": "object", "properties": _build_field_schemas(cast(Record, fields))}
    parser_path = (get_optional_text(record, "output_parser") or "").removesuffix(_FIELD_PLACEHOLDER).rstrip(".")
    for name, index in reversed(_STEP.findall(parser_path)[1:]):  # the first step is the response itself
        if index:
            schema = {"type": "array", "items": schema}
        elif name != "{}":
            schema = {"type": "object", "properties": {name: schema}}
    return orjson.dumps(schema).decode()


def _build_field_schemas(fields: Record) -> Record:
    return {name: _build_field_schema(cast(Record, field)) for name, field in fields.items() if isinstance(field, dict)}


def _build_field_schema(spec: Record) -> Record:
    """Build a field's schema: its type in lower case, its description, and its own fields or items."""
    schema: Record = {"type": _read_type(spec)}
    if spec.get("description"):
        schema["description"] = str(spec["description"])
    if isinstance(inner := spec.get("properties"), dict):
        schema["properties"] = _build_field_schemas(cast(Record, inner))
    if isinstance(items := spec.get("items"), dict):
        schema["items"] = _build_field_schema(cast(Record, items))
    return schema
