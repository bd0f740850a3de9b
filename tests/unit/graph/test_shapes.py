"""The structure of values: from schemas, from names of types, from values; merged; written as a schema and read again."""

from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.types import JsonValue

from domain.tool import ToolDoc, make_tool_id
from graph.shapes import (
    UNKNOWN,
    JsonShape,
    infer_response_shape,
    infer_shape,
    infer_shape_from_type_names,
    merge_shapes,
    read_schema_shape,
    to_schema,
)

NAMES = st.text(max_size=5)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
TEXT = JsonShape(frozenset({"string"}))


def doc(**told: str) -> ToolDoc:
    return ToolDoc(id=make_tool_id("c", "t", "a"), category="c", toolset="t", api="a", function="a", **told)  # pyright: ignore[reportArgumentType]


def test_a_list_is_what_its_items_are_together() -> None:
    found = infer_shape([{"id": 1, "name": "x"}, {"id": 2.5, "tags": []}, {"id": None}])
    assert found.items is not None
    assert found.items.fields["id"] == JsonShape(frozenset({"number", "null"}))
    assert list(found.items.fields) == ["id", "name", "tags"]
    assert found.items.required == {"id"}


@pytest.mark.parametrize(
    ("schema", "kinds"),
    [
        ({"type": "string"}, {"string"}),
        ({"type": ["string", "null"]}, {"string", "null"}),
        ({"type": "integer", "nullable": True}, {"integer", "null"}),
        ({"enum": ["a", None]}, {"string", "null"}),
        ({"const": 3}, {"integer"}),
        ({"properties": {}}, {"object"}),
        ({"items": {}}, {"array"}),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, {"number"}),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, {"string", "null"}),
        ({"allOf": [{"type": "object"}, {"nullable": True}]}, {"object"}),
        ({"type": "file"}, {"string"}),
        ({"type": 7, "enum": "x", "required": {}, "properties": []}, set[str]()),
        (True, set[str]()),
    ],
)
def test_the_types_of_a_schema(schema: Any, kinds: set[str]) -> None:
    assert read_schema_shape(schema).kinds == kinds


def test_parts_of_a_schema_come_together_and_references_are_followed_once() -> None:
    found = read_schema_shape(
        {
            "$defs": {"node": {"type": "object", "properties": {"id": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}}},
            "allOf": [{"$ref": "#/$defs/node"}, {"type": "object", "required": ["x"], "properties": {"x": {"type": "number"}}}],
        }
    )  # fmt: skip
    assert list(found.fields) == ["id", "next", "x"]
    assert found.fields["next"] == UNKNOWN
    assert found.required == {"x"}


def test_an_object_that_maps_its_names_to_something() -> None:
    assert read_schema_shape({"additionalProperties": {"type": "string"}}) == JsonShape(
        frozenset({"object"}), values=TEXT
    )


def test_a_response_with_names_of_types_for_its_values() -> None:
    found = infer_shape_from_type_names(
        {"code": "int", "rows": [{"name": "str", "note": "a text of some kind"}], "at": 1.5}
    )
    assert found.fields["code"] == JsonShape(frozenset({"integer"}))
    assert found.fields["at"] == JsonShape(frozenset({"number"}))
    assert found.fields["rows"].items == JsonShape(
        frozenset({"object"}), {"name": TEXT, "note": TEXT}, required=frozenset({"name", "note"})
    )


def test_a_schema_without_any_structure_leaves_it_to_the_example() -> None:
    assert list(
        infer_response_shape(doc(response_schema='{"type": "object"}', example_response='{"id": 1}')).fields
    ) == ["id"]
    assert infer_response_shape(doc(response_schema='{"type": "string"}', example_response="")) == TEXT
    assert infer_response_shape(doc(response_schema="{", example_response="none")) == UNKNOWN
    assert list(
        infer_response_shape(doc(example_response='{"id": 1}', learnt_response='{"properties": {"x": {}}}')).fields
    ) == ["x"]


def test_an_example_tells_what_a_schema_leaves_out() -> None:
    schema = '{"type": "object", "properties": {"id": {"type": "string"}, "tags": {"type": "array"}, "at": {}, "n": {"type": "integer"}}}'
    example = '{"id": 7, "tags": ["x"], "at": {"lat": 1.5}, "n": null, "more": true}'
    found = infer_response_shape(doc(response_schema=schema, example_response=example))
    assert found == JsonShape(
        frozenset({"object"}),
        {
            "id": TEXT,
            "tags": JsonShape(frozenset({"array"}), items=TEXT),
            "at": infer_shape({"lat": 1.5}),
            "n": JsonShape(frozenset({"integer"})),
            "more": JsonShape(frozenset({"boolean"})),
        },
    )


@given(VALUES)
def test_what_is_written_as_a_schema_is_read_again(value: JsonValue) -> None:
    found = infer_shape(value)
    assert read_schema_shape(to_schema(found)) == found


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_merging_takes_in_all_and_the_same_again_adds_nothing(values: list[JsonValue]) -> None:
    shapes = [infer_shape(value) for value in values]
    together = reduce(merge_shapes, shapes)
    for shape in shapes:
        assert shape.kinds - {"integer"} <= together.kinds
        assert merge_shapes(together, shape) == together
