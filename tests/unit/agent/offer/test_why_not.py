"""Why a tool is not offered: what would have brought it, and what was missing."""

from agent.offer.offer_maker import OfferMaker
from domain.tool import ToolId
from tests.unit.agent.offer.offer_samples import (
    DETAIL,
    FILMS,
    NEWS,
    PORTRAIT,
    POSTERS,
    SEARCH,
    FixedSearch,
    equals,
    films,
    graph_of,
    tool,
)


async def test_a_tool_that_nothing_brought_is_weighed_all_the_same() -> None:
    absence = await (await films(NEWS, POSTERS)).explain_absence("posters", 2, PORTRAIT.id)
    assert (absence.offered, absence.found) == (False, None)
    assert absence.tool is not None
    assert absence.tool.score < absence.last
    assert absence.place is not None
    assert absence.place > 2


async def test_its_links_to_offered_tools_are_told() -> None:
    absence = await (await films(POSTERS, SEARCH, DETAIL)).explain_absence("anything", 3, SEARCH.id)
    assert {(link.kind, link.signal.by, link.signal.detail) for link in absence.links} == {
        ("supplies", one.id, "film_id from results[].id") for one in (POSTERS, DETAIL)
    }
    consumer = await (await films(SEARCH, POSTERS)).explain_absence("anything", 1, POSTERS.id)
    assert [(one.kind, one.signal.by) for one in consumer.links] == [("consumes", SEARCH.id)]


async def test_a_tool_that_is_offered_says_so_with_its_places() -> None:
    absence = await (await films(*FILMS)).explain_absence("posters", 24, POSTERS.id)
    assert (absence.offered, absence.found) == (True, 3)


async def test_a_copy_names_what_stands_for_it() -> None:
    twin = tool("pictures", "/pictures")
    graph = await graph_of(*FILMS, twin, linked=equals(NEWS, twin))
    absence = await OfferMaker(FixedSearch([NEWS.id, twin.id]), graph).explain_absence("anything", 8, twin.id)
    assert (absence.offered, absence.stands_for) == (True, NEWS.id)


async def test_what_has_no_document_can_be_offered_to_nobody() -> None:
    absence = await (await films(NEWS)).explain_absence("news", 8, ToolId("c/films/gone"))
    assert (absence.tool, absence.offered, absence.place, absence.links) == (None, False, None, ())
