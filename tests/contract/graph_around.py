"""What every graph store promises of the one read that planning makes: it tells what the single questions tell."""

from domain.tool import FINISH, ToolId
from graph.facts import Edge, ToolFacts
from graph.links import FeedLink, LinkedGraph, SubstituteLink, ToolLinks, ToolNeighbourhood
from tests.support.graph_samples import LOST, A, B, C, batch, document, walked


async def asked_one_by_one(graph: LinkedGraph, tool: ToolId) -> ToolNeighbourhood:
    return ToolNeighbourhood(
        facts=(await graph.get_facts([tool]))[tool],
        document=(await graph.get_tools([tool])).get(tool),
        out=await graph.get_out_edges(tool),
        into=await graph.get_in_edges(tool),
        feeds=await graph.get_feeds_into(tool),
        substitutes=await graph.get_substitutes(tool),
    )


class GraphAround:
    """Needs a fixture ``graph``: an empty store, set up."""

    async def test_what_is_around_tools_is_what_single_questions_tell(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A), document(B), document(C)])
        await graph.apply(
            batch("k", {(A, B): 3, (A, LOST): 1, (B, FINISH): 2, (C, A): 1, (LOST, C): 2}, {A: 4}, {A: 3})
        )
        await graph.learn(walked("r", A, C, B))
        await graph.mark(A, B, "pin")
        feeds = [
            FeedLink(A, B, "x[].id", "item", 0.9),
            FeedLink(C, B, "id", "item", 1.0),
            FeedLink(A, B, "key", "q", 0.9),
        ]
        await graph.put_links(
            [ToolLinks(B, feeds, [SubstituteLink(B, C, 0.8, {"q": "query"}), SubstituteLink(B, A, 0.9)])]
        )
        everything = (A, B, C, LOST, FINISH)
        found = await graph.load_neighbourhoods([*everything, A, ToolId("x/y/z")])
        assert found == {tool: await asked_one_by_one(graph, tool) for tool in everything}
        assert found[B].document == document(B)
        assert (found[LOST].document, found[LOST].facts) == (None, ToolFacts())
        assert found[A].out[1].edge == Edge(A, B, 3, 0, "pin")
        assert [feed.source for feed in found[B].feeds] == [C, A, A]
        assert [pair.other for pair in found[B].substitutes] == [A, C]

    async def test_around_nothing_is_nothing(self, graph: LinkedGraph) -> None:
        assert await graph.load_neighbourhoods([]) == await graph.load_neighbourhoods([A]) == {}
        await graph.put_tools([document(A)])
        assert await graph.load_neighbourhoods([A, B]) == {
            A: ToolNeighbourhood(ToolFacts(), document(A), [], [], [], [])
        }
