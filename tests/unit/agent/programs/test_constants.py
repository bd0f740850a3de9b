"""Constants of a text: which of them stand where a value of the request could, and what a value is made of."""

import pytest
from pydantic.types import JsonValue

from agent.programs.analysis.constants import LiftableValueFinder, find_fixed_values, find_value_parts
from domain.source_text import parse_source


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('await book(seats=2, name="Bo")', [(2, "argument", "seats"), ("Bo", "argument", "name")]),
        ('await book(name=f"{x} at Aare-2")', [("at", "argument", "name"), ("Aare-2", "argument", "name")]),
        ('name = "Bo"', [("Bo", "held", "")]),
        ('if one["age"] > 30: pass', [(30, "compared", ""), ("age", "picked by", "")]),
        ('x.startswith("Aa")', [("Aa", "compared", "")]),
        ("for one in [1, 2]: pass", [(1, "gone over", ""), (2, "gone over", "")]),
        ("x[-3]", [(-3, "picked by", "")]),
        ('say("Bo")', []),
    ],
)
def test_a_constant_is_told_with_what_the_text_does_with_it(
    text: str, expected: list[tuple[JsonValue, str, str]]
) -> None:
    found = find_fixed_values(parse_source(text), {"book"})
    assert [(one.value, one.role, one.parameter) for one in found] == expected


def test_what_an_f_string_says_counts_where_its_name_goes_into_a_call() -> None:
    sent = find_fixed_values(parse_source('a = f"{x} in Bern"\nawait book(name=a)'), {"book"})
    kept = find_fixed_values(parse_source('a = f"{x} in Bern"\nawait book(name=b)'), {"book"})
    assert [(one.value, one.composed) for one in sent] == [("in", True), ("Bern", True)]
    assert list(kept) == []


@pytest.mark.parametrize(
    ("text", "value", "name"),
    [
        ('await book(name="Bo")', "Bo", "name"),
        ('who = "Bo"\nawait book(name=who)', "Bo", "who"),
        ('for one in ["Bo", "Al"]: pass', ["Bo", "Al"], "one_list"),
        ('if one.get("name") == "Bo": pass', "Bo", "name"),
        ('if str(one["name"]).lower() == "Bo": pass', "Bo", "name"),
        ("async def f(a, most=7): pass", 7, "most"),
        ("found[:7]", 7, "number"),
    ],
)
def test_a_value_is_called_by_what_it_stands_beside(text: str, value: JsonValue, name: str) -> None:
    [found] = LiftableValueFinder(parse_source(text), {"book"}).find_values(lambda one: one.value == value)
    assert (found.value, found.name) == (value, name)


def test_keys_and_questions_are_no_values() -> None:
    text = 'x["Bo"]; x.get("Bo"); await ask("Bo"); {"answered": "Bo"}; f"{x} Bo"'
    assert LiftableValueFinder(parse_source(text), {"book"}).find_values(lambda one: one.value == "Bo") == []


def test_of_a_list_that_is_not_taken_what_stands_in_it_is_asked_for() -> None:
    values = LiftableValueFinder(parse_source('await book(names=["Bo", "Al"])'), {"book"})
    assert [one.value for one in values.find_values(lambda one: isinstance(one.value, list))] == [["Bo", "Al"]]
    assert [(one.value, one.function) for one in values.find_values(lambda one: one.value == "Al")] == [("Al", "book")]


def test_a_statement_that_only_names_a_value_is_told_by_its_lines() -> None:
    text = 'who = "Bo"\nx = 1; most = "Al"'
    found = LiftableValueFinder(parse_source(text), set()).find_values(lambda one: isinstance(one.value, str))
    assert [one.own_lines for one in found] == [(0, len('who = "Bo"\n')), None]


def test_texts_for_people_are_those_that_no_tool_takes_and_nothing_is_compared_with() -> None:
    text = 'await book(name="a"); x == "b"; x["c"]; y = "d"; f"e {x}"'
    spans = LiftableValueFinder(parse_source(text), {"book"}).find_texts()
    assert [text[start:end] for start, end in sorted(spans)] == ['"d"', 'f"e {x}"']


def test_a_value_is_made_of_names_and_constants_behind_its_names_and_not_of_answers() -> None:
    source = parse_source('key = "s-1" + tail\nid = found["id"]\nx = await search(a="b")\nawait book(key=key, x=x)')
    [key, x] = source.calls[-1].arguments
    assert {one.name or one.value for one in find_value_parts(key.value, source)} == {"key", "s-1", "tail"}
    assert {one.name or one.value for one in find_value_parts(x.value, source)} == {"x"}
