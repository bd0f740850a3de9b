"""Import of NESTFUL's executable specification: a JSON list of endpoints with the fields of their responses.

It names neither category nor tool set, so the host is used for both. Functions keep their names.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import orjson
from pydantic.types import JsonValue

from domain.tool import JsonType, Location, Parameter, ToolDoc, tool_id
from graph.importers.records import Record, RecordError, Skipped, as_list, as_object, optional_text, text

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
_FIELDS = "{param}"


def read_tools(path: Path, endpoints: Sequence[object]) -> Iterator[ToolDoc | Skipped]:
    """Yield the endpoints in order. An endpoint that cannot be read is skipped alone."""
    for number, item in enumerate(endpoints, 1):
        try:
            yield _tool(as_object(item, "the endpoint"))
        except RecordError as error:
            yield Skipped(str(path), None, f"endpoint {number} of {len(endpoints)}: {error}")


def _tool(record: Record) -> ToolDoc:
    name, host = text(record, "name"), text(record, "host")
    parameters = tuple(_parameters(record))
    route = "".join(f"/{{{one.name}}}" for one in parameters if one.location == "path")
    return ToolDoc(
        id=tool_id(host, host, name),
        category=host,
        toolset=host,
        api=name,
        function=name,
        method=(optional_text(record, "method") or "GET").upper(),
        url=_url(host, text(record, "endpoint"), route),
        description=optional_text(record, "description") or "",
        parameters=parameters,
        response_schema=_response(record),
        source="nestful",
    )


def _url(host: str, endpoint: str, route: str) -> str:
    """Build the URL of an endpoint. Path parameters are appended, unless the endpoint has placeholders for them."""
    route = "" if "{" in endpoint else route
    return f"https://{host}{endpoint.rstrip('/') if route else endpoint}{route}"


def _parameters(record: Record) -> Iterator[Parameter]:
    for key, location in _PLACES:
        for name, given in as_object(record.get(key) or {}, repr(key)).items():
            yield _parameter(name, as_object(given, f"the parameter {name!r}"), location)


def _parameter(name: str, given: Record, location: Location) -> Parameter:
    choices = next(
        (as_list(given[key], repr(key)) for key in _CHOICES if isinstance(given.get(key), list)), list[object]()
    )
    return Parameter(
        name=name,
        type=_type(given),
        description=str(given.get("description") or ""),
        required=given.get("required") is True or location == "path",
        default=cast(JsonValue, given.get("default")),
        example=cast(JsonValue, given.get("example")),
        enum=tuple(cast("list[JsonValue]", choices)),
        location=location,
    )


def _type(given: Record) -> JsonType:
    return _TYPES.get(str(given.get("type")).lower(), "string")


def _response(record: Record) -> str | None:
    """Build the JSON Schema of the response.

    The described fields lie at the path that ``output_parser`` names, such as ``result.data[0].{param}``.
    """
    fields = record.get("output_parameters")
    if not isinstance(fields, dict) or not fields:
        return None
    schema: Record = {"type": "object", "properties": _fields(cast(Record, fields))}
    place = (optional_text(record, "output_parser") or "").removesuffix(_FIELDS).rstrip(".")
    for name, index in reversed(_STEP.findall(place)[1:]):  # the first step is the response itself
        if index:
            schema = {"type": "array", "items": schema}
        elif name != "{}":
            schema = {"type": "object", "properties": {name: schema}}
    return orjson.dumps(schema).decode()


def _fields(given: Record) -> Record:
    return {name: _field(cast(Record, field)) for name, field in given.items() if isinstance(field, dict)}


def _field(given: Record) -> Record:
    """Build a field's schema: its type in lower case, its description, and its own fields or items."""
    schema: Record = {"type": _type(given)}
    if given.get("description"):
        schema["description"] = str(given["description"])
    if isinstance(inner := given.get("properties"), dict):
        schema["properties"] = _fields(cast(Record, inner))
    if isinstance(items := given.get("items"), dict):
        schema["items"] = _field(cast(Record, items))
    return schema
