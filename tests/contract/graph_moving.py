"""What a graph store promises to whoever moves it: everything can be read in order, and set elsewhere as it was."""

from dataclasses import replace

import pytest

from domain.errors import UsageError
from domain.tool import FINISH, ToolId
from graph.facts import Edge, GraphState, GraphStatistics, LiveBatch, ToolFacts
from graph.store import GraphStore
from tests.support.graph_samples import LOST, A, B, C, batch, called, document, walked

FACTS = ToolFacts(7, 3, 4, 2, 1, 0.1 + 0.2, -1.75, 3.9, 5.5, 1.25, 1.7e9)


async def whole(graph: GraphStore) -> GraphState:
    """Everything but the documents."""
    return GraphState(
        {tool: facts async for tool, facts in graph.stream_nodes()},
        [edge async for edge in graph.stream_edges()],
        [key async for key in graph.stream_applied_keys()],
    )


class GraphMoving:
    """Needs a fixture ``graph``: an empty store, set up."""

    async def test_an_empty_graph_streams_nothing(self, graph: GraphStore) -> None:
        assert await whole(graph) == GraphState({}, [], [])

    async def test_everything_is_streamed_in_order(self, graph: GraphStore) -> None:
        await graph.put_tools([document(C)])
        await graph.apply(batch("k2", {(B, FINISH): 1, (A, LOST): 2, (A, B): 3}, {A: 4}, {A: 2}))
        await graph.learn(walked("k1", A, C))
        found = await whole(graph)
        assert list(found.nodes) == sorted([LOST, FINISH, A, B, C])
        assert found.nodes[A] == replace(called("ok"), calls=4, successes=2, quality=1.0, reliability=1.0)
        assert found.edges == [Edge(A, LOST, 2), Edge(A, B, 3), Edge(A, C, 0, 1, strength=1.0), Edge(B, FINISH, 1)]
        assert found.keys == ["k1", "k2"]

    async def test_streams_go_on_over_pages(self, graph: GraphStore) -> None:
        ids = [ToolId(f"c/s/{n:04}") for n in range(1500)]
        hub = {(ids[700], target): 1 for target in ids}
        chain = {(source, FINISH): 2 for source in ids}
        await graph.apply(batch("k", hub | chain))
        await graph.restore(GraphState(keys=[f"r{n:04}" for n in range(1200)]))
        found = await whole(graph)
        assert list(found.nodes) == sorted([*ids, FINISH])
        assert [(edge.source, edge.target) for edge in found.edges] == sorted(hub | chain)
        assert found.keys == ["k", *(f"r{n:04}" for n in range(1200))]

    async def test_a_stream_of_edges_may_be_left_early(self, graph: GraphStore) -> None:
        await graph.apply(batch("k", {(A, B): 1, (B, C): 1}))
        async for edge in graph.stream_edges():
            assert edge == Edge(A, B, 1)
            break
        assert len((await whole(graph)).edges) == 2

    async def test_what_is_restored_is_there(self, graph: GraphStore) -> None:
        await graph.put_tools([document(A)])
        moved = GraphState(
            {FINISH: ToolFacts(), A: FACTS, B: ToolFacts()},
            [Edge(A, FINISH, 2**40, 1), Edge(A, B, 0, 5, None, 4.75)],
            ["k1", "k2"],
        )
        for _ in range(2):
            await graph.restore(moved)
            assert await whole(graph) == GraphState(dict(sorted(moved.nodes.items())), moved.edges, moved.keys)
        assert (await graph.get_out_edges(A))[0].edge == Edge(A, FINISH, 2**40, 1)
        assert await graph.get_in_edges(B) == [Edge(A, B, 0, 5, None, 4.75)]
        assert await graph.find_applied(["k1", "k3"]) == {"k1"}
        assert [tool async for tool in graph.stream_documents()] == [document(A)]
        assert await graph.compute_statistics() == GraphStatistics(1, 2, 1, 1, 1, 2)

    async def test_restoring_sets_and_does_not_add(self, graph: GraphStore) -> None:
        await graph.apply(batch("k", {(A, B): 9}, {A: 9}, {A: 9}))
        await graph.restore(GraphState({A: FACTS}, [Edge(A, B, 1, 2)]))
        found = await whole(graph)
        assert (found.nodes[A], found.edges, found.keys) == (FACTS, [Edge(A, B, 1, 2)], ["k"])

    async def test_ends_of_restored_edges_become_nodes(self, graph: GraphStore) -> None:
        await graph.restore(GraphState({A: FACTS}, [Edge(A, B, 1), Edge(B, FINISH, 1)]))
        assert (await whole(graph)).nodes == {A: FACTS, B: ToolFacts(), FINISH: ToolFacts()}

    async def test_a_restored_store_counts_and_learns_on(self, graph: GraphStore) -> None:
        await graph.restore(GraphState({A: FACTS}, [Edge(A, B, 1, 2)], ["k", "r"]))
        assert not await graph.apply(batch("k", {(A, B): 1}))
        assert not await graph.learn(walked("r", A, B))
        assert await graph.learn(LiveBatch("s", {(A, B): 1}, ((A, 1.0),), ((A, "ok"),), decay=0.5))
        facts = (await graph.get_facts([A]))[A]
        assert (facts.quality, facts.reliability) == (0.5 * FACTS.quality + 1.0, 0.5 * FACTS.reliability + 1.0)
        assert await graph.get_in_edges(B) == [Edge(A, B, 1, 3, strength=1.0)]

    @pytest.mark.parametrize(
        "broken",
        [
            GraphState({A: ToolFacts(calls=-1)}),
            GraphState({A: ToolFacts(calls=1, successes=2)}),
            GraphState({A: ToolFacts(gone=2**63)}),
            GraphState({A: ToolFacts(quality=float("nan"))}),
            GraphState({A: ToolFacts(reliability=float("-inf"))}),
            GraphState({A: ToolFacts(bad=-0.5)}),
            GraphState({A: ToolFacts(heard=float("inf"))}),
            GraphState(edges=[Edge(A, B, 1, strength=-1.0)]),
            GraphState(edges=[Edge(A, B, 1), Edge(A, C, 2, -1)]),
            GraphState(edges=[Edge(A, B, 0, 0)]),
            GraphState(edges=[Edge(FINISH, A, 1)]),
            GraphState({A: FACTS}, [Edge(A, B, 1)], ["k", ""]),
        ],
    )
    async def test_what_no_store_can_hold_is_refused_whole(self, graph: GraphStore, broken: GraphState) -> None:
        with pytest.raises(UsageError):
            await graph.restore(broken)
        assert await graph.compute_statistics() == GraphStatistics(0, 0, 0, 0, 0, 0)
