"""YAML as JSON values: its words, its anchors, and what is refused."""

import time
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from graph.importers.yaml_events import MAX_DEPTH, YamlError, read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: yes\non: no\nd: 2024-05-01\nt: 12:30:45", {"a": "yes", "on": "no", "d": "2024-05-01", "t": "12:30:45"}),
        ("200: {ok: true}\nnull: ~\n", {"200": {"ok": True}, "null": None}),
        ("[1, -2, 0x10, 0o17, 1.5, 1e3, .5, .inf, 1e999, '1', 007]", [1, -2, 16, 15, 1.5, 1000.0, 0.5, ".inf", "1e999", "1", 7]),
        ("a: &x {k: 1}\nb: *x\nc: {<<: *x, l: 2}\nd: {<<: [{k: 3}, *x], k: 4}",
         {"a": {"k": 1}, "b": {"k": 1}, "c": {"k": 1, "l": 2}, "d": {"k": 4}}),
        ("a: !!python/object/apply:os.system ['x']\nb: !!str 1\nc: !own y", {"a": ["x"], "b": "1", "c": "y"}),
        ("a: |\n  x\n  y\nb: >-\n  x\n  y", {"a": "x\ny\n", "b": "x y"}),
        ("", None),
        ("{'<<': 1}", {"<<": 1}),
    ],
)  # fmt: skip
def test_values(text: str, value: Any) -> None:
    assert read_yaml(text.encode()) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [", "did not find"),
        ("a: 1\n---\nb: 2", "several documents"),
        ("a: &a [*a]", "refers to itself"),
        ("a: *b", "or to nothing"),
        ("? [a]\n: b", "a key that is no text"),
        ("[" * 50_000, f"nested more than {MAX_DEPTH} levels"),
        ("\n".join(" " * n + "a:" for n in range(400)), f"nested more than {MAX_DEPTH} levels"),
        ("\n".join([f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]" for n in range(30)]), "once its aliases"),
        ("a: \x01", "control characters"),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, reason: str) -> None:
    started = time.perf_counter()
    with pytest.raises(YamlError, match=reason):
        read_yaml(text.encode())
    assert time.perf_counter() - started < 10


scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(-1e9, 1e9) | st.text(max_size=20)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)


@given(values)
def test_what_json_can_say_comes_back(value: Any) -> None:
    """Written by another library, in YAML 1.1, whose quotes keep texts apart from the words of either version."""
    assert read_yaml(yaml.safe_dump(value, allow_unicode=True).encode()) == value


@given(st.text(max_size=200) | st.text(alphabet="[]{}:-&*! \n'\"<|>a1", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_yaml(text.encode("utf-8", "replace"))
    except YamlError as error:
        assert str(error)  # noqa: PT017 (both ends are right)
