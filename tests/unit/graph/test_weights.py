"""The formulas of the tool graph: their properties, and figures worked out by hand."""

import math
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from domain.errors import UsageError
from domain.tool import FINISH, ToolId
from graph.facts import Edge, Neighbour, ToolFacts
from graph.weights import Weighted, WeightParameters, availability, score_map, top_candidates, transition_weights

SOURCE = ToolId("c/s/source")

qualities = st.floats(-1e6, 1e6)
counts = st.integers(0, 10_000)
parameters = st.builds(WeightParameters, st.floats(0.01, 10), st.floats(0.01, 1000), st.none() | st.floats(0, 1))
facts = st.builds(
    ToolFacts,
    st.integers(5_000, 10_000) | st.just(0),
    st.just(0),
    counts,
    counts,
    counts,
    qualities,
    st.floats(-50, 50),
) | st.builds(ToolFacts, st.just(10_000), counts)


@st.composite
def neighbourhoods(draw: st.DrawFn) -> list[Neighbour]:
    """Out-edges of one node, Finish perhaps among them; every edge was counted at least once."""
    names = [ToolId(f"c/s/{n}") for n in range(draw(st.integers(1, 12)))]
    targets = [*names, FINISH] if draw(st.booleans()) else names
    seen = st.tuples(counts, counts).filter(any)
    drawn = [(target, *draw(seen), draw(facts)) for target in targets]
    return [Neighbour(Edge(SOURCE, t, imported, live), f, t != FINISH) for t, imported, live, f in drawn]


def edge(target: str, imported: int, live: int = 0, quality: float = 0.0) -> Neighbour:
    return Neighbour(Edge(SOURCE, ToolId(target), imported, live), ToolFacts(quality=quality), target != FINISH)


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
    weights = [w.weight for w in transition_weights(neighbours, chosen)]
    assert math.fsum(weights) == pytest.approx(1)
    assert min(weights) >= 0


@given(neighbourhoods(), parameters)
def test_nothing_moves_before_the_first_run(neighbours: list[Neighbour], chosen: WeightParameters) -> None:
    before = [replace(n, edge=replace(n.edge, imported=n.edge.imported + 1, live=0)) for n in neighbours]
    total = sum(n.edge.imported for n in before)
    for neighbour, weighted in zip(before, transition_weights(before, chosen), strict=True):
        assert weighted.weight == pytest.approx(neighbour.edge.imported / total)


@given(neighbourhoods(), parameters, st.floats(0.01, 1), st.integers(0, 12))
def test_a_better_score_never_lowers_a_weight(
    neighbours: list[Neighbour], chosen: WeightParameters, delta: float, place: int
) -> None:
    place %= len(neighbours)
    scored = neighbours[place]
    assume(scored.edge.target != FINISH)
    better = replace(scored, facts=replace(scored.facts, quality=scored.facts.quality + delta))
    before = transition_weights(neighbours, chosen)[place].weight
    after = transition_weights([*neighbours[:place], better, *neighbours[place + 1 :]], chosen)[place].weight
    assert after >= before or after == pytest.approx(before)


def test_a_better_score_raises_the_weight_and_lowers_the_others() -> None:
    before = transition_weights([edge("a", 1, 1), edge("b", 1, 1)])
    after = transition_weights([edge("a", 1, 1, quality=0.5), edge("b", 1, 1)])
    assert after[0].weight > before[0].weight
    assert after[1].weight < before[1].weight


def test_a_mixed_weight_worked_by_hand() -> None:
    """n = (3, 1), live = (0, 5): β = 5 / 10. f(q) = (2, e^-1)."""
    weights = transition_weights([edge("a", 3, 0, quality=1.0), edge("b", 1, 5, quality=-1.0)])
    low = math.exp(-1)
    assert weights[0].weight == pytest.approx(0.5 * 0.75 + 0.5 * 2 / (2 + low))
    assert weights[1].weight == pytest.approx(0.5 * 0.25 + 0.5 * low / (2 + low))


def test_live_edges_alone_are_used_from_the_first_run_on() -> None:
    weights = transition_weights([edge("a", 0, 1, quality=1.0), edge(FINISH, 0, 1)])
    assert [w.weight for w in weights] == [pytest.approx(2 / 3), pytest.approx(1 / 3)]


def test_a_new_edge_beside_imported_ones_has_weight_from_its_first_run_on() -> None:
    assert transition_weights([edge("a", 9), edge("new", 0, 1)])[1].weight == pytest.approx(1 / 6 * 1 / 2)


def test_finish_is_never_scored() -> None:
    neighbours = [edge("a", 1, 1), edge(FINISH, 1, 1)]
    scored = [neighbours[0], replace(neighbours[1], facts=ToolFacts(quality=9.0))]
    assert transition_weights(neighbours) == transition_weights(scored)


def test_a_fixed_beta_holds_from_the_first_run_on() -> None:
    chosen = WeightParameters(fixed_beta=0.25)
    assert transition_weights([edge("a", 3), edge("b", 1)], chosen)[0].weight == 0.75
    mixed = transition_weights([edge("a", 3, 1), edge("b", 1)], chosen)[0].weight
    assert mixed == pytest.approx(0.25 * 0.75 + 0.75 * 0.5)


def test_no_edges_have_no_weights() -> None:
    assert transition_weights([]) == []


@given(facts, parameters)
def test_availability_is_a_chance_or_untested(tool: ToolFacts, chosen: WeightParameters) -> None:
    value = availability(tool, chosen)
    untested = not (tool.calls or tool.ok or tool.transient or tool.gone)
    assert value is None if untested else value is not None and 0 <= value <= 1


@given(st.integers(1, 100), st.integers(0, 100))
def test_before_the_first_live_call_availability_is_the_imported_share(calls: int, failures: int) -> None:
    assert availability(ToolFacts(calls + failures, calls)) == calls / (calls + failures)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 50))
def test_a_hard_error_weighs_four_soft_ones(ok: int, transient: int, gone: int) -> None:
    hard = ToolFacts(10, 9, ok, transient, gone, reliability=-1.0)
    assert availability(hard) == availability(replace(hard, transient=transient + 4 * gone, gone=0))


def test_availability_worked_by_hand() -> None:
    """v(0) = 0.9; one hard error: β = 5 / 9, f(-1) = e^-1."""
    low = math.exp(-1)
    current = low / (low + 1)
    assert availability(ToolFacts(10, 9, gone=1, reliability=-1.0)) == pytest.approx(5 / 9 * 0.9 + 4 / 9 * current)
    assert availability(ToolFacts(gone=1, reliability=-1.0)) == pytest.approx(current)
    assert availability(ToolFacts(ok=1, reliability=1.0)) == pytest.approx(2 / 3)


@given(st.integers(1, 30))
def test_each_failure_in_a_row_lowers_availability(failures: int) -> None:
    def after(count: int) -> float:
        reliability = 0.0
        for _ in range(count):
            reliability = 0.8 * reliability - 1
        return availability(ToolFacts(10, 9, transient=count, reliability=reliability)) or 0.0

    assert after(failures) < after(failures - 1)


def weighted(target: str, weight: float, chance: float | None, resolved: bool = True) -> Weighted:
    return Weighted(ToolId(target), weight, chance, resolved, Edge(SOURCE, ToolId(target)))


def test_candidates_are_ranked_by_weight_times_availability() -> None:
    known = [
        weighted("a", 0.3, 0.1),
        weighted("untested", 0.2, None),
        weighted("best", 0.2, 1.0),
        weighted("?/s/lost", 0.9, 1.0, resolved=False),
        weighted(FINISH, 0.9, 1.0),
    ]
    assert [w.target for w in top_candidates(known, 10)] == ["best", "untested", "a"]
    assert [w.target for w in top_candidates(known, 1)] == ["best"]
    assert top_candidates(known, 0) == []


def test_ties_go_by_id() -> None:
    known = [weighted("b", 0.2, None), weighted("c", 0.1, 1.0), weighted("a", 0.2, 0.5)]
    assert [w.target for w in top_candidates(known, 3)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "broken",
    [
        {"alpha": 0.0},
        {"alpha": math.nan},
        {"n0": -1.0},
        {"n0": math.inf},
        {"fixed_beta": 1.1},
        {"fixed_beta": math.nan},
    ],
)
def test_parameters_that_make_no_sense_are_refused(broken: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        WeightParameters(**broken)
