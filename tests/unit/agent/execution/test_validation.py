"""Arguments against parameters: what is coerced, what is refused, and whether the complaint helps."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agent.execution.validation import build_arguments_schema, coerce_value, validate_arguments
from domain.errors import InvalidArgumentsError
from domain.model import JsonObject
from domain.tool import JsonType, Parameter, ToolDoc, make_tool_id


def tool(*parameters: Parameter) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", "t", "a"), category="c", toolset="t", api="a", function="a", parameters=parameters
    )


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("integer", "3", 3), ("integer", " -3 ", -3), ("integer", "3.0", 3), ("integer", 3.0, 3), ("integer", "3.5", "3.5"),
        ("integer", "1e400", "1e400"), ("integer", "three", "three"), ("number", "3.5", 3.5), ("number", "nan", "nan"),
        ("number", "inf", "inf"), ("string", 3, "3"), ("string", True, "true"), ("boolean", "True", True), ("boolean", "no", False),
        ("boolean", "maybe", "maybe"), ("array", "[1, 2]", [1, 2]), ("array", "{'a': 1}", "{'a': 1}"), ("object", "{'a': 1}", {"a": 1}),
        ("integer", "9007199254740993", 9007199254740993), ("boolean", 1, 1),
    ],
)  # fmt: skip
def test_strings_become_values_where_nothing_is_lost(kind: JsonType, value: object, expected: object) -> None:
    made = coerce_value(value, Parameter(name="p", type=kind))  # type: ignore[arg-type]
    assert made == expected
    assert type(made) is type(expected)


@pytest.mark.parametrize(
    ("parameters", "arguments", "complaint"),
    [
        ((Parameter(name="a"),), {"b": "1"}, "Unknown: b. The parameters are: a."),
        (
            (Parameter(name="a", required=True, description="The city"),),
            {},
            r"Required parameter a is missing \(string: The city\).",
        ),
        ((Parameter(name="a", type="integer"),), {"a": "x"}, 'a must be of type integer, not "x".'),
        ((Parameter(name="a", enum=("x", "y")),), {"a": "z"}, r'a must be one of \["x", "y"\], not "z".'),
        (
            (Parameter(name="a", format="date"),),
            {"a": "3 May"},
            r'a must be written as date \(YYYY-MM-DD\), not "3 May".',
        ),
        (
            (Parameter(name="a", format="email"),),
            {"a": "nobody"},
            r'a must be written as email \(name@host\), not "nobody".',
        ),
        (
            (Parameter(name="a", type="number", minimum=-90, maximum=90),),
            {"a": 200},
            "a must be at most 90, not 200.",
        ),
        (
            (Parameter(name="a", type="number", minimum=0.5),),
            {"a": 0},
            r"a must be at least 0\.5, not 0.",
        ),
    ],
)
def test_complaints_say_what_would_be_right(
    parameters: tuple[Parameter, ...], arguments: JsonObject, complaint: str
) -> None:
    with pytest.raises(InvalidArgumentsError, match=complaint):
        validate_arguments(tool(*parameters), arguments)


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(InvalidArgumentsError, match=r"Unknown: z.*a must be of type integer") as raised:
        validate_arguments(
            tool(Parameter(name="a", type="integer"), Parameter(name="b", required=True)), {"a": "x", "z": 1}
        )
    assert "Required parameter b" in str(raised.value)


def test_an_enum_is_met_whatever_its_case() -> None:
    assert validate_arguments(tool(Parameter(name="a", enum=("USD", "EUR"))), {"a": "eur"}) == {"a": "EUR"}


names = st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=1, max_size=6)
kinds: st.SearchStrategy[JsonType] = st.sampled_from(["string", "number", "integer", "boolean", "array", "object"])
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=10)
)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=6
)


@given(st.dictionaries(names, kinds, max_size=4), st.dictionaries(names, anything, max_size=4))
def test_what_passes_meets_the_schema_and_keeps_its_names(wanted: dict[str, JsonType], arguments: JsonObject) -> None:
    document = tool(*(Parameter(name=name, type=kind) for name, kind in wanted.items()))
    try:
        passed = validate_arguments(document, arguments)
    except InvalidArgumentsError:
        return
    assert passed.keys() == arguments.keys()
    Draft202012Validator(build_arguments_schema(document)).validate(passed)  # pyright: ignore[reportUnknownMemberType]
    assert validate_arguments(document, passed) == passed


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": json.loads("[" * 90 + "]" * 90)}, "nested deeper"),
        ({"a": float("nan")}, "cannot be sent"),
        ({"a": 10**5_000}, "cannot be sent"),
        ({"a": "\ud800"}, "cannot be sent"),
    ],
)
def test_what_can_be_neither_sent_nor_stored_is_refused(value: JsonObject, said: str) -> None:
    with pytest.raises(InvalidArgumentsError, match=said):
        validate_arguments(tool(Parameter(name="p", type="object")), {"p": value})
