"""What every graph store promises of marks and of lessons."""

import asyncio
from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from domain.errors import UsageError
from domain.tool import FINISH, ToolId
from graph.evidence import CallEvidence, apply_calls, to_timestamp
from graph.facts import MAX_LESSONS, Edge, GraphState, LiveBatch, Mark, ToolFacts, ToolLesson
from graph.store import GraphStore
from tests.support.graph_samples import LOST, NOON, A, B, C, batch, called, document, left_after, walked


async def edges(graph: GraphStore) -> list[Edge]:
    return [edge async for edge in graph.stream_edges()]


class GraphEvidence:
    """Needs a fixture ``graph``: an empty store, set up."""

    async def test_a_marked_edge_is_read_with_its_mark(self, graph: GraphStore) -> None:
        await graph.apply(batch("k", {(A, B): 2, (A, C): 1}))
        await graph.mark(A, B, "mute")
        await graph.mark(A, B, "ban")
        banned = Edge(A, B, 2, 0, "ban")
        assert [n.edge for n in await graph.get_out_edges(A)] == await edges(graph) == [banned, Edge(A, C, 1)]
        assert await graph.get_in_edges(B) == [banned]

    async def test_counts_go_on_under_a_mark_and_stay_without(self, graph: GraphStore) -> None:
        await graph.apply(batch("k", {(A, B): 2}))
        await graph.mark(A, B, "pin")
        await graph.learn(walked("r", A, B))
        assert await edges(graph) == [Edge(A, B, 2, 1, "pin", 1.0)]
        await graph.mark(A, B, None)
        assert await edges(graph) == [Edge(A, B, 2, 1, strength=1.0)]

    async def test_an_edge_never_walked_begins_and_ends_with_its_mark(self, graph: GraphStore) -> None:
        await graph.put_tools([document(A), document(B)])
        await graph.mark(A, B, "pin")
        assert await edges(graph) == [Edge(A, B, 0, 0, "pin")]
        for _ in range(2):
            await graph.mark(A, B, None)
            assert await edges(graph) == await graph.get_in_edges(B) == []

    @pytest.mark.parametrize(
        ("source", "target", "mark"), [(A, C, "pin"), (C, A, None), (FINISH, A, "ban"), (A, B, "hide")]
    )
    async def test_a_mark_that_makes_no_sense_is_refused(
        self, graph: GraphStore, source: str, target: str, mark: Mark
    ) -> None:
        await graph.apply(batch("k", {(A, B): 1, (A, FINISH): 1}))
        before = await edges(graph)
        with pytest.raises(UsageError):
            await graph.mark(source, target, mark)  # pyright: ignore[reportArgumentType]
        assert await edges(graph) == before

    async def test_edges_into_a_tool_are_marked_together(self, graph: GraphStore) -> None:
        """Where there is none, none begins; one that was there for its mark alone ends with it."""
        await graph.apply(batch("k", {(A, C): 2, (B, A): 1, (C, C): 3}))
        await graph.mark(B, C, "pin")
        await graph.mark_into(C, [A, B, C, LOST], "mute")
        assert await graph.get_in_edges(C) == [
            Edge(A, C, 2, 0, "mute"),
            Edge(B, C, 0, 0, "mute"),
            Edge(C, C, 3, 0, "mute"),
        ]
        await graph.mark_into(A, [A, C], "ban")
        await graph.mark_into(C, [B, C], None)
        assert await edges(graph) == [Edge(A, C, 2, 0, "mute"), Edge(B, A, 1), Edge(C, C, 3)]
        with pytest.raises(UsageError):
            await graph.mark_into(C, [A], "hide")  # pyright: ignore[reportArgumentType]

    async def test_marks_are_restored(self, graph: GraphStore) -> None:
        moved = [Edge(A, LOST, 0, 0, "pin"), Edge(A, B, 1, 0, "ban"), Edge(A, C, 2)]
        for _ in range(2):
            await graph.restore(GraphState(edges=moved))
            assert await edges(graph) == moved
        await graph.restore(GraphState(edges=[Edge(A, B, 1)]))
        assert (await graph.get_in_edges(B)) == [Edge(A, B, 1)]

    async def test_what_runs_taught_is_kept_newest_first(self, graph: GraphStore) -> None:
        earlier, later = NOON - timedelta(days=1), NOON.astimezone(timezone(timedelta(hours=5)))
        await graph.learn(LiveBatch("r1", {}, ((A, 0.5), (B, -1.0)), ((A, "ok"), (A, "transient")), at=later))
        await graph.learn(LiveBatch("r0", {(B, C): 1}, ((A, 1.0), (A, 0.5)), (), at=earlier))
        await graph.learn(LiveBatch("r2", {}, (), ((A, "gone"),), at=later))
        taught = [
            ToolLesson("r2", NOON, None, ("gone",)),
            ToolLesson("r1", NOON, 0.5, ("ok", "transient")),
            ToolLesson("r0", earlier, 0.75, ()),
        ]
        assert await graph.get_lessons(A) == taught
        assert await graph.get_lessons(C) == []
        assert [lesson async for lesson in graph.stream_lessons()] == [
            *((A, lesson) for lesson in reversed(taught)),
            (B, ToolLesson("r1", NOON, -1.0)),
        ]

    async def test_a_run_learnt_twice_taught_once(self, graph: GraphStore) -> None:
        await graph.learn(walked("r", A))
        await graph.learn(replace(walked("r", A, B), at=NOON + timedelta(1)))
        assert await graph.get_lessons(A) == [ToolLesson("r", NOON, 1.0, ("ok",))]
        assert await graph.get_lessons(B) == []

    async def test_the_newest_lessons_stay(self, graph: GraphStore) -> None:
        for n in range(MAX_LESSONS + 3):
            await graph.learn(replace(walked(f"r{n:02}", A), at=NOON + timedelta(hours=n if n % 2 else -n)))
        kept = await graph.get_lessons(A)
        assert len(kept) == MAX_LESSONS
        assert kept == sorted(kept, key=lambda lesson: lesson.at, reverse=True)
        assert {"r48", "r50", "r52"}.isdisjoint(lesson.run for lesson in kept)

    async def test_lessons_are_restored(self, graph: GraphStore) -> None:
        moved = [(A, ToolLesson("r1", NOON, None, ("ok",))), (B, ToolLesson("r1", NOON, -0.5))]
        for _ in range(2):
            await graph.restore(GraphState(lessons=moved))
            assert [lesson async for lesson in graph.stream_lessons()] == moved
        assert set(await graph.get_facts([A, B])) == {A, B}
        assert (await graph.compute_statistics()).batches == 0

    async def test_lessons_are_streamed_over_pages(self, graph: GraphStore) -> None:
        tools = [document(A).id, B, C, LOST]
        taught = [(tool, ToolLesson(f"r{n:03}", NOON + timedelta(n % 7))) for tool in tools for n in range(MAX_LESSONS)]
        taught += [(ToolId(f"c/s/{n:04}"), ToolLesson("r", NOON)) for n in range(2500)]
        await graph.restore(GraphState(lessons=taught))
        found = [lesson async for lesson in graph.stream_lessons()]
        assert found == sorted(taught, key=lambda one: (one[0], one[1].at, one[1].run))

    async def test_what_is_known_of_a_tool_begins_anew(self, graph: GraphStore) -> None:
        await graph.put_tools([document(A), document(B)])
        await graph.apply(batch("k", {(A, B): 2, (B, FINISH): 1}, {A: 3, B: 1}, {A: 1, B: 1}))
        await graph.learn(walked("r", A, B))
        await graph.mark(A, B, "mute")
        before = (await graph.get_facts([B]))[B]
        for _ in range(2):
            await graph.reset_tools([A, C])
            assert await graph.get_facts([A, B, C]) == {A: ToolFacts(), B: before}
            assert await graph.get_lessons(A) == []
            assert [lesson.run for lesson in await graph.get_lessons(B)] == ["r"]
            assert await edges(graph) == [Edge(A, B, 2, 1, "mute", 1.0), Edge(B, FINISH, 1)]
        assert await graph.get_tools([A]) == {A: document(A)}
        assert not await graph.apply(batch("k", {}, {A: 3}))
        await graph.learn(walked("r2", A))
        assert (await graph.get_facts([A]))[A] == replace(called("ok"), quality=1.0, reliability=1.0)

    async def test_what_runs_said_of_a_tool_is_forgotten_and_what_was_imported_stays(self, graph: GraphStore) -> None:
        await graph.put_tools([document(A), document(B)])
        await graph.apply(batch("k", {(A, B): 2}, {A: 3, B: 1}, {A: 1, B: 1}))
        await graph.learn(walked("r", A, B))
        before = (await graph.get_facts([B]))[B]
        for _ in range(2):
            await graph.forget([A, C])
            assert await graph.get_facts([A, B, C]) == {A: ToolFacts(3, 1), B: before}
            assert await graph.get_lessons(A) == []
            assert await edges(graph) == [Edge(A, B, 2, 1, strength=1.0)]
        assert not await graph.learn(walked("r", A))
        await graph.learn(walked("r2", A))
        assert (await graph.get_facts([A]))[A].good == 1.0

    async def test_what_speaks_against_a_tool_fades_while_nothing_is_heard(self, graph: GraphStore) -> None:
        await graph.learn(LiveBatch("r1", {}, (), ((A, "gone"), (A, "ok")), at=NOON, half_life=2.0))
        await graph.learn(LiveBatch("r2", {}, (), ((A, "transient"),), at=NOON + timedelta(4, 60), half_life=2.0))
        known = apply_calls(
            called("gone", "ok"), CallEvidence.from_outcomes(["transient"]), to_timestamp(NOON + timedelta(4, 60)), 2.0
        )
        found = (await graph.get_facts([A]))[A]
        assert (found.good, found.bad, found.trouble) == pytest.approx((known.good, known.bad, known.trouble))
        assert found.bad < 2
        await graph.learn(LiveBatch("r3", {}, (), ((A, "ok"),), at=NOON, half_life=2.0))
        assert (await graph.get_facts([A]))[A].heard == found.heard == known.heard

    async def test_a_walk_in_vain_adds_nothing(self, graph: GraphStore) -> None:
        await graph.learn(walked("r1", A, B))
        await graph.learn(
            LiveBatch("r2", {(A, B): 1, (A, C): 2}, ((B, -0.25), (C, -1.0)), ((C, "transient"),), at=NOON)
        )
        assert await edges(graph) == [Edge(A, B, 0, 1, strength=0.75)]
        assert set(await graph.get_facts([A, B, C])) == {A, B, C}
        await graph.learn(LiveBatch("r3", {(A, B): 3}, (), ((B, "gone"),), at=NOON))
        assert await edges(graph) == [Edge(A, B, 0, 1)]

    async def test_fifty_learners_at_once_add_up(self, graph: GraphStore) -> None:
        path = [(A, B, C), (C, B, A), (B, LOST, FINISH)]
        runs = [walked(f"r{n}", *path[n % 3][:2], decay=1.0) for n in range(50)]
        assert all(await asyncio.gather(*(graph.learn(run) for run in runs)))
        assert not any(await asyncio.gather(*(graph.learn(run) for run in runs)))
        walks = [pair for run in runs for pair in run.transitions]
        assert {(e.source, e.target): e.live for e in await edges(graph)} == {pair: walks.count(pair) for pair in walks}
        for tool in (A, B, C):
            out = [(pair, walks.count(pair)) for pair in set(walks) if pair[0] == tool]
            strength = sum(edge.strength for edge in await edges(graph) if edge.source == tool)
            assert strength == pytest.approx(left_after(sum(count for _, count in out)))
        for tool, facts in (await graph.get_facts([A, B, C, LOST])).items():
            events = sum(score_of == tool for run in runs for score_of, _ in run.scores)
            assert (facts.ok, facts.quality, facts.reliability) == (events, events, events)
            assert facts.good == pytest.approx(left_after(events))
            assert len(await graph.get_lessons(tool)) == min(events, MAX_LESSONS)
