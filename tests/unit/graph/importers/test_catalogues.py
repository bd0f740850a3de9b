"""Tool documents from the official folder, from JSONL and from API-Bank's table."""

from pathlib import Path

import orjson
import pytest

from domain.tool import ToolDoc, make_tool_id
from domain.trajectory import RecordedOutcome
from graph.importers import apibank, jsonl, toolbench
from graph.importers.records import Record, RecordError, SkippedInput

API = {
    "name": "Get by Id",
    "url": "https://x.invalid/{id}",
    "method": "post",
    "required_parameters": [{"name": "id", "type": "NUMBER", "default": 7}, {"name": "q", "default": ""}],
    "optional_parameters": [{"name": "id", "type": "STRING"}],
    "schema": {"type": "object"},
    "body": "text",
}


def folder(root: Path, content: bytes) -> Path:
    file = root / "toolenv" / "tools" / "Data" / "my_set.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return file


def test_the_official_folder_is_found_from_every_height(tmp_path: Path) -> None:
    file = folder(tmp_path, orjson.dumps({"tool_name": "My Set", "tool_description": "d", "api_list": [API]}))
    for path in (tmp_path, tmp_path / "toolenv", tmp_path / "toolenv" / "tools", file):
        (tool,) = toolbench.read_tools(path)
        assert isinstance(tool, ToolDoc)
        assert (tool.id, tool.function) == (make_tool_id("Data", "My Set", "Get by Id"), "get_by_id_for_my_set")
        assert (tool.method, tool.toolset_description, tool.example_response) == ("POST", "d", "text")
        assert [(p.name, p.type, p.required, p.default, p.location) for p in tool.parameters] == [
            ("id", "number", True, 7, "path"),
            ("q", "string", True, None, "body"),
        ]


def test_a_broken_api_skips_that_api_alone(tmp_path: Path) -> None:
    file = folder(tmp_path, orjson.dumps({"tool_name": "My Set", "api_list": [{"name": 3}, API, "x"]}))
    first, tool, last = toolbench.read_tools(tmp_path)
    assert isinstance(tool, ToolDoc)
    assert str(first) == f"{file}: API 1 of 3: 'name' must be a text that is not empty, not a number"
    assert str(last) == f"{file}: API 3 of 3: the API must be an object, not a text"


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff"])
def test_a_broken_file_is_named(tmp_path: Path, content: bytes) -> None:
    file = folder(tmp_path, content)
    (skipped,) = toolbench.read_tools(tmp_path)
    assert isinstance(skipped, SkippedInput)
    assert skipped.file == str(file)


def test_an_empty_folder_is_named(tmp_path: Path) -> None:
    (skipped,) = toolbench.read_tools(tmp_path)
    assert "an empty folder" in str(skipped)


WRONG: list[Record] = [
    {"category": ""},
    {"tool_name": None},
    {"url": 3},
    {"required_parameters": {}},
    {"required_parameters": [{}]},
]


@pytest.mark.parametrize("change", WRONG)
def test_a_line_of_wrong_types(change: Record) -> None:
    line: Record = {"category": "C", "tool_name": "T", "api_name": "a", "function": "f"}
    assert jsonl.parse_tool(line).id == make_tool_id("C", "T", "a")
    with pytest.raises(RecordError):
        jsonl.parse_tool({**line, **change})


@pytest.mark.parametrize(
    "line",
    [
        {"calls": {}},
        {"calls": [3]},
        {"calls": [{"function": ""}]},
        {"calls": [{"function": "f", "ok": "yes"}]},
        {"finish": "perhaps"},
        {"finish": []},
        {"query": 3},
    ],
)
def test_a_trajectory_of_wrong_types(line: Record) -> None:
    with pytest.raises(RecordError):
        jsonl.parse_trajectory(line, "s")


def test_a_trajectory_without_calls_or_ending_is_no_broken_one() -> None:
    found = jsonl.parse_trajectory({}, "s")
    assert (found.finish, found.path, found.source) == ("other", (), "s")


@pytest.mark.parametrize("line", [{}, {"kind": "odd"}, {"kind": "ok", "category": "C", "tool_name": "t"}])
def test_a_recorded_call_of_wrong_types(line: Record) -> None:
    with pytest.raises(RecordError):
        jsonl.parse_recorded_call(line)


CSV = (
    "id,类型,应用场景,API名称,类名,input_parameters,api_info\n"
    '1,对外影响 - 数据库操作 - 增,旅游出行,订,BookHotel,"(hotel: str, day: datetime, rooms: List[int])",'
    "\"description = 'Books.'\ninput_parameters = {'hotel': {'type': 'str', 'description': 'Its name.'}}\"\n"
    "2,获取信息 - 工具,新,今,GetToday,None,.\n"
    "3,获取信息,新,,,None,.\n"
)


def test_api_bank(tmp_path: Path) -> None:
    table = tmp_path / "all_apis.csv"
    table.write_text(CSV, encoding="utf-8-sig")
    book, today, broken = apibank.read_tools(table)
    assert isinstance(book, ToolDoc)
    assert isinstance(today, ToolDoc)
    assert (book.id, book.method, book.description) == (
        make_tool_id("Travel", "API-Bank", "BookHotel"),
        "POST",
        "Books.",
    )
    assert [(p.name, p.type, p.format, p.description) for p in book.parameters] == [
        ("hotel", "string", None, "Its name."),
        ("day", "string", "date-time", ""),
        ("rooms", "array", None, ""),
    ]
    assert (today.category, today.method, today.parameters, today.description) == ("新", "GET", (), "今")
    assert isinstance(broken, SkippedInput)
    assert broken.line == 5


def test_api_bank_never_runs_what_it_reads(tmp_path: Path) -> None:
    table = tmp_path / "all_apis.csv"
    marker = tmp_path / "ran"
    code = f"description = open('{marker}', 'w').write('x')"
    table.write_text(f'类型,应用场景,类名,api_info\n查,x,A,"{code}"\n', encoding="utf-8")
    (tool,) = apibank.read_tools(table)
    assert isinstance(tool, ToolDoc)
    assert not marker.exists()


def test_a_table_in_another_encoding_is_named(tmp_path: Path) -> None:
    table = tmp_path / "all_apis.csv"
    table.write_bytes("类型\n查\n".encode("gb18030"))
    (skipped,) = apibank.read_tools(table)
    assert "UTF-8" in str(skipped)


def test_a_dialogue() -> None:
    turns: list[Record] = [
        {"role": "User", "text": "Hello"},
        {"role": "API", "api_name": "A", "param_dict": {"x": 1}, "result": {"exception": None}},
        {"role": "API", "api_name": "B", "result": {"exception": "no"}},
        {"role": "API", "api_name": "C", "result": {}},
    ]
    found = apibank.parse_trajectory({"id": "d", "turns": turns})
    assert (found.query, found.finish) == ("Hello", "other")
    assert [call.outcome for call in found.path] == [
        RecordedOutcome.OK,
        RecordedOutcome.FAILED,
        RecordedOutcome.UNKNOWN,
    ]
    assert found.path[0].arguments == '{"x":1}'
