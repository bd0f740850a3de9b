"""Arguments against whole schemas: lists, fields, alternatives, formats; and schemas that mean harm."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.types import JsonValue

from agent.execution.patterns import is_supported_pattern, matches_pattern
from agent.execution.validation import validate_arguments
from domain.errors import InvalidArgumentsError
from domain.tool import JsonType, Parameter, ToolDoc, make_tool_id
from graph.importers.openapi_nodes import to_mapping
from graph.json_schema import MAX_DEPTH, TYPES, sanitize_schema

LIST: dict[str, Any] = {"type": "array", "items": {"type": "integer", "minimum": 3}, "maxItems": 2, "uniqueItems": True}
FILTER: dict[str, Any] = {"type": "object", "required": ["year"], "additionalProperties": False,
                          "properties": {"year": {"type": "integer"}, "by": {"type": "array", "items": {"type": "string", "minLength": 2}}}}  # fmt: skip
PET: dict[str, Any] = {"oneOf": [{"type": "object", "required": ["kind", "lives"], "properties": {"kind": {"enum": ["cat"]}, "lives": {"type": "integer"}}},
                                 {"type": "object", "required": ["kind"], "properties": {"kind": {"enum": ["dog"]}}}]}  # fmt: skip
KINDS: dict[str, JsonType] = {"array": "array", "object": "object", "integer": "integer", "number": "number"}


def tool(*parameters: Parameter) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", "t", "a"), category="c", toolset="t", api="a", function="a", parameters=parameters
    )


def checked(schema: Any, value: JsonValue, **more: Any) -> JsonValue:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    kind = KINDS.get(str(to_mapping(schema).get("type")), "string")
    parameter = Parameter(name="p", type=kind, json_schema=text).model_copy(update=more)
    return validate_arguments(tool(parameter), {"p": value})["p"]


def refusal(schema: Any, value: JsonValue, **more: Any) -> str:
    """The complaint; empty where the value passes."""
    try:
        checked(schema, value, **more)
    except InvalidArgumentsError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (LIST, ["3", 4.0], [3, 4]),
        (LIST, "[5]", [5]),
        (LIST, "7", [7]),
        (FILTER, '{"year": "1999", "by": "me"}', {"year": 1999, "by": ["me"]}),
        (PET, {"kind": "cat", "lives": 9}, {"kind": "cat", "lives": 9}),
        ({"type": ["string", "integer"]}, 3, 3),
        ({"type": "number", "multipleOf": 0.1}, 0.3, 0.3),
        ({"type": "string", "pattern": "^[A-Z]{2}$"}, "DE", "DE"),
        ({"const": 3}, 3, 3),
        (True, "x", "x"),
    ],
)
def test_values_that_fit(schema: Any, value: JsonValue, expected: JsonValue) -> None:
    assert checked(schema, value) == expected


@pytest.mark.parametrize(
    ("schema", "value", "complaint"),
    [
        (LIST, [1, 4], r"p\[0\] must be at least 3, not 1"),
        (LIST, [3, 4, 5], "p must be a list of at most 2 items"),
        (FILTER, {"by": ["x"]}, r"p must have the field year\. p\.by\[0\] must be at least 2 characters long"),
        (FILTER, {"year": 1, "yaer": 2}, "p has fields that are not allowed; its fields are: by, year"),
        (PET, {"kind": "cat"}, "p must have the field lives"),
        (
            {"type": "integer", "oneOf": [{"type": "integer"}, {"minimum": 1}]},
            3,
            "fits more than one of its alternatives",
        ),
        ({"type": "string", "pattern": "^[A-Z]{2}$"}, "de", r'p must match the regular expression "\^\[A-Z\]\{2\}\$"'),
        ({"type": "number", "multipleOf": 0.1}, 0.35, "is not a multiple of 0.1"),
        ({"type": "integer", "exclusiveMinimum": 0}, 0, "p must be more than 0"),
        ({"not": {"enum": ["x"]}}, "x", "p: "),
    ],
)
def test_complaints_say_where_and_what(schema: Any, value: JsonValue, complaint: str) -> None:
    with pytest.raises(InvalidArgumentsError, match=complaint):
        checked(schema, value)


def test_null_where_it_may_be() -> None:
    nullable = Parameter(name="p", type="integer", nullable=True)
    assert validate_arguments(tool(nullable), {"p": None}) == {"p": None}
    assert validate_arguments(tool(nullable), {"p": "3"}) == {"p": 3}
    with pytest.raises(InvalidArgumentsError, match="must be of type integer"):
        validate_arguments(tool(nullable), {"p": "x"})
    with pytest.raises(InvalidArgumentsError, match="must be of type integer, not null"):
        validate_arguments(tool(Parameter(name="p", type="integer")), {"p": None})
    assert checked(LIST, ["4"], nullable=True) == [4]


@pytest.mark.parametrize(
    ("form", "right", "wrong"),
    [
        ("date", "2024-02-29", "2023-02-29"),
        ("date-time", "2024-05-01T12:30:00Z", "2024-05-01"),
        ("date-time", "2024-05-01T12:30:00.5+02:00", "2024-05-01T25:00:00Z"),
        ("time", "12:30:00", "noon"),
        ("duration", "P1DT2H", "P"),
        ("email", "a@b.example", "a b@c"),
        ("hostname", "api.example.com", "-x.example"),
        ("ipv4", "192.0.2.1", "192.0.2"),
        ("ipv6", "2001:db8::1", "2001:db8"),
        ("uri", "https://example.com/x?y=1", "example.com/x"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"),
    ],
)
def test_formats(form: str, right: str, wrong: str) -> None:
    one = tool(Parameter(name="p", format=form))
    assert validate_arguments(one, {"p": right}) == {"p": right}
    with pytest.raises(InvalidArgumentsError, match=f"p must be written as {form}"):
        validate_arguments(one, {"p": wrong})
    assert validate_arguments(tool(Parameter(name="p", format="x-own")), {"p": wrong}) == {"p": wrong}


deep: dict[str, Any] = {"type": "string"}
for _ in range(400):
    deep = {"type": "object", "properties": {"a": deep}, "anyOf": [deep]} if _ < 12 else {"items": deep}
HOSTILE: list[Any] = [
    {"$ref": "http://203.0.113.9/schema.json"}, {"$ref": "file:///etc/passwd"}, {"$ref": "#"}, {"allOf": [{"$ref": "#"}]},
    {"$dynamicRef": "#x", "$dynamicAnchor": "x"}, {"$schema": "http://203.0.113.9/meta", "$id": "http://203.0.113.9/"},
    {"type": "blah"}, {"type": []}, {"type": {"a": 1}}, {"minLength": "x"}, {"required": 5}, {"required": [None]}, {"enum": []}, {"enum": 3},
    {"properties": []}, {"items": [1]}, {"multipleOf": 0}, {"minimum": "1"}, {"pattern": "("}, {"pattern": 3}, {"pattern": "(?=a)b"},
    {"patternProperties": {"(a+)+$": {}}, "additionalProperties": False}, {"oneOf": [{"$ref": "#/x"}, {"$ref": "#/y"}]},
    {"not": {"$ref": "#/x"}}, {"not": {"pattern": "(?!x)"}}, {"allOf": "x"}, {"anyOf": []}, {"format": 7}, deep, "[" * 100_000, "{", "3", "null",
    '{"minimum": 1e999}', '{"maxLength": 1e999}', {"if": {}, "then": {"not": {}}}, {"minLength": -1}, {"maxLength": True},
]  # fmt: skip


VALUES: list[Any] = ["a" * 5_000 + "!", {"a": "b"}, [[[]]], 10**400, None, 1e308]


@pytest.mark.parametrize("schema", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
@pytest.mark.timeout(10)
def test_a_hostile_schema_neither_hangs_nor_fetches_nor_crashes(schema: Any, value: JsonValue) -> None:
    """What cannot be checked is left open, so a value is refused for its type at most, or because it cannot be sent at all."""
    complaint = refusal(schema, value)
    assert not complaint or "must be of type string" in complaint or "beyond 64 bits" in complaint


def test_a_pattern_takes_time_linear_in_the_text() -> None:
    started = time.perf_counter()
    for pattern in ("^(a+)+$", "^(a|a)*$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$", "a*a*a*a*a*a*a*b"):
        assert not matches_pattern(pattern, "a" * 20_000 + "!")
    assert time.perf_counter() - started < 5
    assert not is_supported_pattern("(?=a)b")
    assert not is_supported_pattern(r"(a)\1")
    assert not is_supported_pattern("x" * 2_000)
    assert not is_supported_pattern("(((a{99}){99}){99}){99}")
    assert matches_pattern("(?=a)b", "what is not known is taken as found")


keywords = st.sampled_from(["type", "enum", "const", "minimum", "multipleOf", "minLength", "pattern", "items", "properties", "required",
                            "additionalProperties", "allOf", "anyOf", "oneOf", "not", "$ref", "format", "prefixItems", "uniqueItems", "if"])  # fmt: skip
leaves = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from([*sorted(TYPES), "a", "^a", "#", "date"])
)
schemas = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keywords, inner, max_size=4), max_leaves=20
)


@given(
    schemas, leaves | st.lists(leaves, max_size=3) | st.dictionaries(st.sampled_from(["a", "type"]), leaves, max_size=3)
)
def test_whatever_a_schema_holds_it_can_be_applied(schema: Any, value: Any) -> None:
    complaint = refusal(json.dumps(schema), value, type="object")
    assert complaint.startswith("The arguments do not fit a: p") or not complaint


def test_what_is_left_out_is_left_open() -> None:
    lost = {"$ref": "#/lost"}
    assert sanitize_schema({"oneOf": [lost, {"type": "string"}]}) == {"anyOf": [{}, {"type": "string"}]}
    assert sanitize_schema({"not": lost, "type": "string"}) == {"type": "string"}
    assert sanitize_schema({"not": {"items": {"anyOf": [lost]}}}) == {}
    assert sanitize_schema({"additionalProperties": False, "patternProperties": {"^x": {}}}) == {}
    nested: Any = {"type": "string"}
    for _ in range(MAX_DEPTH + 5):
        nested = {"items": nested}
    assert '"string"' not in json.dumps(sanitize_schema(nested))


@pytest.mark.parametrize("value", [10**25, -(10**19), [2**64], {"a": {"b": 2**63}}])
def test_a_whole_number_that_cannot_be_kept_is_refused_and_not_made_text(value: JsonValue) -> None:
    assert "beyond 64 bits" in refusal({}, value, type="any")
    assert checked({}, 2**63 - 1, type="any") == 2**63 - 1


def test_alternatives_that_differ_in_one_field_are_told_together() -> None:
    assert 'p.kind must be one of ["cat", "dog"], not "fish".' in refusal(PET, {"kind": "fish"})


def test_names_in_another_case_are_the_parameters_where_that_is_sure() -> None:
    one = tool(Parameter(name="maxRecords", type="integer"), Parameter(name="filter"))
    assert validate_arguments(one, {"MaxRecords": "3", "Filter": "x"}) == {"maxRecords": 3, "filter": "x"}
    with pytest.raises(InvalidArgumentsError, match="Unknown: Filter"):
        validate_arguments(one, {"filter": "x", "Filter": "y", "maxRecords": 1})
