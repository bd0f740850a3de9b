"""The thesis's own form of the weights (3.4.1 and 3.4.2), in figures that were worked out by hand."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.tool import FINISH
from graph.backends.in_memory import InMemoryGraph
from graph.facts import LiveBatch, Neighbour, ToolFacts
from graph.weights import WeightParameters, compute_availability, compute_transition_weights
from tests.support.graph_samples import A, B, C, batch
from tests.unit.graph.test_weights import edge, neighbourhoods

THESIS = WeightParameters("thesis")


def weights(*neighbours: Neighbour, parameters: WeightParameters = THESIS) -> list[float]:
    return [w.weight for w in compute_transition_weights(neighbours, parameters)]


def test_a_static_weight_is_the_share_of_the_walks() -> None:
    """w_ij = E[tool_s = i and tool_s+1 = j] / E[tool_s = i]: 3 and 1 of 4, whatever the scores, while nothing is live."""
    assert weights(edge("a", 3, quality=2.0), edge(FINISH, 1)) == [0.75, 0.25]


def test_a_dynamic_weight_by_hand() -> None:
    """β = 0.5, s = (2, -1), f(s) = (3, e^-1): 0.5 · 3/4 + 0.5 · 3/(3 + e^-1), and the rest."""
    low = math.exp(-1)
    first = 0.5 * 0.75 + 0.5 * 3 / (3 + low)
    assert weights(edge("a", 3, 1, quality=2.0), edge("b", 1, 1, quality=-1.0)) == pytest.approx([first, 1 - first])


def test_alpha_and_beta_are_taken_as_they_are_set() -> None:
    """α = 0.5, β = 0.2: f(2) = 2, f(0) = 1."""
    chosen = WeightParameters("thesis", alpha=0.5, beta=0.2)
    found = weights(edge("a", 3, 1, quality=2.0), edge("b", 1), parameters=chosen)
    assert found == pytest.approx([0.2 * 0.75 + 0.8 * 2 / 3, 0.2 * 0.25 + 0.8 / 3])


def test_what_was_never_imported_goes_by_its_scores_alone() -> None:
    assert weights(edge("a", 0, 1, quality=1.0), edge(FINISH, 0, 1)) == pytest.approx([2 / 3, 1 / 3])


def test_finish_is_a_tool_like_others() -> None:
    """s(Finish) = 3: f = 4 beside f(0) = 1."""
    ended = edge(FINISH, 1, 1)
    assert weights(edge("a", 1), replace(ended, facts=ToolFacts(quality=3.0))) == pytest.approx([0.35, 0.65])


@given(neighbourhoods(), st.floats(0.01, 1), st.integers(0, 12))
def test_a_better_score_never_lowers_a_weight(neighbours: list[Neighbour], delta: float, place: int) -> None:
    place %= len(neighbours)
    scored = neighbours[place]
    better = replace(scored, facts=replace(scored.facts, quality=scored.facts.quality + delta))
    before = weights(*neighbours)[place]
    after = weights(*neighbours[:place], better, *neighbours[place + 1 :])[place]
    assert after >= before or after == pytest.approx(before)


def test_availability_by_hand() -> None:
    """v(0) = 9/10. After one failure s = -1, f = e^-1; of it and one neighbour of which nothing is known, f(0) = 1."""
    low = math.exp(-1)
    assert compute_availability(ToolFacts(10, 9), THESIS) == 0.9
    failed = ToolFacts(10, 9, transient=1, reliability=-1.0)
    assert compute_availability(failed, THESIS) == pytest.approx(0.5 * 0.9 + 0.5 * low / (low + 1))
    assert compute_availability(ToolFacts(ok=1, reliability=1.0), THESIS) == pytest.approx(2 / 3)
    assert compute_availability(ToolFacts(), THESIS) is None


async def test_a_run_learnt_by_hand() -> None:
    """γ = 0.5. A -> B -> Finish twice, scored 1 each: s(B) = 1.5, s(Finish) = 1.5; A -> C imported once, A -> B once."""
    graph = InMemoryGraph()
    await graph.apply(batch("k", {(A, B): 1, (A, C): 1}))
    for run in ("r1", "r2"):
        scores = ((A, 1.0), (B, 1.0), (FINISH, 1.0))
        await graph.learn(LiveBatch(run, {(A, B): 1, (B, FINISH): 1}, scores, ((B, "ok"),), decay=0.5))
    facts = await graph.get_facts([B, FINISH])
    assert (facts[B].quality, facts[FINISH].quality, facts[B].reliability) == (1.5, 1.5, 1.5)
    found = {w.target: w.weight for w in compute_transition_weights(await graph.get_out_edges(A), THESIS)}
    assert found == pytest.approx({B: 0.25 + 0.5 * 2.5 / 3.5, C: 0.25 + 0.5 / 3.5})
    assert await graph.get_lessons(FINISH) == []


async def test_without_fading_scores_are_summed_up_as_in_the_thesis() -> None:
    """γ = 1: s = Σ Δ = 0.5 + 0.25 - 1."""
    graph = InMemoryGraph()
    for run, score in enumerate((0.5, 0.25, -1.0)):
        await graph.learn(LiveBatch(str(run), {}, ((A, score),), (), decay=1.0))
    assert (await graph.get_facts([A]))[A].quality == pytest.approx(-0.25)
