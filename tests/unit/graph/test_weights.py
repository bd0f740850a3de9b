"""The formulas of the tool graph: their properties, and figures worked out by hand."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import UsageError
from domain.tool import FINISH, ToolId
from graph.facts import Edge, Neighbour, ToolFacts
from graph.weights import (
    WeightedEdge,
    WeightParameters,
    compute_availability,
    compute_transition_weights,
    score_map,
    select_top_candidates,
)

SOURCE = ToolId("c/s/source")

qualities = st.floats(-1e6, 1e6)
counts = st.integers(0, 10_000)
parameters = st.builds(
    WeightParameters,
    st.sampled_from(("living", "thesis")),
    st.floats(0.01, 10),
    st.floats(0.01, 1000),
    st.floats(0, 1),
    st.floats(0.01, 1),
)
facts = st.builds(
    ToolFacts,
    st.integers(5_000, 10_000) | st.just(0),
    st.just(0),
    counts,
    counts,
    counts,
    qualities,
    st.floats(-50, 50),
    st.floats(0, 50),
    st.floats(0, 50),
    st.floats(0, 5),
    st.floats(0, 2e9),
) | st.builds(ToolFacts, st.just(10_000), counts)


@st.composite
def neighbourhoods(draw: st.DrawFn) -> list[Neighbour]:
    """Out-edges of one node, Finish perhaps among them; every edge was counted at least once."""
    names = [ToolId(f"c/s/{n}") for n in range(draw(st.integers(1, 12)))]
    targets = [*names, FINISH] if draw(st.booleans()) else names
    seen = st.tuples(counts, counts).filter(any)
    drawn = [(target, *draw(seen), draw(st.floats(0, 50)), draw(facts)) for target in targets]
    return [
        Neighbour(Edge(SOURCE, t, imported, live, strength=strength), f, t != FINISH)
        for t, imported, live, strength, f in drawn
    ]


def edge(target: str, imported: int, live: int = 0, quality: float = 0.0, strength: float = 0.0) -> Neighbour:
    known = Edge(SOURCE, ToolId(target), imported, live, strength=strength)
    return Neighbour(known, ToolFacts(quality=quality), target != FINISH)


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.floats(0.01, 10))
def test_the_score_map_is_positive_and_increasing(x: float, y: float, alpha: float) -> None:
    assert score_map(x, alpha) > 0
    if x < y:
        assert score_map(x, alpha) <= score_map(y, alpha)


def test_the_score_map_is_continuous_at_zero() -> None:
    assert score_map(0) == 1
    assert score_map(-1e-12) == pytest.approx(1)
    assert (score_map(2, 0.5), score_map(-2, 0.5)) == (2.0, pytest.approx(math.exp(-1)))


@given(neighbourhoods(), parameters)
def test_weights_out_of_a_node_sum_to_one(neighbours: list[Neighbour], chosen: WeightParameters) -> None:
    weights = [w.weight for w in compute_transition_weights(neighbours, chosen)]
    assert math.fsum(weights) == pytest.approx(1)
    assert min(weights) >= 0


@given(neighbourhoods(), parameters)
def test_nothing_moves_before_the_first_run(neighbours: list[Neighbour], chosen: WeightParameters) -> None:
    before = [replace(n, edge=replace(n.edge, imported=n.edge.imported + 1, live=0, strength=0.0)) for n in neighbours]
    total = sum(n.edge.imported for n in before)
    for neighbour, weighted in zip(before, compute_transition_weights(before, chosen), strict=True):
        assert weighted.weight == pytest.approx(neighbour.edge.imported / total)


def test_a_living_weight_worked_by_hand() -> None:
    """n = (150, 50) counts as (37.5, 12.5); with live strengths (0, 25) that is 37.5 and 37.5 of 75, and Finish is one like others."""
    weights = compute_transition_weights([edge("a", 150), edge("b", 50, 30, strength=25.0)])
    assert [w.weight for w in weights] == pytest.approx([0.5, 0.5])
    ends = compute_transition_weights([edge("a", 3), edge(FINISH, 1, 2, strength=2.0)])
    assert [w.weight for w in ends] == pytest.approx([0.5, 0.5])


def test_where_nothing_is_left_of_any_walk_all_are_alike() -> None:
    assert [w.weight for w in compute_transition_weights([edge("a", 0, 1), edge("b", 0, 1)])] == [0.5, 0.5]


def test_no_edges_have_no_weights() -> None:
    assert compute_transition_weights([]) == []


@given(facts, parameters)
def test_availability_is_a_chance_or_untested(tool: ToolFacts, chosen: WeightParameters) -> None:
    value = compute_availability(tool, chosen, now=2e9)
    untested = not (tool.calls or tool.ok or tool.transient or tool.gone)
    assert value is None if untested else value is not None and 0 <= value <= 1


def test_availability_worked_by_hand() -> None:
    """209 of 209 count as 50 of 50; the prior adds one of each. Two failures in a row leave e^-0.8 of 52 in 55.98."""
    assert compute_availability(ToolFacts(209, 209)) == pytest.approx(51 / 52)
    assert compute_availability(ToolFacts(10, 9)) == pytest.approx(10 / 12)
    assert compute_availability(ToolFacts(1, 1)) == pytest.approx(2 / 3)
    failed = ToolFacts(209, 209, transient=2, bad=1.98, trouble=1.8, heard=1e9)
    assert compute_availability(failed, now=1e9) == pytest.approx(51 / 53.98 * math.exp(-0.8))
    week = compute_availability(failed, now=1e9 + 7 * 86_400)
    assert week == pytest.approx(51 / 52.99)


@given(st.integers(1, 100), st.integers(0, 100))
def test_much_imported_evidence_says_more_than_little(calls: int, more: int) -> None:
    few, many = (
        compute_availability(ToolFacts(calls, calls)),
        compute_availability(ToolFacts(calls + more, calls + more)),
    )
    assert few is not None
    assert many is not None
    assert few <= many < 1


def weighted(target: str, weight: float, chance: float | None, resolved: bool = True) -> WeightedEdge:
    return WeightedEdge(ToolId(target), weight, chance, resolved, Edge(SOURCE, ToolId(target)))


def test_candidates_are_ranked_by_weight_times_availability() -> None:
    known = [
        weighted("a", 0.3, 0.1),
        weighted("untested", 0.2, None),
        weighted("best", 0.2, 1.0),
        weighted("?/s/lost", 0.9, 1.0, resolved=False),
        weighted(FINISH, 0.9, 1.0),
    ]
    assert [w.target for w in select_top_candidates(known, 10)] == ["best", "untested", "a"]
    assert [w.target for w in select_top_candidates(known, 1)] == ["best"]
    assert select_top_candidates(known, 0) == []


def test_ties_go_by_id() -> None:
    known = [weighted("b", 0.2, None), weighted("c", 0.1, 1.0), weighted("a", 0.2, 0.5)]
    assert [w.target for w in select_top_candidates(known, 3)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "broken",
    [
        {"alpha": 0.0},
        {"alpha": math.nan},
        {"half_life": -1.0},
        {"half_life": math.inf},
        {"beta": 1.1},
        {"beta": math.nan},
        {"gamma": 0.0},
        {"gamma": 1.1},
    ],
)
def test_parameters_that_make_no_sense_are_refused(broken: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        replace(WeightParameters(), **broken)
