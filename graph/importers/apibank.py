"""Import of API-Bank: its table of APIs, and its dialogues with API calls.

The table's categories ("scenes") are Chinese and become the English names below; an unknown one is kept as it is. All
APIs form the tool set ``API-Bank`` and are called by their class names. A dialogue does not record how it ended.
Dialogues are published as one file each, ``lv1-lv2-samples/<level>/<name>.jsonl``, with one turn a line.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from domain.python_source import parse_assignments
from domain.tool import JsonType, Parameter, ToolDoc, make_tool_id
from domain.trajectory import RecordedOutcome, Trajectory, TrajectoryCall
from graph.importers.records import (
    Record,
    RecordError,
    SkippedInput,
    ensure_list,
    ensure_object,
    get_optional_text,
    require_text,
    to_json_text,
)

TOOLSET = "API-Bank"
_SCENES = {
    "账户管理": "Account_Management",
    "日程安排和管理": "Scheduling",
    "财务管理": "Finance",
    "信息查询和处理": "Information",
    "健康管理": "Health",
    "智能家居控制": "Smart_Home",
    "娱乐消遣": "Entertainment",
    "旅游出行": "Travel",
    "钉钉": "Office",
    "学习科研相关": "Education",
    "工作相关": "Jobs",
}
_EFFECTS = {"增": "POST", "删": "DELETE", "改": "PUT", "查": "GET"}
"""HTTP methods by the last character of an API's kind: add, delete, change or query.

A kind without such a character that has an outward effect counts as POST.
"""
_TYPES: dict[str, JsonType] = {
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "object": "object",
    "dict": "object",
    "list": "array",
}

_SIGNATURE = re.compile(r"(\w+): *(\w+)")


def read_tools(path: Path) -> Iterator[ToolDoc | SkippedInput]:
    """Read the APIs of ``all_apis.csv``."""
    csv.field_size_limit(1 << 24)  # the default allows 128 KiB a cell
    number = 1
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream)
            for row in rows:
                number = rows.line_num
                try:
                    yield _build_tool({key: value for key, value in row.items() if isinstance(key, str)})
                except RecordError as error:
                    yield SkippedInput(str(path), number, str(error))
    except (UnicodeDecodeError, csv.Error) as error:
        yield SkippedInput(str(path), number, f"no table of APIs in UTF-8 ({error})")
    except OSError as error:
        yield SkippedInput(str(path), None, f"cannot be read: {error.strerror}")


def _build_tool(row: Record) -> ToolDoc:
    """Build the tool document of a row. Raises ``RecordError``."""
    name, scene, kind = require_text(row, "类名"), require_text(row, "应用场景"), require_text(row, "类型")
    info = _read_literals(get_optional_text(row, "api_info") or "")
    category = _SCENES.get(scene, scene)
    return ToolDoc(
        id=make_tool_id(category, TOOLSET, name),
        category=category,
        toolset=TOOLSET,
        api=name,
        function=name,
        method=_EFFECTS.get(kind[-1], "POST" if kind.startswith("对外影响") else "GET"),
        description=str(info.get("description") or get_optional_text(row, "API名称") or ""),
        parameters=_parse_parameters(get_optional_text(row, "input_parameters") or "", info.get("input_parameters")),
        response_schema=_build_response_schema(info.get("output_parameters")),
        source="apibank",
    )


def _read_literals(source: str) -> Record:
    """Return the literals that a snippet of Python assigns to names, without running it.

    A snippet that cannot be parsed gives nothing: for one API of the table it is only a full stop.
    """
    try:
        return parse_assignments(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}


def _parse_parameters(signature: str, descriptions: object) -> tuple[Parameter, ...]:
    """Parse names and types from a signature such as ``(token: str, time: datetime)``.

    Descriptions come from a mapping by parameter name, where the API has one.
    """
    details = cast(Record, descriptions) if isinstance(descriptions, dict) else {}
    return tuple(
        Parameter(
            name=name,
            type=_TYPES.get(kind.lower(), "string"),
            description=_read_description(details.get(name)),
            required=True,
            format="date-time" if kind == "datetime" else None,
            location="body",
        )
        for name, kind in _SIGNATURE.findall(signature)
    )


def _build_response_schema(output_parameters: object) -> str | None:
    """Build the JSON Schema of a response from a mapping of fields to their types and descriptions."""
    if not isinstance(output_parameters, dict) or not output_parameters:
        return None
    fields = {
        str(name): cast(Record, one) for name, one in cast(Record, output_parameters).items() if isinstance(one, dict)
    }
    properties = {
        name: {"type": _TYPES.get(str(one.get("type")).lower(), "string"), "description": _read_description(one)}
        for name, one in fields.items()
    }
    return to_json_text({"type": "object", "properties": properties})


def _read_description(entry: object) -> str:
    return str(cast(Record, entry).get("description") or "") if isinstance(entry, dict) else ""


def parse_trajectory(record: Record) -> Trajectory:
    """Parse a dialogue. Its query is the first thing that the user says. Raises ``RecordError``."""
    turns = [ensure_object(turn, "a turn") for turn in ensure_list(record.get("turns"), "'turns'")]
    user_texts = (turn.get("text") for turn in turns if turn.get("role") == "User")
    calls = tuple(_parse_call(turn) for turn in turns if turn.get("role") == "API")
    return Trajectory(
        id=str(record.get("id") or ""),
        source="apibank",
        query=str(next(user_texts, "") or ""),
        finish="other",
        path=calls,
        attempts=calls,
    )


def _parse_call(turn: Record) -> TrajectoryCall:
    result = ensure_object(turn.get("result") or {}, "'result'")
    outcome = RecordedOutcome.UNKNOWN
    if "exception" in result:
        outcome = RecordedOutcome.OK if result["exception"] is None else RecordedOutcome.FAILED
    answer = result.get("exception") if outcome is RecordedOutcome.FAILED else result.get("output")
    return TrajectoryCall(
        function=require_text(turn, "api_name"),
        outcome=outcome,
        arguments=to_json_text(turn.get("param_dict")),
        observation=to_json_text(answer),
    )
