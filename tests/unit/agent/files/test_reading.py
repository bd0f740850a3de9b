"""Files as programs find them: told by their content, bounded, and refused with a place where they are broken."""

import pytest
from pydantic.types import JsonValue

from agent.files.file_parsing import FileLimits, read_file
from domain.errors import UsageError
from domain.given_file import GivenFile

LIMITS = FileLimits(max_bytes=2_000, max_rows=5)


def read(name: str, content: str | bytes, *taken: str) -> GivenFile:
    data = content.encode() if isinstance(content, str) else content
    return read_file(name, data, LIMITS, taken)


@pytest.mark.parametrize(
    ("name", "content", "kind", "value"),
    [
        ("a.csv", "id,name\n1,Ann\n2,\n", "table", [{"id": 1, "name": "Ann"}, {"id": 2, "name": ""}]),
        ("a.txt", 'n;price\n"a;b";2.5\nc;\n', "table", [{"n": "a;b", "price": 2.5}, {"n": "c", "price": None}]),
        ("a.csv", "city\nOslo\nRome\n", "table", [{"city": "Oslo"}, {"city": "Rome"}]),
        (
            "a.csv",
            "phone,ok\n0475,true\n0151,false\n",
            "table",
            [{"phone": "0475", "ok": True}, {"phone": "0151", "ok": False}],
        ),
        ("a.csv", "1,2\n3,4\n", "table", [{"column_1": 1, "column_2": 2}, {"column_1": 3, "column_2": 4}]),
        ("a.csv", "a,a,\n1,2,3\n", "table", [{"a": 1, "a_2": 2, "column_3": 3}]),
        ("a.csv", '[{"id": 1}]', "json", [{"id": 1}]),
        ("a.txt", '{"id": 1}\n{"id": 2}\n', "json", [{"id": 1}, {"id": 2}]),
        ("a.txt", "Dear Ann,\nplease, look, at this.\n", "text", "Dear Ann,\nplease, look, at this.\n"),
        ("a.txt", "{not json", "text", "{not json"),
        ("a.csv", "\ufeffid,name\r\n1,Jürgen\r\n", "table", [{"id": 1, "name": "Jürgen"}]),
    ],
)
def test_the_content_says_what_a_file_is(name: str, content: str, kind: str, value: JsonValue) -> None:
    found = read(name, content)
    assert (found.kind, found.value) == (kind, value)


@pytest.mark.parametrize(
    ("text", "codec"),
    [("Name;Stadt\nJürgen;Köln\nÄnne;Zürich\n", "cp1252"), ("姓名,城市\n张三,北京\n李四,上海\n", "gbk")],
)
def test_what_is_no_utf_8_is_read_and_said_to_be_guessed(text: str, codec: str) -> None:
    found = read("a.csv", text.encode(codec))
    assert found.value == read("a.csv", text).value
    assert "read as" in found.note


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", "id,name\n1,a\n2,b,c\n", "line 3 has 3 values, and there are 2 columns"),
        ("a.csv", 'id,name\n1,a\n2,"b\n3,c\n', "begins in line 3"),
        ("a.csv", "id,name\n", "no rows"),
        ("a.csv", "id,name\n" + "1,a\n" * 6, "more than 5 rows"),
        ("a.json", '[{"id": 1},\n{"id" 2}]', "line 2, column 7"),
        ("a.jsonl", '{"id": 1}\n{"id": 2\n', "line 2"),
        ("a.json", "[" * 200 + "]" * 200, "nested"),
        ("a.csv", b"%PDF-1.7 ...", "a PDF"),
        ("a.csv", b"PK\x03\x04...", "as CSV"),
        ("a.csv", b"id\0name", "NUL"),
        ("a.txt", "", "empty"),
        ("a.txt", "x" * 2_001, "2,001 bytes"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(name: str, content: str | bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(name, content)


def test_a_variable_is_a_name_that_nothing_else_has() -> None:
    names = ["Orders 2024.csv", "../../etc/today.csv", "2024.csv", "class.csv", "earlier.csv"]
    assert [read(name, "a,b\n1,2\n", "orders_2024").variable for name in names] == [
        "orders_2024_2",
        "today_2",
        "file_2024",
        "class_",
        "earlier_2",
    ]
    assert read("../../etc/today.csv", "a,b\n1,2\n").name == "today.csv"
