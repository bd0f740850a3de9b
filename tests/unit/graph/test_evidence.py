"""The properties of living weights, over generated histories of runs (docs/adr/0018-living-weights.md)."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.tool import FINISH, ToolId
from graph.backends.in_memory import InMemoryGraph
from graph.evidence import MAX_EVIDENCE, RETENTION, CallEvidence, apply_calls, apply_walks, fade_facts, fold_walks
from graph.facts import Edge, LiveBatch, LiveOutcome, Neighbour, ToolFacts
from graph.weights import compute_availability, compute_transition_weights, is_failing
from tests.support.graph_samples import A, B, C, batch

NOW = 1.8e9
DAY = 86_400.0

outcomes: st.SearchStrategy[LiveOutcome] = st.sampled_from(("ok", "transient", "gone"))
imported = st.integers(0, 400).flatmap(lambda n: st.builds(ToolFacts, st.just(n), st.integers(0, n)))
histories = st.lists(st.tuples(outcomes, st.floats(0, 20)), max_size=60)
"""Calls, each with the days of silence before it."""
FIRST: tuple[list[LiveOutcome], ...] = (["ok"], ["transient"], ["gone"])
targets = st.sampled_from((A, B, C, FINISH))
paths = st.lists(st.tuples(targets, st.sampled_from((-1.0, -0.5, 0.0, 0.5, 1.0))), max_size=40)
counts = st.dictionaries(targets, st.integers(0, 500), max_size=4)
SOURCE = ToolId("c/s/source")


def after(facts: ToolFacts, history: Sequence[tuple[LiveOutcome, float]]) -> tuple[ToolFacts, float]:
    """The facts after a history, and when it ended."""
    at = NOW
    for outcome, silence in history:
        at += silence * DAY
        facts = apply_calls(facts, CallEvidence.from_outcomes([outcome]), at, 7.0)
    return facts, at


def same(outcome: LiveOutcome, count: int) -> list[tuple[LiveOutcome, float]]:
    """So many calls at once that ended alike."""
    return [(outcome, 0.0)] * count


def chance(facts: ToolFacts, at: float) -> float:
    value = compute_availability(facts, now=at)
    return 0.5 if value is None else value  # as an untested tool is ranked


@given(imported, histories, st.floats(0, 20), st.integers(1, 8))
def test_a_success_never_lowers_and_a_failure_never_raises_availability(
    facts: ToolFacts, history: list[tuple[LiveOutcome, float]], silence: float, count: int
) -> None:
    known, at = after(facts, history)
    now = at + silence * DAY
    before = chance(known, now)
    good, bad, gone = (apply_calls(known, CallEvidence.from_outcomes(one * count), now, 7.0) for one in FIRST)
    if known.calls or history:
        assert chance(good, now) >= before - 1e-12
        assert chance(bad, now) <= before + 1e-12
        assert chance(gone, now) <= chance(bad, now) + 1e-12


def test_the_first_call_of_a_tool_tells_on_its_side() -> None:
    good, bad, _ = (apply_calls(ToolFacts(), CallEvidence.from_outcomes(one), NOW, 7.0) for one in FIRST)
    assert chance(bad, NOW) < 0.5 < chance(good, NOW)


@given(histories)
def test_evidence_is_bounded_and_calls_at_once_are_as_calls_in_turn(history: list[tuple[LiveOutcome, float]]) -> None:
    one_by_one = ToolFacts()
    calls: list[LiveOutcome] = [outcome for outcome, _ in history]
    for call in calls:
        one_by_one = apply_calls(one_by_one, CallEvidence.from_outcomes([call]), NOW, 7.0)
    at_once = apply_calls(ToolFacts(), CallEvidence.from_outcomes(calls), NOW, 7.0)
    for name in ("ok", "transient", "gone", "good", "bad", "trouble"):
        assert getattr(at_once, name) == pytest.approx(getattr(one_by_one, name))
    assert 0 <= at_once.good <= MAX_EVIDENCE
    assert 0 <= at_once.bad <= MAX_EVIDENCE
    assert 0 <= at_once.trouble <= 5


@given(imported, histories, st.floats(0, 60), st.floats(0, 60))
def test_silence_speaks_for_a_tool_and_never_against_it(
    facts: ToolFacts, history: list[tuple[LiveOutcome, float]], first: float, second: float
) -> None:
    known, at = after(facts, history)
    assert chance(known, at + first * DAY) <= chance(known, at + (first + second) * DAY) + 1e-12


def test_much_imported_evidence_moves_slowly_and_little_quickly() -> None:
    much, little = ToolFacts(209, 209), ToolFacts(1, 1)
    failed = [apply_calls(one, CallEvidence.from_outcomes(["transient"]), NOW, 7.0) for one in (much, little)]
    assert chance(much, NOW) - chance(failed[0], NOW) < 0.02
    assert chance(little, NOW) - chance(failed[1], NOW) > 0.15


@pytest.mark.parametrize("used", ["both", "much", "few"])
def test_209_of_209_stays_above_9_of_10_through_a_hundred_good_runs(used: str) -> None:
    much, few = ToolFacts(209, 209), ToolFacts(10, 9)
    assert chance(much, NOW) > chance(few, NOW)
    for _ in range(100):
        if used in ("both", "much"):
            much = apply_calls(much, CallEvidence.from_outcomes(["ok"]), NOW, 7.0)
        if used in ("both", "few"):
            few = apply_calls(few, CallEvidence.from_outcomes(["ok"]), NOW, 7.0)
        assert chance(much, NOW) > chance(few, NOW)


def test_a_hundred_good_runs_do_not_lower_a_tool() -> None:
    facts = ToolFacts(209, 209)
    known = [chance(facts, NOW)]
    for _ in range(100):
        facts = apply_calls(facts, CallEvidence.from_outcomes(["ok"]), NOW, 7.0)
        known.append(chance(facts, NOW))
    assert known == sorted(known)


def test_five_failures_in_a_row_are_enough_and_three_good_calls_bring_a_mended_tool_back() -> None:
    broken, _ = after(ToolFacts(209, 209), same("transient", 5))
    assert chance(broken, NOW) < 0.2
    assert is_failing(broken, now=NOW)
    mended, _ = after(broken, same("ok", 3))
    assert chance(mended, NOW) > 0.85
    assert not is_failing(mended, now=NOW)


def test_old_evidence_fades() -> None:
    broken, at = after(ToolFacts(209, 209), same("transient", 20))
    assert chance(broken, at) < 0.05
    assert chance(broken, at + 35 * DAY) > 0.9
    assert not is_failing(broken, now=at + 35 * DAY)
    half = fade_facts(broken, at + 7 * DAY, 7.0)
    assert (half.bad, half.trouble) == (broken.bad / 2, broken.trouble / 2)
    assert fade_facts(broken, at - DAY, 7.0) == broken
    unknown = replace(broken, heard=0.0)
    assert fade_facts(unknown, at, 7.0) == unknown


def shares(edges: dict[ToolId, Edge]) -> dict[ToolId, float]:
    weighted = compute_transition_weights([Neighbour(edge, ToolFacts(), True) for edge in edges.values()])
    return {one.target: one.weight for one in weighted}


def walk(edges: dict[ToolId, Edge], run: LiveBatch) -> dict[ToolId, Edge]:
    found = fold_walks(run)
    return apply_walks(edges, SOURCE, found[SOURCE]) if found else edges


def walked(steps: Sequence[tuple[ToolId, float]]) -> LiveBatch:
    """A run with these steps out of the source, each scored so."""
    transitions = {(SOURCE, target): sum(one == target for one, _ in steps) for target, _ in steps}
    scores = tuple((target, score) for target, score in steps if target != FINISH)
    return LiveBatch("r", transitions, scores, ())


@given(counts, paths, targets, st.sampled_from((1.0, 0.5)))
def test_a_walked_edge_never_falls_and_one_walked_in_vain_never_rises(
    beginning: dict[ToolId, int], path: list[tuple[ToolId, float]], target: ToolId, score: float
) -> None:
    edges = {one: Edge(SOURCE, one, count) for one, count in beginning.items() if count}
    for step in path:
        edges = walk(edges, walked([step]))
        if edges:
            assert math.fsum(shares(edges).values()) == pytest.approx(1)
    before = shares(edges) if edges else {}
    good = shares(walk(edges, walked([(target, score)])))
    assert good[target] >= before.get(target, 0.0) - 1e-12
    if target != FINISH:
        bad = walk(edges, walked([(target, -score)]))
        assert (shares(bad) if bad else {}).get(target, 0.0) <= before.get(target, 0.0) + 1e-12
        failed = replace(walked([(target, 1.0)]), scores=(), outcomes=((target, "transient"),))
        assert (shares(found) if (found := walk(edges, failed)) else {}).get(target, 0.0) <= before.get(
            target, 0.0
        ) + 1e-12


@given(counts, paths, st.sets(targets, min_size=2, max_size=3))
def test_several_edges_walked_out_of_one_node_never_fall_together(
    beginning: dict[ToolId, int], path: list[tuple[ToolId, float]], several: set[ToolId]
) -> None:
    edges = {one: Edge(SOURCE, one, count) for one, count in beginning.items() if count}
    for step in path:
        edges = walk(edges, walked([step]))
    before = shares(edges) if edges else {}
    found = shares(walk(edges, walked([(one, 1.0) for one in sorted(several)])))
    assert sum(found[one] for one in several) >= sum(before.get(one, 0.0) for one in several) - 1e-12


def test_a_run_that_succeeded_lowers_none_of_its_edges_whatever_its_steps_were_scored() -> None:
    edges = {B: Edge(SOURCE, B, 3), C: Edge(SOURCE, C, 3)}
    run = LiveBatch("r", {(SOURCE, B): 1, (B, FINISH): 1}, ((B, -1.0),), ((B, "ok"),))
    assert shares(walk(edges, run))[B] == 0.5


def test_walks_by_hand() -> None:
    """One walk keeps .98 of what was there and adds 1; two at once keep .98² and share 1.98."""
    edges = {B: Edge(SOURCE, B, 0, 4, strength=4.0), C: Edge(SOURCE, C, 0, 2, strength=2.0)}
    one = walk(edges, walked([(B, 1.0)]))
    assert (one[B].strength, one[C].strength) == pytest.approx((4 * RETENTION + 1, 2 * RETENTION))
    two = walk(edges, walked([(B, 1.0), (C, 1.0)]))
    assert (two[B].strength, two[C].strength) == pytest.approx((4 * RETENTION**2 + 0.99, 2 * RETENTION**2 + 0.99))
    lost = walk(edges, walked([(B, -1.0)]))
    assert (lost[B].strength, lost[B].live, lost[C]) == (3.0, 4, edges[C])


@given(st.permutations(range(50)))
async def test_fifty_runs_in_any_order_leave_the_same_counts_and_as_much_evidence(order: list[int]) -> None:
    graph = InMemoryGraph()
    await graph.apply(batch("k", {(A, B): 3, (A, C): 2}, {B: 9}, {B: 8}))
    at = datetime.fromtimestamp(NOW, UTC)
    for run in order:
        target = B if run % 2 else C
        when = at + timedelta(seconds=run)
        await graph.learn(LiveBatch(f"r{run}", {(A, target): 1}, ((target, 1.0),), ((target, "ok"),), at=when))
    facts = await graph.get_facts([B, C])
    assert [(facts[one].ok, facts[one].good) for one in (B, C)] == [
        (25, pytest.approx((1 - RETENTION**25) / (1 - RETENTION)))
    ] * 2
    out = {n.edge.target: n.edge for n in await graph.get_out_edges(A)}
    assert (out[B].live, out[C].live) == (25, 25)
    assert out[B].strength + out[C].strength == pytest.approx((1 - RETENTION**50) / (1 - RETENTION))
