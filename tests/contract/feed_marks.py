"""What every link store promises of the feeds that an administrator adds or forbids."""

import pytest

from domain.errors import UsageError
from domain.tool import FeedMark, Parameter
from graph.document_marks import mark_feed
from graph.linking import link_tools
from graph.links import FeedLink, LinkedGraph
from graph.take_overs import ImportAdmission
from tests.support.graph_samples import LOST, A, B, C, document


def quiet(done: int, total: int) -> None:
    """Progress that nobody watches."""


class FeedMarkContract:
    """Needs a fixture ``graph``: an empty store, set up."""

    @pytest.fixture
    async def linked(self, graph: LinkedGraph) -> LinkedGraph:
        give = document(A).model_copy(update={"example_response": '{"email": "a@b.c", "fax": "1"}', "parameters": ()})
        take = document(B).model_copy(update={"parameters": (Parameter(name="email"), Parameter(name="reply_to"))})
        await graph.put_tools([give, take, document(C)])
        await link_tools(graph, None, quiet)
        assert await graph.get_feeds_into(B) == [FeedLink(A, B, "email", "email", 1.0)]
        return graph

    async def test_one_is_added_and_stays_when_links_are_computed_anew(self, linked: LinkedGraph) -> None:
        added = FeedMark(source=A, field="email", parameter="reply_to")
        await mark_feed(linked, B, added)
        both = [FeedLink(A, B, "email", "email", 1.0), FeedLink(A, B, "email", "reply_to", 1.0)]
        assert await linked.get_feeds_into(B) == both
        assert (await link_tools(linked, None, quiet)).computed > 0
        assert await linked.get_feeds_into(B) == both
        assert (await linked.load_neighbourhoods([B]))[B].feeds == both
        await mark_feed(linked, B, added, clear=True)
        assert await linked.get_feeds_into(B) == both[:1]

    async def test_one_is_forbidden_until_that_is_cleared(self, linked: LinkedGraph) -> None:
        forbidden = FeedMark(source=A, field="email", parameter="email", fills=False)
        await mark_feed(linked, B, forbidden)
        assert await linked.get_feeds_into(B) == []
        await link_tools(linked, None, quiet)
        assert await linked.get_feeds_into(B) == []
        await mark_feed(linked, B, forbidden, clear=True)
        await link_tools(linked, None, quiet)
        assert await linked.get_feeds_into(B) == [FeedLink(A, B, "email", "email", 1.0)]

    async def test_what_was_said_survives_another_import(self, linked: LinkedGraph) -> None:
        said = FeedMark(source=A, field="email", parameter="email", fills=False)
        await mark_feed(linked, B, said)
        fresh = document(B).model_copy(update={"parameters": (Parameter(name="email"),)})
        await linked.put_tools(await ImportAdmission(linked).admit([fresh], "again"))
        assert (await linked.get_tools([B]))[B].feed_marks == (said,)
        await link_tools(linked, None, quiet)
        assert await linked.get_feeds_into(B) == []

    async def test_what_is_not_there_is_told(self, linked: LinkedGraph) -> None:
        with pytest.raises(UsageError, match="no parameter 'fax'; it has email, reply_to"):
            await mark_feed(linked, B, FeedMark(source=A, field="email", parameter="fax"))
        with pytest.raises(UsageError, match="has no document"):
            await mark_feed(linked, B, FeedMark(source=LOST, field="email", parameter="email"))
