"""A tool that lost its rank to its poor availability comes back now and then."""

import pytest

from domain.errors import UsageError
from domain.tool import ToolId
from graph.exploration import select_with_exploration
from graph.facts import Edge
from graph.weights import WeightedEdge, select_top_candidates

SEEDS = [f"run {n}" for n in range(2000)]


def weighted(target: str, weight: float, availability: float | None) -> WeightedEdge:
    return WeightedEdge(ToolId(target), weight, availability, True, Edge(ToolId("s"), ToolId(target)))


LOST = weighted("lost", 0.6, 0.05)
OTHERS = [weighted(f"t{n}", 0.1, 0.9) for n in range(4)]


def firsts(known: list[WeightedEdge], k: int, *, safe: bool = True, period: int = 5) -> list[str]:
    return [select_with_exploration(known, k, lambda _: safe, seed=seed, period=period)[0].target for seed in SEEDS]


@pytest.mark.parametrize("k", [2, 10])
def test_it_is_first_about_every_fifth_time(k: int) -> None:
    share = firsts([LOST, *OTHERS], k).count("lost") / len(SEEDS)
    assert 0.17 < share < 0.23


def test_the_same_seed_gives_the_same_list() -> None:
    assert firsts([LOST, *OTHERS], 3) == firsts([LOST, *OTHERS], 3)


def test_the_list_keeps_its_length_and_the_others_their_order() -> None:
    offered = select_with_exploration([LOST, *OTHERS], 3, lambda _: True, seed="s", period=1)
    assert [w.target for w in offered] == ["lost", "t0", "t1"]


def test_a_tool_that_changes_something_never_comes_back() -> None:
    assert "lost" not in firsts([LOST, *OTHERS], 2, safe=False, period=1)


@pytest.mark.parametrize(
    "known",
    [
        [weighted("rare", 0.01, 0.05), *OTHERS],  # would not have ranked anyway
        [weighted("fine", 0.02, 0.9), *OTHERS],  # ranks low by its weight, not by its availability
        [weighted("untested", 0.05, None), *OTHERS],
        [weighted("leader", 0.9, 0.4), *OTHERS],  # lost nothing
    ],
)
def test_others_stay_where_they_are(known: list[WeightedEdge]) -> None:
    for seed in SEEDS[:50]:
        assert select_with_exploration(known, 2, lambda _: True, seed=seed, period=1) == select_top_candidates(known, 2)


def test_nothing_comes_back_into_nothing() -> None:
    assert select_with_exploration([], 3, lambda _: True, seed="s") == []
    assert select_with_exploration([LOST, *OTHERS], 0, lambda _: True, seed="s", period=1) == []


def test_a_period_below_one_is_refused() -> None:
    with pytest.raises(UsageError):
        select_with_exploration([LOST], 1, lambda _: True, seed="s", period=0)
