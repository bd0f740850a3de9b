"""What every link store promises."""

import pytest

from domain.errors import UsageError
from graph.links import FeedLink, LinkCounts, LinkedGraph, LinkState, SubstituteLink, ToolLinks
from tests.support.graph_samples import LOST, A, B, C, document

INTO_B = [
    FeedLink(A, B, "items[].id", "item", 0.95),
    FeedLink(C, B, "id", "item", 1.0),
    FeedLink(A, B, "key", "ü", 0.95),
]


class LinkStoreContract:
    """Needs a fixture ``graph``: an empty store, set up."""

    async def test_an_empty_graph_has_no_links(self, graph: LinkedGraph) -> None:
        assert await graph.count_links() == LinkCounts(0, 0, 0)
        assert await graph.get_link_states() == {}
        assert await graph.get_feeds_out(A) == await graph.get_feeds_into(A) == await graph.get_substitutes(A) == []
        assert await graph.find_linked_tools([A]) == set()

    async def test_links_are_read_from_both_ends_best_first(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A), document(B), document(C)])
        pairs = [SubstituteLink(B, A, 0.7), SubstituteLink(B, C, 0.9, {"q": "query", "n": "limit"})]
        await graph.put_links([ToolLinks(B, INTO_B, pairs), ToolLinks(C, [FeedLink(A, C, "x", "y", 0.6)])])
        assert await graph.get_feeds_into(B) == [INTO_B[1], INTO_B[0], INTO_B[2]]
        assert await graph.get_feeds_out(A) == [INTO_B[0], INTO_B[2], FeedLink(A, C, "x", "y", 0.6)]
        assert await graph.get_substitutes(B) == pairs[::-1]
        assert await graph.get_substitutes(A) == []
        assert await graph.find_linked_tools([A]) == {B, C}
        assert await graph.find_linked_tools([C]) == {B}
        assert await graph.count_links() == LinkCounts(4, 2, 0)

    async def test_what_is_put_replaces_what_concerns_the_tool(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A), document(B), document(C)])
        await graph.put_links(
            [ToolLinks(B, INTO_B, [SubstituteLink(B, A, 0.7)]), ToolLinks(A, [], [SubstituteLink(A, B, 0.8)])]
        )
        await graph.put_links([ToolLinks(B, INTO_B[:1], [SubstituteLink(B, C, 0.6, {"a": "b"})])])
        assert await graph.get_feeds_into(B) == INTO_B[:1]
        assert await graph.get_substitutes(B) == [SubstituteLink(B, C, 0.6, {"a": "b"})]
        assert await graph.get_substitutes(A) == [SubstituteLink(A, B, 0.8)]

    async def test_what_is_expected_is_pending_until_it_is_put(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A), document(B), document(C)])
        await graph.put_links([ToolLinks(B, INTO_B)])
        await graph.expect_links({A: "d1", B: "d2"})
        assert len(await graph.get_feeds_into(B)) == 3
        await graph.put_links([ToolLinks(A)])
        assert await graph.get_link_states() == {A: LinkState("d1", False), B: LinkState("d2", True)}
        await graph.expect_links({}, [A, C])
        await graph.expect_links({B: "d3"})
        assert await graph.get_link_states() == {
            A: LinkState("d1", True),
            B: LinkState("d3", True),
            C: LinkState("", True),
        }
        assert (await graph.count_links()).pending == 3

    async def test_of_a_tool_that_begins_anew_all_links_are_forgotten(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A), document(B), document(C)])
        await graph.put_links(
            [
                ToolLinks(B, INTO_B, [SubstituteLink(B, A, 0.7), SubstituteLink(B, C, 0.9)]),
                ToolLinks(A, [], [SubstituteLink(A, B, 0.8)]),
            ]
        )
        await graph.expect_links({A: "d1", B: "d2"})
        await graph.reset_tools([A, LOST])
        assert await graph.get_feeds_into(B) == [INTO_B[1]]
        assert await graph.get_substitutes(B) == [SubstituteLink(B, C, 0.9)]
        assert await graph.get_substitutes(A) == await graph.get_feeds_out(A) == []
        assert await graph.get_link_states() == {B: LinkState("d2", True)}

    async def test_documents_and_facts_are_as_before(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A), document(B), document(C)])
        await graph.expect_links({A: "d"})
        await graph.put_links([ToolLinks(B, INTO_B)])
        assert await graph.get_tools([A, B]) == {A: document(A), B: document(B)}
        assert (await graph.compute_statistics()).transitions == 0
        assert await graph.get_out_edges(A) == []
        await graph.put_tools([document(A, "other")])
        assert (await graph.get_link_states())[A] == LinkState("d", True)

    @pytest.mark.parametrize(
        "broken",
        [
            [ToolLinks(A), ToolLinks(LOST)],
            [ToolLinks(A), ToolLinks(B, [FeedLink(LOST, B, "f", "p", 1.0)])],
            [ToolLinks(A, [], [SubstituteLink(A, LOST, 1.0)])],
            [ToolLinks(A, [FeedLink(A, B, "f", "p", 1.0)])],
            [ToolLinks(A, [], [SubstituteLink(B, A, 1.0)])],
            [ToolLinks(B, [FeedLink(A, B, "f", "p", 1.5)])],
        ],
    )
    async def test_broken_links_are_refused_whole(self, graph: LinkedGraph, broken: list[ToolLinks]) -> None:
        await graph.put_tools([document(A), document(B)])
        with pytest.raises(UsageError):
            await graph.put_links(broken)
        with pytest.raises(UsageError):
            await graph.expect_links({A: "d", LOST: "d"})
        assert await graph.get_link_states() == {}
