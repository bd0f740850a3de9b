"""What every graph store promises, sentence by sentence of its protocol. Run against each back end."""

import asyncio
from dataclasses import replace

import pytest

from domain.tool import FINISH, Parameter, ToolDoc, ToolId, make_tool_id
from graph.facts import Edge, GraphStatistics, LiveBatch, LiveOutcome, Neighbour, ToolFacts
from graph.store import GraphStore
from tests.support.graph_samples import LOST, NOON, A, B, C, batch, called, document, left_after, walked


async def all_documents(graph: GraphStore) -> list[ToolDoc]:
    return [tool async for tool in graph.stream_documents()]


class GraphStoreContract:
    """Needs a fixture ``graph``: an empty store, set up."""

    async def test_an_empty_graph_has_nothing(self, graph: GraphStore) -> None:
        assert await graph.compute_statistics() == GraphStatistics(0, 0, 0, 0, 0, 0)
        assert await all_documents(graph) == []
        assert await graph.get_out_edges(A) == []
        assert await graph.get_in_edges(FINISH) == []
        assert await graph.get_facts([A, FINISH]) == {}
        assert await graph.get_tools([A]) == {}
        assert await graph.find_function("f") == []
        assert await graph.find_applied(["k"]) == set()

    async def test_setup_again_keeps_everything(self, graph: GraphStore) -> None:
        await graph.put_tools([document(A)])
        await graph.apply(batch("k", {(A, FINISH): 1}))
        before = await graph.compute_statistics()
        await graph.setup()
        assert await graph.compute_statistics() == before

    async def test_a_document_comes_back_as_it_was(self, graph: GraphStore) -> None:
        whole = ToolDoc(
            id=C,
            category="Wetter ☔",
            toolset="a'b\"c",
            api="x\0y",
            function="fore_cast",
            method="POST",
            url="http://127.0.0.1/{n}",
            description="é" * 5000,
            parameters=(
                Parameter(name="n", type="integer", default=2**80, enum=(1, None, "a"), minimum=-0.5, location="path"),
            ),
            example_response='{"broken": ',
            response_schema="",
            source="test",
            side_effect="reads",
            marked="changes",
        )
        await graph.put_tools([whole])
        assert await graph.get_tools([C]) == {C: whole}

    async def test_a_document_put_again_is_replaced(self, graph: GraphStore) -> None:
        await graph.put_tools([document(A, "old"), document(B, "b")])
        await graph.put_tools([document(A, "new", "better")])
        assert (await graph.get_tools([A]))[A].description == "better"
        assert await graph.find_function("old") == []
        assert await graph.find_function("new") == [A]
        assert (await graph.compute_statistics()).documents == 2

    async def test_of_one_id_put_twice_at_once_the_last_stays(self, graph: GraphStore) -> None:
        await graph.put_tools([document(A, description="first"), document(A, description="last")])
        assert [tool.description for tool in await all_documents(graph)] == ["last"]

    async def test_putting_a_document_keeps_the_facts(self, graph: GraphStore) -> None:
        await graph.apply(batch("k", {(A, B): 2}, {A: 3}, {A: 1}))
        await graph.learn(walked("r", A, B))
        before, edges = await graph.get_facts([A, B]), await graph.get_in_edges(B)
        await graph.put_tools([document(A), document(B)])
        assert await graph.get_facts([A, B]) == before
        assert await graph.get_in_edges(B) == edges

    async def test_a_node_becomes_resolved_with_its_document(self, graph: GraphStore) -> None:
        await graph.apply(batch("k", {(A, B): 1}))
        assert [n.resolved for n in await graph.get_out_edges(A)] == [False]
        assert (await graph.compute_statistics()).unresolved == 2
        await graph.put_tools([document(B)])
        assert [n.resolved for n in await graph.get_out_edges(A)] == [True]
        assert (await graph.compute_statistics()).unresolved == 1

    async def test_asked_for_none_gives_none(self, graph: GraphStore) -> None:
        await graph.put_tools([])
        await graph.put_tools([document(A)])
        assert await graph.get_tools([]) == {}
        assert await graph.get_facts([]) == {}
        assert await graph.find_applied([]) == set()

    async def test_tools_without_a_document_are_left_out(self, graph: GraphStore) -> None:
        await graph.put_tools([document(A)])
        await graph.apply(batch("k", nodes={B}))
        assert set(await graph.get_tools(iter([A, B, C, A]))) == {A}

    async def test_documents_are_streamed_in_order_of_id(self, graph: GraphStore) -> None:
        ids = [make_tool_id("Zoo", "set", f"api {n}") for n in range(1200)] + [make_tool_id("é", "a", "b"), A]
        await graph.put_tools([document(tool) for tool in reversed(ids)])
        assert [tool.id for tool in await all_documents(graph)] == sorted(ids)

    async def test_a_stream_may_be_left_early(self, graph: GraphStore) -> None:
        await graph.put_tools([document(A), document(B)])
        async for tool in graph.stream_documents():
            assert tool.id == A
            break
        await graph.put_tools([document(C)])
        assert len(await all_documents(graph)) == 3

    async def test_functions_are_found_exactly_and_ordered(self, graph: GraphStore) -> None:
        await graph.put_tools([document(C, "same"), document(A, "same"), document(B, "Same")])
        assert await graph.find_function("same") == sorted([A, C])
        assert await graph.find_function("sam") == []

    async def test_counts_of_batches_add_up(self, graph: GraphStore) -> None:
        assert await graph.apply(batch("k1", {(A, B): 2, (B, FINISH): 1}, {A: 3}, {A: 2}))
        assert await graph.apply(batch("k2", {(A, B): 5}, {A: 1, B: 1}, {B: 1}))
        assert [n.edge for n in await graph.get_out_edges(A)] == [Edge(A, B, 7, 0)]
        assert await graph.get_facts([A, B]) == {A: ToolFacts(4, 2), B: ToolFacts(1, 1)}

    async def test_a_batch_is_applied_once(self, graph: GraphStore) -> None:
        assert await graph.apply(batch("k", {(A, B): 2}, {A: 1}))
        assert not await graph.apply(batch("k", {(A, B): 2, (B, C): 1}, {A: 1}))
        assert [n.edge.imported for n in await graph.get_out_edges(A)] == [2]
        assert await graph.get_out_edges(B) == []
        assert await graph.get_facts([A, C]) == {A: ToolFacts(1, 0)}

    async def test_batches_of_runs_and_imports_share_their_keys(self, graph: GraphStore) -> None:
        assert await graph.apply(batch("k1"))
        assert not await graph.learn(walked("k1", A))
        assert await graph.learn(walked("k2", A))
        assert await graph.find_applied(["k1", "k2", "k3", "K1", "k1 "]) == {"k1", "k2"}
        assert (await graph.compute_statistics()).batches == 2

    async def test_the_records_of_a_batch_are_marked_with_it(self, graph: GraphStore) -> None:
        assert await graph.apply(batch("k1", {(A, B): 1}, records={"r1", "r2"}))
        assert await graph.find_applied(["k1", "r1", "r2", "r3"]) == {"k1", "r1", "r2"}
        assert (await graph.compute_statistics()).batches == 3

    async def test_a_batch_with_a_record_counted_before_is_refused_whole(self, graph: GraphStore) -> None:
        await graph.apply(batch("k1", {(A, B): 1}, records={"r1"}))
        assert not await graph.apply(batch("k2", {(A, B): 1, (B, C): 1}, records={"r1", "r2"}))
        assert await graph.find_applied(["k2", "r2"]) == set()
        assert [n.edge.imported for n in await graph.get_out_edges(A)] == [1]
        assert await graph.apply(batch("k2", {(A, B): 1}, records={"r2"}))

    async def test_every_id_that_occurs_becomes_a_node(self, graph: GraphStore) -> None:
        ids = [make_tool_id("c", "s", str(n)) for n in range(5)]
        await graph.apply(batch("k", {(ids[0], ids[1]): 1}, {ids[2]: 0}, nodes={ids[3]}))
        await graph.learn(LiveBatch("r", {}, ((ids[4], 0.5),), ((A, "gone"),)))
        assert set(await graph.get_facts([*ids, A, B])) == {*ids, A}

    async def test_a_transition_counted_zero_times_is_no_edge(self, graph: GraphStore) -> None:
        await graph.apply(batch("k", {(A, B): 0}))
        await graph.learn(LiveBatch("r", {(A, C): 0}, (), ()))
        assert await graph.get_out_edges(A) == []
        assert set(await graph.get_facts([A, B, C])) == {A, B, C}

    async def test_a_run_adds_live_counts_and_new_edges(self, graph: GraphStore) -> None:
        await graph.apply(batch("k", {(A, B): 4}))
        assert await graph.learn(LiveBatch("r", {(A, B): 2, (A, C): 1}, (), ()))
        found = [n.edge for n in await graph.get_out_edges(A)]
        assert [replace(edge, strength=0.0) for edge in found] == [Edge(A, B, 4, 2), Edge(A, C, 0, 1)]
        assert [edge.strength for edge in found] == pytest.approx([left_after(3) * 2 / 3, left_after(3) / 3])

    async def test_a_run_is_learnt_once(self, graph: GraphStore) -> None:
        assert await graph.learn(walked("r", A, B))
        assert not await graph.learn(walked("r", A, B, C))
        assert (await graph.get_facts([A]))[A] == replace(called("ok"), quality=1.0, reliability=1.0)
        assert await graph.get_facts([C]) == {}

    async def test_quality_decays_and_takes_scores_in_order(self, graph: GraphStore) -> None:
        await graph.learn(LiveBatch("r1", {}, ((A, 1.0),), (), decay=0.5))
        await graph.learn(LiveBatch("r2", {}, ((A, -0.5), (B, 0.25), (A, 1.0)), (), decay=0.5))
        facts = await graph.get_facts([A, B])
        assert facts[A].quality == pytest.approx(0.5 * (0.5 * 1.0 - 0.5) + 1.0)
        assert facts[B].quality == 0.25

    async def test_without_decay_quality_is_the_sum_of_the_scores(self, graph: GraphStore) -> None:
        for run in range(4):
            await graph.learn(LiveBatch(str(run), {}, ((A, 0.75),), (), decay=1.0))
        assert (await graph.get_facts([A]))[A].quality == pytest.approx(3.0)

    async def test_outcomes_are_counted_by_class_and_move_reliability(self, graph: GraphStore) -> None:
        outcomes: tuple[tuple[ToolId, LiveOutcome], ...] = (
            (A, "ok"),
            (A, "transient"),
            (A, "gone"),
            (A, "gone"),
            (B, "ok"),
        )
        await graph.learn(LiveBatch("r", {}, (), outcomes, decay=0.5, at=NOON))
        facts = await graph.get_facts([A, B])
        signs = ((0.5 - 1) * 0.5 - 1) * 0.5 - 1
        assert facts[A] == replace(called("ok", "transient", "gone", "gone"), reliability=signs)
        assert facts[B] == replace(called("ok"), reliability=1.0)

    async def test_one_read_gives_the_edges_with_the_facts_of_their_targets(self, graph: GraphStore) -> None:
        await graph.put_tools([document(B)])
        await graph.apply(batch("k", {(A, FINISH): 1, (A, LOST): 2, (A, B): 3, (B, A): 9}, {B: 5}, {B: 4}))
        assert await graph.get_out_edges(A) == [
            Neighbour(Edge(A, LOST, 2), ToolFacts(), resolved=False),
            Neighbour(Edge(A, FINISH, 1), ToolFacts(), resolved=False),
            Neighbour(Edge(A, B, 3), ToolFacts(calls=5, successes=4), resolved=True),
        ]

    async def test_edges_into_a_tool_are_ordered_by_source(self, graph: GraphStore) -> None:
        await graph.apply(batch("k", {(C, FINISH): 1, (LOST, FINISH): 2, (A, FINISH): 3, (A, A): 4}))
        assert await graph.get_in_edges(FINISH) == [Edge(LOST, FINISH, 2), Edge(A, FINISH, 3), Edge(C, FINISH, 1)]
        assert await graph.get_in_edges(A) == [Edge(A, A, 4)]
        assert await graph.get_in_edges(B) == []

    async def test_edges_beside_tools_come_once_and_in_order(self, graph: GraphStore) -> None:
        await graph.apply(
            batch("k", {(C, FINISH): 1, (LOST, C): 2, (A, B): 3, (B, A): 5, (A, A): 4, (LOST, FINISH): 6})
        )
        await graph.mark(A, B, "mute")
        among = [Edge(A, A, 4), Edge(A, B, 3, 0, "mute"), Edge(B, A, 5)]
        assert await graph.find_adjacent_edges([A]) == among
        assert await graph.find_adjacent_edges([B, A, A, ToolId("x/y/z")]) == among
        assert await graph.find_adjacent_edges([C]) == sorted(
            [Edge(C, FINISH, 1), Edge(LOST, C, 2)], key=lambda e: e.source
        )
        assert await graph.find_adjacent_edges([]) == []

    async def test_statistics_keep_finish_apart(self, graph: GraphStore) -> None:
        await graph.put_tools([document(A), document(C)])
        await graph.apply(batch("k", {(A, B): 1, (A, FINISH): 1, (B, FINISH): 2, (A, LOST): 1}))
        assert await graph.compute_statistics() == GraphStatistics(
            documents=2, nodes=4, unresolved=2, transitions=2, finish_transitions=2, batches=1
        )

    async def test_runs_learnt_at_once_are_all_counted(self, graph: GraphStore) -> None:
        assert all(await asyncio.gather(*(graph.learn(walked(f"r{n}", A, B)) for n in range(40))))
        assert [n.edge.live for n in await graph.get_out_edges(A)] == [40]
        assert (await graph.get_facts([B]))[B].ok == 40

    async def test_of_one_batch_applied_at_once_one_wins(self, graph: GraphStore) -> None:
        won = await asyncio.gather(*(graph.apply(batch("k", {(A, B): 1})) for _ in range(10)))
        assert sorted(won) == [False] * 9 + [True]
        assert [n.edge.imported for n in await graph.get_out_edges(A)] == [1]

    async def test_more_ids_than_a_statement_has_parameters(self, graph: GraphStore) -> None:
        ids = [ToolId(f"c/s/{n}") for n in range(40_000)]
        await graph.apply(batch("k", nodes=set(ids[:3])))
        assert set(await graph.get_facts(ids)) == set(ids[:3])

    async def test_closing_twice_is_fine(self, graph: GraphStore) -> None:
        await graph.close()
        await graph.close()
