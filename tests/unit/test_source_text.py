"""A text of Python as plain values: its calls, names, texts and statements, each with its place."""

import pytest

from domain.python_source import find_line_starts
from domain.source_text import SourceText, normalize_source, parse_source, parse_sources, try_parse_source

TEXT = """import json
found = await search(name="Bo", **more)
for one in found["people"]:
    if one["kind"] == "ä":
        seen = await asyncio.gather(get(id=one["id"]), get(id=2))
        break
print(f"{search(x)} of {json.dumps(found)}")
"""


def test_calls_stand_in_the_order_of_the_text_each_with_its_function() -> None:
    calls = parse_source(TEXT).calls
    assert [call.function for call in calls] == [
        "search", "asyncio.gather", "get", "get", "print", "search", "json.dumps",
    ]  # fmt: skip
    assert [call.name for call in calls] == ["search", "", "get", "get", "print", "search", ""]
    assert [(call.line, call.column) for call in calls[:2]] == [(2, 15), (5, 22)]


def test_a_call_has_its_place_in_bytes_and_its_arguments() -> None:
    text = 'ä = "ü"; x = await get(id=ä, **{"b": 1})'
    [call] = parse_source(text).calls
    assert text.encode()[call.start : call.end].decode() == 'get(id=ä, **{"b": 1})'
    assert call.column == text.index("get") + 1
    assert [(one.name, one.value.code, one.value.name) for one in call.arguments] == [
        ("id", "ä", "ä"),
        ("", "{'b': 1}", ""),
    ]
    assert text.encode()[call.arguments[0].start :].decode().startswith("id=")


def test_what_is_awaited_held_and_quoted_is_told() -> None:
    calls = parse_source(TEXT).calls
    assert [call.assigned_to for call in calls[:3]] == ["found", "seen", ""]
    assert [call.awaited_from is not None for call in calls[:3]] == [True, True, False]
    assert [call.in_f_string for call in calls] == [False, False, False, False, False, True, True]


def test_names_are_counted_where_they_are_read_and_where_they_are_set() -> None:
    source = parse_source(TEXT)
    assert source.read_counts["one"] == 2
    assert source.read_counts["found"] == 2
    assert dict(source.assignment_counts) == {"found": 1, "one": 1, "seen": 1}
    assert source.bound_names == {"json", "found", "one", "seen"}
    assert sorted(source.string_constants) == [" of ", "Bo", "id", "kind", "people", "ä"]


def test_what_a_text_leaves_behind_are_its_variables_functions_and_imports() -> None:
    text = "import os.path\ndef f(x):\n    y = x\nclass C: pass\nz = 1"
    assert parse_source(text).exported_names == {"os", "f", "y", "z"}


def test_statements_stand_before_those_within_them() -> None:
    source = parse_source(TEXT)
    assert [(one.kind, one.outermost) for one in source.statements] == [
        ("other", True), ("simple", True), ("loop", True), ("other", False), ("simple", False), ("leaving", False), ("simple", True),
    ]  # fmt: skip
    loop = source.statements[2]
    assert loop.assigned_names == ("one",)
    assert source.text.encode()[loop.body_start :].startswith(b"if one")
    assert (loop.line, loop.last_line) == (3, 6)


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        ("a, (b, *c) = x", ("a", "b", "c")),
        ("a[0].b = 1", ("a",)),
        ("a += 1", ("a",)),
        ("a: int", ()),
        ("a.append(b)", ("a",)),
        ("f(a)", ()),
    ],
)
def test_a_statement_tells_what_it_sets(text: str, sets: tuple[str, ...]) -> None:
    assert parse_source(text).statements[0].assigned_names == sets


def test_a_statement_that_only_calls_names_the_function() -> None:
    names = [one.sole_called_function for one in parse_source("look(x)\nawait f()\ny = f()\na.b()").statements]
    assert names == ["look", "f", "", ""]


def test_the_last_value_is_that_of_an_expression() -> None:
    assert (value := parse_source("a = 1\n{'answer': a}").last_value)
    assert value.code == "{'answer': a}"
    assert parse_source("a = 1").last_value is None
    assert parse_source("").last_value is None


def test_places_of_a_name_tell_those_in_f_strings() -> None:
    assert parse_source('n = 1\nf(n, f"{n}")').find_occurrences("n")[:2] == [(0, False), (8, False)]
    assert [quoted for _, quoted in parse_source('n = 1\nf(n, f"{n}")').find_occurrences("n")] == [False, False, True]


def test_equal_texts_share_one_tree_but_for_cells_of_one_program() -> None:
    assert parse_source("a = 1").tree is parse_source("a = 1").tree
    one, other, third = parse_sources(["a = 2", "a = 2", "b = 2"])
    assert one.tree is not other.tree
    assert third.tree is parse_source("b = 2").tree


def test_a_text_that_is_no_python_is_none() -> None:
    assert try_parse_source("a = ") is None
    assert try_parse_source("\0") is None
    with pytest.raises(SyntaxError):
        SourceText("a = ")


def test_the_size_of_a_tree_is_bounded_in_nodes_and_levels() -> None:
    source = parse_source("a = [1, 2, 3]")
    assert source.fits_within(20, 10)
    assert not source.fits_within(5, 10)
    assert not source.fits_within(20, 2)


def test_lines_end_as_the_parser_counts_them() -> None:
    assert find_line_starts("a\r\nb\rä\nc")[:4] == [0, 3, 5, 8]
    assert normalize_source("a=1 # one\n\n\nb  = 2") == "a = 1\nb = 2"
