"""A tool's availability over time, lived through again from what is kept."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.availability_history import replay_availability, split_availability
from graph.backends.in_memory import InMemoryGraph
from graph.evidence import to_timestamp
from graph.facts import MAX_LESSONS, LiveBatch, LiveOutcome
from graph.weights import WeightParameters, compute_availability
from tests.support.graph_samples import NOON, A, batch

outcomes: st.SearchStrategy[LiveOutcome] = st.sampled_from(("ok", "ok", "ok", "transient", "gone"))
runs = st.lists(
    st.tuples(st.lists(outcomes, min_size=1, max_size=3), st.floats(0, 9)), min_size=1, max_size=MAX_LESSONS + 20
)


@given(runs, st.sampled_from(("living", "thesis")))
async def test_it_ends_where_the_tool_stands_and_goes_through_what_it_was(
    history: list[tuple[list[LiveOutcome], float]], form: str
) -> None:
    parameters = WeightParameters("thesis" if form == "thesis" else "living")
    graph, at = InMemoryGraph(), NOON
    await graph.apply(batch("k", {}, {A: 10}, {A: 9}))
    stood: dict[str, float | None] = {}
    for run, (calls, silence) in enumerate(history):
        at += timedelta(days=silence, seconds=1)
        await graph.learn(LiveBatch(f"r{run:03}", {}, (), tuple((A, call) for call in calls), at=at))
        stood[f"r{run:03}"] = compute_availability((await graph.get_facts([A]))[A], parameters, to_timestamp(at))
    found = replay_availability((await graph.get_facts([A]))[A], await graph.get_lessons(A), parameters)
    assert list(found) == list(stood)[-MAX_LESSONS:]
    if len(history) < MAX_LESSONS:
        assert found == pytest.approx(stood)
    elif form == "living":
        assert found[list(found)[-1]] == pytest.approx(stood[list(found)[-1]], abs=0.02)


async def test_what_the_figure_is_made_of_comes_to_the_figure() -> None:
    graph = InMemoryGraph()
    await graph.apply(batch("k", {}, {A: 300}, {A: 297}))
    await graph.learn(LiveBatch("r", {}, (), ((A, "transient"), (A, "transient")), at=NOON))
    facts = (await graph.get_facts([A]))[A]
    for days in (0, 3, 30):
        now = to_timestamp(NOON + timedelta(days=days))
        known = split_availability(facts, WeightParameters(), now)
        assert known is not None
        assert known.long_run * known.of_late == pytest.approx(compute_availability(facts, now=now))
        assert (known.counted, known.silent) == (50, days)
    assert split_availability(facts, WeightParameters("thesis")) is None
