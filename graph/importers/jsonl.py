"""Import of the JSONL form: one tool, trajectory or recorded call a line (see ``data/README`` of the public data)."""

from typing import cast

from pydantic.types import JsonValue

from domain.side_effect import Said
from domain.tool import JsonType, Location, Parameter, ToolDoc, tool_id
from domain.trajectory import Call, Finish, RecordedCall, Trajectory
from graph.importers.records import Record, RecordError, as_list, as_object, json_text, optional_text, text
from graph.importers.side_effects import of_hints, said_of
from graph.outcomes import of_flag, of_recorded

_TYPES: dict[str, JsonType] = {
    "NUMBER": "number",
    "FLOAT": "number",
    "INTEGER": "integer",
    "INT": "integer",
    "BOOLEAN": "boolean",
    "BOOL": "boolean",
    "ARRAY": "array",
    "LIST": "array",
    "OBJECT": "object",
    "MAP": "object",
    "JSON": "object",
}
"""RapidAPI's types. All others (STRING, ENUM, DATE, FILE, …) are sent as text."""

_ENDINGS: dict[object, Finish] = {
    "give_answer": "give_answer",
    "give_up": "give_up",
    "none": "none",
    "other": "other",
    None: "other",
}


def tool(record: Record) -> ToolDoc:
    """Parse a line of tools. Raises ``RecordError``."""
    category, toolset, api = text(record, "category"), text(record, "tool_name"), text(record, "api_name")
    method, url = (optional_text(record, "method") or "GET").upper(), optional_text(record, "url") or ""
    return ToolDoc(
        id=tool_id(category, toolset, api),
        category=category,
        toolset=toolset,
        api=api,
        function=text(record, "function"),
        method=method,
        url=url,
        description=optional_text(record, "description") or "",
        toolset_description=optional_text(record, "toolset_description") or "",
        parameters=parameters(record, method, url),
        example_response=json_text(record.get("example_response")),
        response_schema=json_text(record.get("response_schema")),
        source=optional_text(record, "source") or "jsonl",
        side_effect=side_effect(record),
    )


def side_effect(record: Record) -> Said:
    """Return the side effect that a record declares by ``side_effect`` or by MCP's ``annotations``. Raises ``RecordError``."""
    hints = record.get("annotations")
    read_only = of_hints(cast(Record, hints)) if isinstance(hints, dict) else None
    return said_of("side_effect", record.get("side_effect"), read_only)


def parameters(record: Record, method: str, url: str) -> tuple[Parameter, ...]:
    """Parse RapidAPI's ``required_parameters`` and ``optional_parameters``. Of parameters with one name the first is used."""
    found: dict[str, Parameter] = {}
    for key, required in (("required_parameters", True), ("optional_parameters", False)):
        for item in as_list(record.get(key), repr(key)):
            entry = as_object(item, f"an entry of {key!r}")
            name = text(entry, "name")
            if name not in found:
                found[name] = _parameter(name, entry, required, _location(name, method, url))
    return tuple(found.values())


def _parameter(name: str, entry: Record, required: bool, location: Location) -> Parameter:
    default = cast(JsonValue, entry.get("default"))
    return Parameter(
        name=name,
        type=_TYPES.get(str(entry.get("type")).upper(), "string"),
        description=str(entry.get("description") or ""),
        required=required,
        default=None if default == "" else default,
        location=location,
    )


def _location(name: str, method: str, url: str) -> Location:
    if f"{{{name}}}" in url:
        return "path"
    return "body" if method in ("POST", "PUT", "PATCH") else "query"


def trajectory(record: Record, source: str) -> Trajectory:
    """Parse a line of trajectories. This form has no branches, so every call is on the path. Raises ``RecordError``."""
    calls = tuple(_call(item) for item in as_list(record.get("calls"), "'calls'"))
    ending = record.get("finish")
    if not isinstance(ending, str | None) or ending not in _ENDINGS:
        raise RecordError(f"'finish' must be give_answer, give_up, none, other or null, not {str(ending)[:40]!r}")
    return Trajectory(
        id=str(record.get("id") or ""),
        source=optional_text(record, "source") or source,
        query=optional_text(record, "query") or "",
        finish=_ENDINGS[ending],
        path=calls,
        attempts=calls,
    )


def _call(item: object) -> Call:
    record = as_object(item, "a call")
    ok = record.get("ok")
    if not isinstance(ok, bool | None):
        raise RecordError("'ok' of a call must be true, false or null")
    return Call(
        function=text(record, "function"),
        outcome=of_flag(ok),
        category=optional_text(record, "category"),
        toolset=optional_text(record, "tool_name"),
        arguments=json_text(record.get("arguments")),
        observation=json_text(record.get("observation")),
    )


def recorded_call(record: Record) -> RecordedCall:
    """Parse a line of recorded calls. Raises ``RecordError``."""
    kind, response = text(record, "kind"), optional_text(record, "response") or ""
    if kind not in ("ok", "empty", "soft_error", "error"):
        raise RecordError(f"'kind' must be ok, empty, soft_error or error, not {kind[:40]!r}")
    error = optional_text(record, "error") or ""
    return RecordedCall(
        category=text(record, "category"),
        toolset=text(record, "tool_name"),
        function=text(record, "api_name"),
        arguments=json_text(record.get("arguments")) or "{}",
        response=response or error,
        outcome=of_recorded(kind, error, response),
    )
