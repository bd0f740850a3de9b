"""The measures against properties, and against a second, plainer way to compute them."""

import math

from hypothesis import given
from hypothesis import strategies as st

from retriever.metrics import (
    compute_completeness,
    compute_lenient_ndcg,
    compute_ndcg,
    compute_recall,
    compute_reciprocal_rank,
)

rankings = st.lists(st.integers(0, 12), unique=True, max_size=10)
relevants = st.frozensets(st.integers(0, 12), min_size=1, max_size=8)
depths = st.integers(1, 12)


def dcg(gains: list[int]) -> float:
    return sum((2**gain - 1) / math.log(place + 1, 2) for place, gain in enumerate(gains, start=1))


@given(rankings, relevants, depths)
def test_against_a_plain_computation(ranking: list[int], relevant: frozenset[int], k: int) -> None:
    gains = [1 if item in relevant else 0 for item in ranking]
    best = sorted([1] * len(relevant) + [0] * 12, reverse=True)
    assert math.isclose(compute_ndcg(ranking, relevant, k), dcg(gains[:k]) / dcg(best[:k]), abs_tol=1e-12)
    top = relevant.intersection(ranking[:k])
    assert math.isclose(compute_recall(ranking, relevant, k), len(top) / len(relevant))
    assert compute_completeness(ranking, relevant, k) == (1.0 if top == relevant else 0.0)
    places = [place for place, gain in enumerate(gains) if gain]
    assert compute_reciprocal_rank(ranking, relevant) == (1 / (places[0] + 1) if places else 0.0)


@given(rankings, relevants, depths)
def test_bounds_and_growth(ranking: list[int], relevant: frozenset[int], k: int) -> None:
    for measure in (compute_ndcg, compute_recall, compute_completeness):
        assert 0 <= measure(ranking, relevant, k) <= 1
    assert compute_recall(ranking, relevant, k) <= compute_recall(ranking, relevant, k + 1)
    assert compute_completeness(ranking, relevant, k) <= compute_recall(ranking, relevant, k)


@given(relevants, depths)
def test_ideal_and_hopeless_rankings(relevant: frozenset[int], k: int) -> None:
    assert math.isclose(compute_ndcg(sorted(relevant), relevant, k), 1)
    assert compute_reciprocal_rank(sorted(relevant), relevant) == 1
    assert (
        compute_ndcg([99, 98], relevant, k)
        == compute_recall([99], relevant, k)
        == compute_reciprocal_rank([], relevant)
        == 0
    )


@given(rankings, relevants)
def test_moving_a_relevant_item_up_never_hurts(ranking: list[int], relevant: frozenset[int]) -> None:
    for place in range(1, len(ranking)):
        if ranking[place] in relevant and ranking[place - 1] not in relevant:
            better = ranking.copy()
            better[place - 1 : place + 1] = reversed(better[place - 1 : place + 1])
            assert compute_ndcg(better, relevant, 10) >= compute_ndcg(ranking, relevant, 10)


def test_worked_example() -> None:
    """Two of three found, at places 1 and 3: (1 + 1/2) / (1 + 1/log2(3) + 1/2)."""
    assert math.isclose(compute_ndcg(["a", "x", "b"], {"a", "b", "missing"}, 5), 1.5 / (1.5 + 1 / math.log2(3)))


def test_the_lenient_form_forgives_what_was_not_found() -> None:
    assert math.isclose(compute_lenient_ndcg([1, 9, 8, 7, 6], frozenset({1, 2, 3}), 5), 1)
    assert math.isclose(compute_ndcg([1, 9, 8, 7, 6], frozenset({1, 2, 3}), 5), 0.4693, abs_tol=1e-4)
    assert math.isclose(compute_lenient_ndcg([9, 1], frozenset({1, 2}), 5), 1 / math.log2(3))
    assert compute_lenient_ndcg([9, 8], frozenset({1}), 5) == 0


@given(rankings, relevants, depths)
def test_the_lenient_form_is_never_below_and_the_same_where_all_is_found(
    ranking: list[int], relevant: frozenset[int], k: int
) -> None:
    strict, lenient = compute_ndcg(ranking, relevant, k), compute_lenient_ndcg(ranking, relevant, k)
    assert strict <= lenient + 1e-12 <= 1 + 1e-9
    if relevant <= set(ranking[:k]):
        assert math.isclose(strict, lenient)
    assert math.isclose(compute_lenient_ndcg(ranking, relevant, 1), compute_ndcg(ranking, relevant, 1))
