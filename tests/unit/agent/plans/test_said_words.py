"""The words of a request that a value is: found in one go, however often they stand there."""

import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic.types import JsonValue

from agent.plans.request_words import find_request_words

OFTEN = """
from agent.plans.request_words import find_request_words
assert find_request_words(["a"] * 40 + ["z"], "a " * 2000) == ""
assert find_request_words(["a"] * 20_000 + ["z"], "a " * 2000) == ""
"""


@pytest.mark.parametrize(
    ("value", "request_", "said"),
    [
        ("lyon", "From Lyon.", "Lyon"),
        ("on", "From Lyon.", ""),
        (["Lyon", "Nice"], "Of lyon and Nice, which?", "lyon and Nice"),
        (["Lyon", "Nice"], "Lyon, not in Nice", ""),
        (["a", "b"], "a a b", "a a b"),
        (["a", "b"], "a a, x b", "a, x b"),
        ([1, 2.5], "1 (or 2.5)", "1 (or 2.5"),
        ([-1, "(x"], "of -1 (x", "-1 (x"),
        ([1, "x"], "1 -x (x)", "1 -x"),
        (["a", "a"], "a", ""),
        ([], "a", ""),
        ([True], "True", ""),
        ([" "], " ", ""),
    ],
)
def test_items_stand_one_after_the_other_with_one_word_between_at_most(
    value: JsonValue, request_: str, said: str
) -> None:
    assert find_request_words(value, request_) == said


def test_items_that_stand_there_very_often_are_found_at_once() -> None:
    subprocess.run([sys.executable, "-c", OFTEN], check=True, timeout=60)


BETWEEN = r"(?!\w)\W+(?:\w+\W+)?"
EDGE = r"(?:(?<!\w)|(?!\w))"
"""A place that is not inside a word: ``a.`` ends before the second letter of ``A.A``."""


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "ab", "-a", "a."]), min_size=1, max_size=4), st.text("aAb -.", max_size=20))
def test_it_finds_what_the_pattern_of_a_list_finds(words: list[str], request: str) -> None:
    pattern = rf"{EDGE}{BETWEEN.join(map(re.escape, words))}{EDGE}"
    assert bool(find_request_words([*words], request)) == bool(re.search(pattern, request, re.IGNORECASE))
