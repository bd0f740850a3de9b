from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from graph.blocks import RepeatCounter


@given(st.lists(st.integers(1, 51)))
def test_counts_like_a_counter(values: list[int]) -> None:
    occurrences, seen = RepeatCounter(), Counter[int]()
    for value in values:
        assert occurrences.count_earlier(value.to_bytes(8)) == seen[value]
        seen[value] += 1


def test_grows_without_forgetting() -> None:
    occurrences = RepeatCounter()
    digests = [(n * 0x9E3779B97F4A7C15 % 2**64).to_bytes(8) for n in range(20_000)]
    assert {occurrences.count_earlier(digest) for digest in digests} == {0}
    assert {occurrences.count_earlier(digest) for digest in digests} == {1}
