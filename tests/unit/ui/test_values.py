"""Values as people type them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from domain.model import JsonObject
from ui.values import choices_of, hint_of, kind_of, properties_of, required_of, shown, typed


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("7", {"type": "integer"}, 7),
        ("7", {"type": "string"}, "7"),
        ("7", {}, "7"),
        ("seven", {"type": "integer"}, "seven"),
        ("[1, 2]", {"type": ["null", "array"]}, [1, 2]),
        ('{"a": null}', {"type": "object"}, {"a": None}),
    ],
)
def test_typed(text: str, schema: JsonObject, value: JsonValue) -> None:
    assert typed(text, schema) == value


@given(st.text(), st.integers() | st.booleans() | st.lists(st.text()))
def test_what_is_shown_is_typed_again(text: str, value: JsonValue) -> None:
    assert typed(shown(text), {"type": "string"}) == text
    assert typed(shown(value), {"type": "array"}) == value


def test_few_values_are_chosen_from() -> None:
    assert choices_of({"enum": ["low", "high"]}) == ["low", "high"]
    assert choices_of({"type": "boolean"}) == [True, False]
    assert choices_of({"type": "string"}) == []


def test_strange_schemas_are_read_as_far_as_they_go() -> None:
    assert kind_of({"type": 7}) == kind_of({"type": ["null"]}) == "string"
    assert properties_of({"properties": {"a": {"type": "string"}, "b": 3}}) == {"a": {"type": "string"}}
    assert properties_of({}) == {}
    assert required_of({"required": ["a", 3]}) == {"a"}


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        ({"type": "string"}, ""),
        ({}, ""),
        ({"type": "integer"}, "a whole number"),
        ({"type": "integer", "minimum": 1, "maximum": 10}, "a whole number, 1 to 10"),
        ({"type": "number", "minimum": 0}, "a number"),
        ({"type": ["null", "array"]}, "a list as JSON"),
        ({"type": "object"}, "an object as JSON"),
        ({"type": "object", "properties": {"name": {}, "town": {}}}, 'as JSON: {"name": …, "town": …}'),
    ],
)
def test_what_is_expected_is_said_where_it_is_not_text(schema: JsonObject, hint: str) -> None:
    assert hint_of(schema) == hint
