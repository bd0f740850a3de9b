"""What an administrator's marks do to the weights out of a node."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.tool import FINISH
from graph.exploration import select_with_exploration
from graph.facts import Mark, Neighbour
from graph.weights import (
    MUTED_FACTOR,
    WeightParameters,
    compute_transition_weights,
    rank_candidates,
    select_top_candidates,
)
from tests.unit.graph.test_weights import edge, neighbourhoods, parameters

marks: st.SearchStrategy[Mark | None] = st.sampled_from((None, "pin", "mute", "ban"))


def marked(neighbour: Neighbour, mark: Mark | None) -> Neighbour:
    return replace(neighbour, edge=replace(neighbour.edge, mark=mark))


@st.composite
def marked_neighbourhoods(draw: st.DrawFn) -> list[Neighbour]:
    return [marked(neighbour, draw(marks)) for neighbour in draw(neighbourhoods())]


@given(marked_neighbourhoods(), parameters)
def test_weights_sum_to_one_but_where_all_is_banned(neighbours: list[Neighbour], chosen: WeightParameters) -> None:
    weighted = compute_transition_weights(neighbours, chosen)
    assert [w.edge for w in weighted] == [n.edge for n in neighbours]
    banned = all(n.edge.mark == "ban" for n in neighbours)
    assert math.fsum(w.weight for w in weighted) == pytest.approx(0 if banned else 1)
    assert all(w.weight == 0 for w in weighted if w.edge.mark == "ban")
    assert min(w.weight for w in weighted) >= 0


@given(marked_neighbourhoods(), parameters)
def test_a_ban_is_as_if_the_edge_were_not_there(neighbours: list[Neighbour], chosen: WeightParameters) -> None:
    kept = [n for n in neighbours if n.edge.mark != "ban"]
    without = compute_transition_weights(kept, chosen)
    weighted = [w for w in compute_transition_weights(neighbours, chosen) if w.edge.mark != "ban"]
    assert [(w.edge, w.availability) for w in weighted] == [(w.edge, w.availability) for w in without]
    # Weights beside a ban are divided by their sum, which is 1 but for rounding.
    assert [w.weight for w in weighted] == pytest.approx([w.weight for w in without])
    assert [w.target for w in rank_candidates(compute_transition_weights(neighbours, chosen))] == [
        w.target for w in rank_candidates(without)
    ]


@given(marked_neighbourhoods(), parameters)
def test_a_pin_is_heaviest_and_first(neighbours: list[Neighbour], chosen: WeightParameters) -> None:
    weighted = compute_transition_weights(neighbours, chosen)
    heaviest = max(w.weight for w in weighted)
    assert all(w.weight == heaviest for w in weighted if w.edge.mark == "pin")
    places = [w.edge.mark == "pin" for w in rank_candidates(weighted)]
    assert places == sorted(places, reverse=True)
    assert places.count(True) == sum(n.edge.mark == "pin" and n.edge.target != FINISH for n in neighbours)


@given(neighbourhoods(), parameters)
def test_a_mute_leaves_a_tenth_beside_the_others(neighbours: list[Neighbour], chosen: WeightParameters) -> None:
    before = compute_transition_weights(neighbours, chosen)
    after = compute_transition_weights([marked(neighbours[0], "mute"), *neighbours[1:]], chosen)
    total = MUTED_FACTOR * before[0].weight + math.fsum(w.weight for w in before[1:])
    assert after[0].weight == pytest.approx(MUTED_FACTOR * before[0].weight / total)
    for one, other in zip(before[1:], after[1:], strict=True):
        assert other.weight == pytest.approx(one.weight / total)


def test_marks_worked_by_hand() -> None:
    """Without the ban 6, 3, 1 of 10; muted 0.06 of 0.6; pinned as heavy as the 3."""
    out = [marked(edge("a", 6), "mute"), edge("b", 3), marked(edge("c", 1), "pin"), marked(edge("d", 90), "ban")]
    total = 0.06 + 0.3 + 0.3
    weights = [w.weight for w in compute_transition_weights(out)]
    assert weights == pytest.approx([0.06 / total, 0.3 / total, 0.3 / total, 0])
    assert [w.target for w in select_top_candidates(compute_transition_weights(out), 9)] == ["c", "b", "a"]


def test_a_pinned_edge_that_was_never_walked_is_offered_first() -> None:
    out = compute_transition_weights([edge("a", 5), marked(edge("new", 0), "pin"), edge(FINISH, 5)])
    assert [w.weight for w in out] == pytest.approx([1 / 3] * 3)
    assert select_top_candidates(out, 1)[0].target == "new"


def test_a_returning_tool_follows_what_is_pinned() -> None:
    poor = edge("poor", 8)
    poor = replace(poor, facts=replace(poor.facts, calls=10, successes=0))
    weighted = compute_transition_weights([poor, edge("good", 2), marked(edge("chosen", 1), "pin")])
    shown = select_with_exploration(weighted, 3, lambda _: True, seed="s", period=1)
    assert [w.target for w in shown] == ["chosen", "poor", "good"]
