"""What every graph store promises of documents that are taken away, and of what is left of them."""

from domain.tool import FINISH
from graph.facts import Edge
from graph.links import FeedLink, LinkedGraph, LinkState, SubstituteLink, ToolLinks
from tests.support.graph_samples import LOST, A, B, C, batch, document, walked


class GraphRemoval:
    """Needs a fixture ``graph``: an empty store, set up."""

    async def test_a_document_goes_and_its_node_is_unresolved(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A, "one"), document(B, "two")])
        for _ in range(2):
            await graph.remove_tools([A, LOST])
            assert await graph.get_tools([A, B]) == {B: document(B, "two")}
            assert [one.id async for one in graph.stream_documents()] == [B]
            assert await graph.find_function("one") == []
            assert (await graph.load_neighbourhoods([A]))[A].document is None
            known = await graph.compute_statistics()
            assert (known.documents, known.nodes, known.unresolved) == (1, 2, 1)
            assert await graph.get_removed_tools([A, B]) == {A: document(A, "one")}

    async def test_what_was_learnt_stays_and_a_document_put_again_has_it(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A), document(B)])
        await graph.apply(batch("k", {(A, B): 2, (B, FINISH): 1}, {A: 3}, {A: 2}))
        await graph.learn(walked("r", A, B))
        await graph.mark(A, B, "pin")
        before = (await graph.load_neighbourhoods([A]))[A]
        await graph.remove_tools([A])
        assert (await graph.get_facts([A]))[A] == before.facts
        assert [lesson.run for lesson in await graph.get_lessons(A)] == ["r"]
        assert [edge async for edge in graph.stream_edges()] == [Edge(A, B, 2, 1, "pin", 1.0), Edge(B, FINISH, 1)]
        assert [way.resolved for way in await graph.get_out_edges(A)] == [True]
        await graph.put_tools([document(A, description="anew")])
        assert (await graph.load_neighbourhoods([A]))[A].facts == before.facts
        assert await graph.get_removed_tools([A]) == {}
        assert (await graph.compute_statistics()).unresolved == 0

    async def test_the_target_of_an_edge_is_told_to_be_without_a_document(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A), document(B)])
        await graph.apply(batch("k", {(A, B): 1}))
        await graph.remove_tools([B])
        assert [way.resolved for way in await graph.get_out_edges(A)] == [False]

    async def test_its_links_go_and_those_that_rested_on_it_are_computed_anew(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A), document(B), document(C)])
        await graph.expect_links({A: "a", B: "b", C: "c"})
        feed, kept = FeedLink(A, B, "id", "id", 0.5), FeedLink(C, B, "id", "id", 0.4)
        stands_in = SubstituteLink(C, A, 0.9, {"q": "p"})
        await graph.put_links([ToolLinks(A), ToolLinks(B, [feed, kept]), ToolLinks(C, [], [stands_in])])
        await graph.remove_tools([A])
        assert await graph.get_feeds_into(B) == [kept]
        assert await graph.get_substitutes(C) == []
        assert await graph.get_link_states() == {B: LinkState("b", pending=True), C: LinkState("c", pending=True)}

    async def test_nothing_asked_for_changes_nothing(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A)])
        await graph.remove_tools([])
        assert await graph.get_tools([A]) == {A: document(A)}
        assert await graph.get_removed_tools([]) == {}
