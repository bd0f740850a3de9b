"""The fitting of JSON into so many characters: valid, in order, honest about what is left out."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.types import JsonValue

from agent.compression.json_truncation import dump_compact, measure_length, truncate_json

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
values: st.SearchStrategy[JsonValue] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(), inner, max_size=30), max_leaves=120
)


def leaves(value: JsonValue) -> list[JsonValue]:
    match value:
        case dict():
            return [leaf for item in value.values() for leaf in leaves(item)]
        case list():
            return [leaf for item in value for leaf in leaves(item)]
        case _:
            return [value]


@given(values, st.integers(48, 400))
def test_never_longer_always_json_and_nothing_invented(value: JsonValue, room: int) -> None:
    text = truncate_json(value, room)
    assert len(text) <= room
    shown = orjson.loads(text.encode("utf-8", "replace"))
    known = [leaf for leaf in leaves(value) if not isinstance(leaf, str)]
    texts = [leaf.encode("utf-8", "replace").decode() for leaf in leaves(value) if isinstance(leaf, str)]
    for leaf in leaves(shown):
        if isinstance(leaf, str):
            mark = leaf.startswith("… ") or leaf.endswith((" more field", " more fields"))
            assert (
                leaf in texts
                or mark
                or (leaf.endswith("…") and any(t.startswith(leaf[:-1]) for t in texts))
                or leaf == "…"
            )
        else:
            assert leaf in known


@given(values, st.integers(0, 2_000))
def test_length_is_that_of_the_written_text(value: JsonValue, most: int) -> None:
    real = len(dump_compact(value))
    assert measure_length(value, most) == real if real <= most else measure_length(value, most) > most


@given(values)
def test_what_fits_is_whole_and_fitting_twice_changes_nothing(value: JsonValue) -> None:
    text = dump_compact(value)
    assert truncate_json(value, max(48, len(text))) == text
    once = truncate_json(value, 200)
    assert truncate_json(orjson.loads(once.encode("utf-8", "replace")), 200) == once.encode("utf-8", "replace").decode()


def test_a_list_keeps_its_first_items_and_counts_the_rest() -> None:
    items: list[JsonValue] = [{"id": n, "name": f"item {n}"} for n in range(1_000)]
    shown = orjson.loads(truncate_json({"total": 1_000, "items": items, "next": "abc"}, 300))
    assert shown["total"] == 1_000
    assert shown["next"] == "abc"
    *first, mark = shown["items"]
    assert first == items[: len(first)]
    assert len(first) >= 5
    assert mark == f"… {1_000 - len(first)} more"


def test_small_members_stand_beside_a_cut_text() -> None:
    shown = orjson.loads(truncate_json({"text": "word " * 1_000, "price": 12.5, "currency": "EUR"}, 200))
    assert shown["price"] == 12.5
    assert shown["currency"] == "EUR"
    assert shown["text"].endswith("word…")


def test_what_does_not_fit_at_all_is_counted() -> None:
    shown = orjson.loads(truncate_json({f"field_{n}": n for n in range(100)}, 120))
    assert shown.pop("…") == f"{100 - len(shown)} more fields"


def test_a_key_that_looks_like_the_mark_stays_what_it_is() -> None:
    text = truncate_json({"…": "own", **{f"field_{n}": "value" * 4 for n in range(30)}}, 200)
    shown = orjson.loads(text)
    assert shown["…"] == "own"
    assert shown["… cut"].endswith("more fields")


@pytest.mark.parametrize("depth", [50, 400, 900])
def test_deep_nesting_ends_in_a_mark(depth: int) -> None:
    value: JsonValue = "x" * 300
    for _ in range(depth):
        value = [value]
    assert "…" in truncate_json(value, 200)
