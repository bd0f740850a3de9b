"""The measures against properties, and against a second, plainer way to compute them."""

import math

from hypothesis import given
from hypothesis import strategies as st

from retriever.metrics import completeness, lenient_ndcg, ndcg, recall, reciprocal_rank

rankings = st.lists(st.integers(0, 12), unique=True, max_size=10)
relevants = st.frozensets(st.integers(0, 12), min_size=1, max_size=8)
depths = st.integers(1, 12)


def dcg(gains: list[int]) -> float:
    return sum((2**gain - 1) / math.log(place + 1, 2) for place, gain in enumerate(gains, start=1))


@given(rankings, relevants, depths)
def test_against_a_plain_computation(ranking: list[int], relevant: frozenset[int], k: int) -> None:
    gains = [1 if item in relevant else 0 for item in ranking]
    best = sorted([1] * len(relevant) + [0] * 12, reverse=True)
    assert math.isclose(ndcg(ranking, relevant, k), dcg(gains[:k]) / dcg(best[:k]), abs_tol=1e-12)
    top = relevant.intersection(ranking[:k])
    assert math.isclose(recall(ranking, relevant, k), len(top) / len(relevant))
    assert completeness(ranking, relevant, k) == (1.0 if top == relevant else 0.0)
    places = [place for place, gain in enumerate(gains) if gain]
    assert reciprocal_rank(ranking, relevant) == (1 / (places[0] + 1) if places else 0.0)


@given(rankings, relevants, depths)
def test_bounds_and_growth(ranking: list[int], relevant: frozenset[int], k: int) -> None:
    for measure in (ndcg, recall, completeness):
        assert 0 <= measure(ranking, relevant, k) <= 1
    assert recall(ranking, relevant, k) <= recall(ranking, relevant, k + 1)
    assert completeness(ranking, relevant, k) <= recall(ranking, relevant, k)


@given(relevants, depths)
def test_ideal_and_hopeless_rankings(relevant: frozenset[int], k: int) -> None:
    assert math.isclose(ndcg(sorted(relevant), relevant, k), 1)
    assert reciprocal_rank(sorted(relevant), relevant) == 1
    assert ndcg([99, 98], relevant, k) == recall([99], relevant, k) == reciprocal_rank([], relevant) == 0


@given(rankings, relevants)
def test_moving_a_relevant_item_up_never_hurts(ranking: list[int], relevant: frozenset[int]) -> None:
    for place in range(1, len(ranking)):
        if ranking[place] in relevant and ranking[place - 1] not in relevant:
            better = ranking.copy()
            better[place - 1 : place + 1] = reversed(better[place - 1 : place + 1])
            assert ndcg(better, relevant, 10) >= ndcg(ranking, relevant, 10)


def test_worked_example() -> None:
    """Two of three found, at places 1 and 3: (1 + 1/2) / (1 + 1/log2(3) + 1/2)."""
    assert math.isclose(ndcg(["a", "x", "b"], {"a", "b", "missing"}, 5), 1.5 / (1.5 + 1 / math.log2(3)))


def test_the_lenient_form_forgives_what_was_not_found() -> None:
    assert math.isclose(lenient_ndcg([1, 9, 8, 7, 6], frozenset({1, 2, 3}), 5), 1)
    assert math.isclose(ndcg([1, 9, 8, 7, 6], frozenset({1, 2, 3}), 5), 0.4693, abs_tol=1e-4)
    assert math.isclose(lenient_ndcg([9, 1], frozenset({1, 2}), 5), 1 / math.log2(3))
    assert lenient_ndcg([9, 8], frozenset({1}), 5) == 0


@given(rankings, relevants, depths)
def test_the_lenient_form_is_never_below_and_the_same_where_all_is_found(
    ranking: list[int], relevant: frozenset[int], k: int
) -> None:
    strict, lenient = ndcg(ranking, relevant, k), lenient_ndcg(ranking, relevant, k)
    assert strict <= lenient + 1e-12 <= 1 + 1e-9
    if relevant <= set(ranking[:k]):
        assert math.isclose(strict, lenient)
    assert math.isclose(lenient_ndcg(ranking, relevant, 1), ndcg(ranking, relevant, 1))
