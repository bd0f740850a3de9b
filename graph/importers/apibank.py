"""Import of API-Bank: its table of APIs and its dialogues with API calls.

The table's scenes (API-Bank's categories) are Chinese. They become the English names below; an unknown scene is kept as it is.
All APIs form the tool set ``API-Bank``. Functions are called by their class names. A dialogue does not record how it ended.
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from domain.python_source import parse_assignments
from domain.tool import JsonType, Parameter, ToolDoc, tool_id
from domain.trajectory import Call, Outcome, Trajectory
from graph.importers.records import Record, RecordError, Skipped, as_list, as_object, json_text, optional_text, text

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


def read_tools(path: Path) -> Iterator[ToolDoc | Skipped]:
    """Read the APIs of ``all_apis.csv``."""
    csv.field_size_limit(1 << 24)  # the default allows 128 KiB a cell
    number = 1
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream)
            for row in rows:
                number = rows.line_num
                try:
                    yield _tool({key: value for key, value in row.items() if isinstance(key, str)})
                except RecordError as error:
                    yield Skipped(str(path), number, str(error))
    except (UnicodeDecodeError, csv.Error) as error:
        yield Skipped(str(path), number, f"no table of APIs in UTF-8 ({error})")
    except OSError as error:
        yield Skipped(str(path), None, f"cannot be read: {error.strerror}")


def _tool(row: Record) -> ToolDoc:
    """Build the tool document of a row. Raises ``RecordError``."""
    name, scene, kind = text(row, "类名"), text(row, "应用场景"), text(row, "类型")
    info = _assignments(optional_text(row, "api_info") or "")
    category = _SCENES.get(scene, scene)
    return ToolDoc(
        id=tool_id(category, TOOLSET, name),
        category=category,
        toolset=TOOLSET,
        api=name,
        function=name,
        method=_EFFECTS.get(kind[-1], "POST" if kind.startswith("对外影响") else "GET"),
        description=str(info.get("description") or optional_text(row, "API名称") or ""),
        parameters=_parameters(optional_text(row, "input_parameters") or "", info.get("input_parameters")),
        response_schema=_response_schema(info.get("output_parameters")),
        source="apibank",
    )


def _assignments(source: str) -> Record:
    """Return the literals that a snippet of Python assigns to names, without running it.

    A snippet that cannot be parsed gives nothing: for one API of the table it is only a full stop.
    """
    try:
        return parse_assignments(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}


def _parameters(signature: str, described: object) -> tuple[Parameter, ...]:
    """Parse names and types from a signature such as ``(token: str, time: datetime)``.

    Descriptions come from a mapping by parameter name, where the API has one.
    """
    about = cast(Record, described) if isinstance(described, dict) else {}
    return tuple(
        Parameter(
            name=name,
            type=_TYPES.get(kind.lower(), "string"),
            description=_description(about.get(name)),
            required=True,
            format="date-time" if kind == "datetime" else None,
            location="body",
        )
        for name, kind in _SIGNATURE.findall(signature)
    )


def _response_schema(described: object) -> str | None:
    """Build the JSON Schema of a response from a mapping of fields to their types and descriptions."""
    if not isinstance(described, dict) or not described:
        return None
    fields = {str(name): cast(Record, one) for name, one in cast(Record, described).items() if isinstance(one, dict)}
    properties = {
        name: {"type": _TYPES.get(str(one.get("type")).lower(), "string"), "description": _description(one)}
        for name, one in fields.items()
    }
    return json_text({"type": "object", "properties": properties})


def _description(entry: object) -> str:
    return str(cast(Record, entry).get("description") or "") if isinstance(entry, dict) else ""


def trajectory(record: Record) -> Trajectory:
    """Parse a dialogue. Its query is the first thing that the user says. Raises ``RecordError``."""
    turns = [as_object(turn, "a turn") for turn in as_list(record.get("turns"), "'turns'")]
    said = (turn.get("text") for turn in turns if turn.get("role") == "User")
    calls = tuple(_call(turn) for turn in turns if turn.get("role") == "API")
    return Trajectory(
        id=str(record.get("id") or ""),
        source="apibank",
        query=str(next(said, "") or ""),
        finish="other",
        path=calls,
        attempts=calls,
    )


def _call(turn: Record) -> Call:
    result = as_object(turn.get("result") or {}, "'result'")
    outcome = Outcome.UNKNOWN
    if "exception" in result:
        outcome = Outcome.OK if result["exception"] is None else Outcome.FAILED
    answer = result.get("exception") if outcome is Outcome.FAILED else result.get("output")
    return Call(
        function=text(turn, "api_name"),
        outcome=outcome,
        arguments=json_text(turn.get("param_dict")),
        observation=json_text(answer),
    )
