"""Import of the JSONL form: one tool, trajectory or recorded call a line (see ``data/README`` of the public data)."""

from typing import cast

from pydantic.types import JsonValue

from domain.side_effect import DeclaredEffect
from domain.tool import JsonType, Location, Parameter, ToolDoc, make_tool_id
from domain.trajectory import RecordedCall, Trajectory, TrajectoryCall, TrajectoryEnd
from graph.importers.records import (
    Record,
    RecordError,
    ensure_list,
    ensure_object,
    get_optional_text,
    require_text,
    to_json_text,
)
from graph.importers.side_effects import infer_read_only, parse_side_effect
from graph.outcomes import classify_flag, classify_recorded

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

_ENDINGS: dict[object, TrajectoryEnd] = {
    "give_answer": "give_answer",
    "give_up": "give_up",
    "none": "none",
    "other": "other",
    None: "other",
}


def parse_tool(record: Record) -> ToolDoc:
    """Parse a line of tools. Raises ``RecordError``."""
    category, toolset, api = (
        require_text(record, "category"),
        require_text(record, "tool_name"),
        require_text(record, "api_name"),
    )
    method, url = (get_optional_text(record, "method") or "GET").upper(), get_optional_text(record, "url") or ""
    return ToolDoc(
        id=make_tool_id(category, toolset, api),
        category=category,
        toolset=toolset,
        api=api,
        function=require_text(record, "function"),
        method=method,
        url=url,
        description=get_optional_text(record, "description") or "",
        toolset_description=get_optional_text(record, "toolset_description") or "",
        parameters=parse_parameters(record, method, url),
        example_response=to_json_text(record.get("example_response")),
        response_schema=to_json_text(record.get("response_schema")),
        source=get_optional_text(record, "source") or "jsonl",
        side_effect=read_side_effect(record),
    )


def read_side_effect(record: Record) -> DeclaredEffect:
    """Return the side effect declared by ``side_effect`` or MCP's ``annotations``. Raises ``RecordError``."""
    hints = record.get("annotations")
    read_only = infer_read_only(cast(Record, hints)) if isinstance(hints, dict) else None
    return parse_side_effect("side_effect", record.get("side_effect"), read_only)


def parse_parameters(record: Record, method: str, url: str) -> tuple[Parameter, ...]:
    """Parse RapidAPI's ``required_parameters`` and ``optional_parameters``; of equal names the first is used."""
    by_name: dict[str, Parameter] = {}
    for key, required in (("required_parameters", True), ("optional_parameters", False)):
        for item in ensure_list(record.get(key), repr(key)):
            entry = ensure_object(item, f"an entry of {key!r}")
            name = require_text(entry, "name")
            if name not in by_name:
                by_name[name] = _parse_parameter(name, entry, required, _find_location(name, method, url))
    return tuple(by_name.values())


def _parse_parameter(name: str, entry: Record, required: bool, location: Location) -> Parameter:
    default = cast(JsonValue, entry.get("default"))
    return Parameter(
        name=name,
        type=_TYPES.get(str(entry.get("type")).upper(), "string"),
        description=str(entry.get("description") or ""),
        required=required,
        default=None if default == "" else default,
        location=location,
    )


def _find_location(name: str, method: str, url: str) -> Location:
    if f"{{{name}}}" in url:
        return "path"
    return "body" if method in ("POST", "PUT", "PATCH") else "query"


def parse_trajectory(record: Record, source: str) -> Trajectory:
    """Parse a line of trajectories. This form has no branches, so every call is on the path. Raises ``RecordError``."""
    calls = tuple(_parse_call(item) for item in ensure_list(record.get("calls"), "'calls'"))
    ending = record.get("finish")
    if not isinstance(ending, str | None) or ending not in _ENDINGS:
        raise RecordError(f"'finish' must be give_answer, give_up, none, other or null, not {str(ending)[:40]!r}")
    return Trajectory(
        id=str(record.get("id") or ""),
        source=get_optional_text(record, "source") or source,
        query=get_optional_text(record, "query") or "",
        finish=_ENDINGS[ending],
        path=calls,
        attempts=calls,
    )


def _parse_call(item: object) -> TrajectoryCall:
    record = ensure_object(item, "a call")
    ok = record.get("ok")
    if not isinstance(ok, bool | None):
        raise RecordError("'ok' of a call must be true, false or null")
    return TrajectoryCall(
        function=require_text(record, "function"),
        outcome=classify_flag(ok),
        category=get_optional_text(record, "category"),
        toolset=get_optional_text(record, "tool_name"),
        arguments=to_json_text(record.get("arguments")),
        observation=to_json_text(record.get("observation")),
    )


def parse_recorded_call(record: Record) -> RecordedCall:
    """Parse a line of recorded calls. Raises ``RecordError``."""
    kind, response = require_text(record, "kind"), get_optional_text(record, "response") or ""
    if kind not in ("ok", "empty", "soft_error", "error"):
        raise RecordError(f"'kind' must be ok, empty, soft_error or error, not {kind[:40]!r}")
    error = get_optional_text(record, "error") or ""
    return RecordedCall(
        category=require_text(record, "category"),
        toolset=require_text(record, "tool_name"),
        function=require_text(record, "api_name"),
        arguments=to_json_text(record.get("arguments")) or "{}",
        response=response or error,
        outcome=classify_recorded(kind, error, response),
    )
