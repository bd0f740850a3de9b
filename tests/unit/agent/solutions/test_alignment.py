"""Requests over patterns: what stands where the inputs are, and what of it is plain."""

import pytest
from pydantic.types import JsonValue

from agent.solutions.patterns import RequestValue, align_request, count_fixed_words
from agent.solutions.plain_values import SHAPE_KEYWORD, describe_shape, read_plain_value
from domain.model import JsonObject

ANY: JsonObject = {"type": "string"}


@pytest.mark.parametrize(
    ("request_text", "pattern", "said"),
    [
        ("how many people live in Oslo", "How many people live in {city}?", {"city": "Oslo"}),
        ("Convert 250 EUR to USD.", "Convert {sum} {have} to {want}.", {"sum": "250", "have": "EUR", "want": "USD"}),
        ("王伟的同事有哪些？", "{name}的同事有哪些?", {"name": "王伟"}),
        ("Tell me the age of Anna Brennick.", "{What is|Tell me} the age of {name}?", {"name": "Anna Brennick"}),
        ("the age of Anna?", "{What is|Tell me|} the age of {name}?", {"name": "Anna"}),
        ("What is -5 squared?", "What is {n} squared?", {"n": "-5"}),
        ('How long is "What? Now!"?', 'How long is "{title}"?', {"title": "What? Now!"}),
        ("How long is “Dune”, in pages?", 'How long is "{title}", in pages?', {"title": "Dune"}),
        ("Which is the largest country?", "Which is the largest country?", {}),
    ],
)  # fmt: skip
def test_what_stands_in_the_places_of_inputs(request_text: str, pattern: str, said: dict[str, str]) -> None:
    found = align_request(request_text, pattern)
    assert found is not None
    assert {name: one.text for name, one in found.items()} == said


@pytest.mark.parametrize(
    ("request_text", "pattern"),
    [
        ("Convert 1 000 EUR to USD.", "Convert {sum} {have} to {want}."),  # where does the sum end?
        ("Which papers does Anna cite?", "Which papers cite {name}?"),
        ("How many people do not live in Oslo?", "How many people live in {city}?"),
        ("Which firms are polish: Kestrelon?", "Which firms are Polish: {name}?"),
        ('How long is "Dune" and "Emma"?', 'How long is "{title}"?'),
        ("What is 20 % of 50?", "What is {part} $ of {whole}?"),
        ("What is C?", "What is C++?"),
        ("x" * 700, "{x}"),
    ],
)
def test_what_differs_in_anything_is_something_else(request_text: str, pattern: str) -> None:
    assert align_request(request_text, pattern) is None


def seen(value: str, *, quoted: bool = False) -> JsonObject:
    return {"type": "string", SHAPE_KEYWORD: describe_shape(value, quoted=quoted)}


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("Al Safira", ANY, "Al Safira"),
        ("Oslo in 1990", ANY, None),
        ("Oslo and Rome", ANY, None),
        ("Oslo, Rome", ANY, None),
        ("Anna's Boss", ANY, None),
        ("oslo", ANY, None),
        ("王伟在清华", ANY, None),
        ("2025", ANY, None),
        ("LH123", ANY, "LH123"),
        ("USD", seen("EUR"), "USD"),
        ("euros", seen("EUR"), None),
        ("Euro", seen("EUR"), None),
        ("2001-03-09", seen("2020-01-31"), "2001-03-09"),
        ("9/3/2001", seen("2020-01-31"), None),
        ("tomorrow", seen("2020-01-31"), None),
        ("2001-03-09", {"type": "string", "format": "date"}, "2001-03-09"),
        ("2001-02-31", {"type": "string", "format": "date"}, None),
        ("5", {"type": "integer"}, 5),
        ("1,000", {"type": "integer"}, None),
        ("5.5", {"type": "integer"}, None),
        ("5.5", {"type": "number"}, 5.5),
        ("250k", {"type": "number"}, None),
        ("1.500", {"type": "number"}, None),
        ("0.125", {"type": "number"}, 0.125),
        ("1500.125", {"type": "number"}, 1500.125),
        ("full time", {"type": "string", "enum": ["full_time", "part_time"]}, "full_time"),
        ("any time", {"type": "string", "enum": ["full_time", "part_time"]}, None),
        ("yes", {"type": "boolean"}, None),
        ("Oslo", {"type": "array", "items": {"type": "string"}}, None),
        ("Oslo", {}, None),
    ],
)  # fmt: skip
def test_a_value_is_plain_where_whoever_reads_it_has_it(text: str, schema: JsonObject, value: JsonValue) -> None:
    assert read_plain_value(RequestValue(text), schema) == value


def test_what_begins_a_sentence_owes_its_capital_to_that_and_quotation_marks_make_a_value() -> None:
    assert read_plain_value(RequestValue("Tomorrow", opens_sentence=True), ANY) is None
    assert read_plain_value(RequestValue("war and peace", quoted=True), ANY) == "war and peace"
    assert read_plain_value(RequestValue("9 March", quoted=True), seen("2020-01-31")) is None


def test_a_pattern_that_hardly_says_anything_is_told_by_its_words() -> None:
    assert count_fixed_words("{|Please} {name}") == 0
    assert count_fixed_words("{What is|Tell me} the age of {name}?") == 5
