"""JSON, Python literals and cut JSON; anything else is nothing, and nothing raises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.types import JsonValue

from graph.lenient_json import MAX_DEPTH, is_text_too_deep, read_value

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
mappings = st.dictionaries(st.text(max_size=6), json_values, max_size=4)


@given(json_values)
def test_json_is_read_as_it_is(value: JsonValue) -> None:
    assert read_value(json.dumps(value)) == value


@given(mappings)
def test_python_literals_are_read_as_they_are(value: dict[str, JsonValue]) -> None:
    assert read_value(repr(value)) == value


@given(st.text(max_size=200) | st.text(alphabet="{}[]'\",:\\ ab1(", max_size=80))
def test_no_text_raises(text: str) -> None:
    read_value(text)


@given(mappings, st.data())
def test_cut_json_gives_what_was_whole(value: dict[str, JsonValue], data: st.DataObject) -> None:
    text = json.dumps(value)
    read = read_value(text[: data.draw(st.integers(1, len(text)))])
    assert isinstance(read, dict)
    assert read.keys() <= value.keys()


@pytest.mark.parametrize(
    ("text", "value"),
    [('{"a": [1, {"b": "x", "c": "cut he', {"a": [1, {"b": "x"}]}), ("{'a': (1, 2)}", {"a": [1, 2]}), ("plain words", None), ("", None),
     ("{'a': {1, 2}}", None), ("{'it': \"it's\"}", {"it": "it's"}), ("{'a': True, 'b': None}", {"a": True, "b": None}), ("[" * 50_000, None)],
)  # fmt: skip
def test_forms(text: str, value: JsonValue) -> None:
    assert read_value(text) == value


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 300, 1_000, 3_000, 10_000])
@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}"), ("{'a': [", "]}")])
def test_what_is_nested_too_deeply_is_not_read(depth: int, opens: str, closes: str) -> None:
    text = opens * depth + ("1" if ":" in opens else "") + closes * depth
    assert is_text_too_deep(text.replace("'", '"'))
    assert read_value(text) is None
    assert read_value(f'{{"a": 1, "deep": {text}}}') is None


def test_brackets_in_texts_are_no_depth() -> None:
    value = {"drawn": "[" * 500, "list": [[n] for n in range(500)]}
    assert not is_text_too_deep(json.dumps(value))
    assert read_value(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "\\ud800"}', {"a": "\ufffd"}),
        ('{"a": 1e999}', {"a": None}),
        ("{'a': 1e999, 'b': None}", {"a": None, "b": None}),
        ("{'a': " + "9" * 30 + ", 'b': None}", {"a": 1e30, "b": None}),
        ("{'a': " + "9" * 4_000 + ", 'b': None}", {"a": None, "b": None}),
        ("{'a': " + "9" * 9_000 + ", 'b': None}", None),
    ],
)
def test_what_cannot_be_written_again_is_not_kept(text: str, value: JsonValue) -> None:
    assert read_value(text) == value
    json.dumps(read_value(text), ensure_ascii=False, allow_nan=False).encode()
