"""Values that are put in the place of others: by which field, how they are read, what the server is told."""

import pytest
from pydantic import JsonValue

from domain.model import JsonObject
from ui.corrections import as_text, corrections, form_of, read, schema_of, unfit
from ui.replies import Fault

ACCEPTS: JsonObject = {
    "properties": {
        "title": {"type": "string"},
        "nights": {"type": "integer"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "day": {"anyOf": [{"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}, {"type": "null"}]},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "guests": {"type": "array"},
    },
    "required": ["title"],
}


@pytest.mark.parametrize(
    ("schema", "value", "form"),
    [
        ({"type": "string", "enum": ["a"]}, "a", "choice"),
        ({"type": "boolean"}, True, "choice"),
        ({"type": "integer"}, 3, "whole"),
        ({"type": "integer"}, 2**60, "text"),
        ({"type": "number"}, 3, "number"),
        ({"type": "number"}, 3.5, "number"),
        ({"type": "string"}, 3, "text"),
        ({"type": "string", "format": "date"}, "2026-07-23", "day"),
        ({"type": "string", "format": "date"}, "soon", "text"),
        ({"type": "string"}, "x" * 99, "lines"),
        ({"type": "object"}, {"a": 1}, "lines"),
        ({}, "x", "text"),
    ],
)
def test_a_value_has_the_field_of_its_kind(schema: JsonObject, value: JsonValue, form: str) -> None:
    assert form_of(schema, value) == form


@pytest.mark.parametrize(
    ("text", "name", "before", "value"),
    [
        ("Rice", "title", "Oil", "Rice"),
        ("", "title", "Oil", ""),
        ("", "note", "x", None),
        ("12", "note", "x", "12"),
        ("[1, 2]", "guests", [1], [1, 2]),
        ("[1, ", "guests", [1], "[1, "),
        ("12", "nights", 3, 12),
    ],
)
def test_what_is_typed_is_read_as_the_tool_takes_it(text: str, name: str, before: JsonValue, value: JsonValue) -> None:
    assert read(text, ACCEPTS, name, before) == value


def test_the_server_is_told_what_is_other_than_it_was_and_what_is_left_out() -> None:
    before: list[JsonObject] = [{"n": 1, "t": "a"}, {"n": 1, "t": "b"}, {"n": 1, "t": "c"}]
    given: list[JsonObject] = [{"n": 1.0, "t": "a"}, {"n": True, "t": "b"}, {"n": 5, "t": "c"}]
    assert corrections(before, given, frozenset({2})) == [
        {"call": 1, "arguments": {"n": True}},
        {"call": 2, "skip": True},
    ]
    assert corrections(before[:1], [{"n": 1, "t": None}]) == [{"call": 0, "arguments": {"t": None}}]


def test_null_as_an_alternative_is_no_kind() -> None:
    assert schema_of(ACCEPTS, "note") == {"type": "string"}
    assert schema_of(ACCEPTS, "day") == {"type": "string", "format": "date"}
    assert schema_of(ACCEPTS, "unknown") == {}
    assert as_text({"a": 1}) == '{\n  "a": 1\n}'


def test_what_does_not_fit_is_said_of_the_call_that_it_is_about() -> None:
    faults = [
        Fault(place="body.corrections.0.arguments.title", message="title must be longer."),
        Fault(place="body.corrections", message="no call is left: deny them instead"),
    ]
    made: list[JsonObject] = [{"call": 2, "arguments": {"title": ""}}]
    assert unfit(faults, made, several=True) == (
        "This does not fit: call 3: title must be longer. no call is left: deny them instead"
    )
    assert unfit(faults[:1], made, several=False) == "This does not fit: title must be longer."
