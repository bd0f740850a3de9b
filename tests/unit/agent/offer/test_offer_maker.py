"""Offers over a small film service: which tools are in them, in which order, for which reasons."""

from collections import Counter

import pytest

from agent.offer.neighbourhood import MAX_HITS
from agent.offer.offer_maker import OfferMaker, OfferWeights
from agent.offer.tool_offer import OfferEntry, ReasonKind
from domain.tool import ToolDoc, ToolId
from graph.facts import GraphBatch, LiveBatch
from tests.unit.agent.offer.offer_samples import (
    CAST,
    DETAIL,
    FILMS,
    NEWS,
    PORTRAIT,
    POSTERS,
    SEARCH,
    FixedPrecedents,
    FixedSearch,
    equals,
    films,
    graph_of,
    links,
    tool,
)


def offered(tools: tuple[OfferEntry, ...], document: ToolDoc) -> OfferEntry:
    return next(one for one in tools if one.id == document.id)


def by(found: OfferEntry, kind: ReasonKind) -> ToolId | None:
    return next(reason.signal.by for reason in found.reasons if reason.kind == kind)


def kinds(found: OfferEntry) -> set[ReasonKind]:
    return {reason.kind for reason in found.reasons}


async def test_what_gives_a_missing_input_is_offered_though_nothing_found_it() -> None:
    offer = await (await films(POSTERS)).offer("posters of a film", 8)
    assert set(offer.ids) == {POSTERS.id, SEARCH.id}
    producer = offered(offer.tools, SEARCH)
    assert by(producer, "supplies") == POSTERS.id
    assert by(producer, "resolves") == POSTERS.id
    assert offer.considered == 2


async def test_the_producer_of_a_producer_counts_too() -> None:
    offer = await (await films(PORTRAIT, CAST, NEWS, SEARCH)).offer("portrait of the lead", 8)
    assert by(offered(offer.tools, CAST), "supplies") == PORTRAIT.id
    assert by(offered(offer.tools, CAST), "joins") == PORTRAIT.id
    assert by(offered(offer.tools, SEARCH), "supplies") == CAST.id
    assert offer.ids.index(SEARCH.id) < offer.ids.index(NEWS.id)


async def test_consumers_and_what_holds_what_was_found_have_their_reasons() -> None:
    offer = await (await films(POSTERS, SEARCH, CAST, DETAIL)).offer("anything", 8)
    assert by(offered(offer.tools, POSTERS), "consumes") == SEARCH.id
    assert by(offered(offer.tools, DETAIL), "holds") == POSTERS.id
    assert by(offered(offer.tools, CAST), "sibling") == DETAIL.id


async def test_words_of_name_and_response_are_told() -> None:
    offer = await (await films(NEWS, POSTERS)).offer("the posters", 8)
    named = next(reason for reason in offered(offer.tools, POSTERS).reasons if reason.kind == "named")
    assert (named.signal.detail, named.share > 0) == ("poster", True)
    assert "named" not in kinds(offered(offer.tools, NEWS))


async def test_at_most_so_many_the_best_first_and_the_score_is_the_sum_of_the_shares() -> None:
    maker = await films(*FILMS)
    whole = await maker.offer("posters", 24)
    assert [len((await maker.offer("posters", limit)).tools) for limit in (1, 4, 24)] == [1, 4, len(FILMS)]
    assert (await maker.offer("posters", 3)).ids == whole.ids[:3]
    assert [one.score for one in whole.tools] == sorted((one.score for one in whole.tools), reverse=True)
    for one in whole.tools:
        assert one.score == pytest.approx(sum(reason.share for reason in one.reasons))
        assert [abs(reason.share) for reason in one.reasons] == sorted(
            (abs(r.share) for r in one.reasons), reverse=True
        )


async def test_tools_that_need_the_same_crowd_each_other() -> None:
    offer = await (await films(POSTERS, DETAIL, CAST)).offer("posters", 8)
    second, third = (one for one in offer.tools if "crowded" in kinds(one))
    details = [next(r.signal.detail for r in one.reasons if r.kind == "crowded") for one in (second, third)]
    assert details == ["1 before it", "2 before it"]


async def test_copies_are_offered_once_with_the_others_ids() -> None:
    copy = POSTERS.model_copy(update={"id": ToolId("other/films/POSTERS"), "category": "other", "api": "POSTERS"})
    maker = OfferMaker(FixedSearch([POSTERS.id, copy.id, NEWS.id]), await graph_of(*FILMS, copy, linked=links()))
    offer = await maker.offer("posters", 8)
    assert copy.id not in offer.ids
    assert offered(offer.tools, POSTERS).alike == (copy.id,)


async def test_an_equivalent_of_the_same_set_is_a_copy_and_one_of_another_set_is_not() -> None:
    twin, foreign = tool("pictures", "/pictures"), tool("images", "/images", toolset="photos")
    linked = [*equals(NEWS, twin), *equals(SEARCH, foreign)]
    graph = await graph_of(*FILMS, twin, foreign, linked=linked)
    offer = await OfferMaker(FixedSearch([NEWS.id, twin.id, SEARCH.id, foreign.id]), graph).offer("anything", 8)
    assert offered(offer.tools, NEWS).alike == (twin.id,)
    assert {SEARCH.id, foreign.id} <= set(offer.ids)


async def test_a_substitute_comes_in_only_where_a_tool_fails() -> None:
    spare = tool("bulletins", "/bulletins", toolset="press")
    graph = await graph_of(*FILMS, spare, linked=equals(NEWS, spare))
    maker = OfferMaker(FixedSearch([NEWS.id]), graph)
    assert (await maker.offer("news", 8)).ids == (NEWS.id,)
    await graph.learn(LiveBatch("run", {}, (), tuple((NEWS.id, "gone") for _ in range(5))))
    offer = await maker.offer("news", 8)
    assert offer.ids == (spare.id, NEWS.id)
    assert by(offer.tools[0], "stands_in") == NEWS.id
    assert "failing" in kinds(offer.tools[1])


async def test_what_past_paths_did_next_and_before_is_offered() -> None:
    graph = await graph_of(*FILMS)
    await graph.apply(GraphBatch("b", transitions=_counted((NEWS.id, PORTRAIT.id), (CAST.id, NEWS.id))))
    offer = await OfferMaker(FixedSearch([NEWS.id]), graph).offer("news", 8)
    assert set(offer.ids) == {NEWS.id, PORTRAIT.id, CAST.id}
    assert by(offered(offer.tools, PORTRAIT), "follows") == NEWS.id
    assert by(offered(offer.tools, CAST), "precedes") == NEWS.id


async def test_a_banned_transition_brings_nothing() -> None:
    graph = await graph_of(*FILMS)
    await graph.apply(GraphBatch("b", transitions=_counted((NEWS.id, PORTRAIT.id), (CAST.id, NEWS.id))))
    await graph.mark(NEWS.id, PORTRAIT.id, "ban")
    await graph.mark(CAST.id, NEWS.id, "ban")
    assert (await OfferMaker(FixedSearch([NEWS.id]), graph).offer("news", 8)).ids == (NEWS.id,)


async def test_what_served_a_request_alike_is_offered_and_without_precedents_it_is_not() -> None:
    remembered = await (await films(NEWS, precedents=FixedPrecedents(PORTRAIT.id))).offer("news", 8)
    assert "served" in kinds(offered(remembered.tools, PORTRAIT))
    assert (await (await films(NEWS)).offer("news", 8)).ids == (NEWS.id,)


async def test_a_small_catalogue_is_weighed_whole_and_of_a_large_one_so_much() -> None:
    graph = await graph_of(*FILMS)
    for size, limit in ((len(FILMS), len(FILMS)), (45_000, MAX_HITS)):
        search = FixedSearch([NEWS.id], size)
        await OfferMaker(search, graph).offer("news", 8)
        assert search.asked == [limit]


async def test_weights_decide_the_order() -> None:
    graph = await graph_of(*FILMS, linked=links())
    search = FixedSearch([NEWS.id, POSTERS.id])
    by_search = OfferMaker(search, graph, counts=OfferWeights({"found": 1.0}))
    by_name = OfferMaker(search, graph, counts=OfferWeights({"named": 1.0}))
    assert (await by_search.offer("posters", 1)).ids == (NEWS.id,)
    assert (await by_name.offer("posters", 1)).ids == (POSTERS.id,)


async def test_nothing_found_is_an_empty_offer() -> None:
    assert (await (await films()).offer("anything", 8)).tools == ()


def _counted(*pairs: tuple[ToolId, ToolId]) -> Counter[tuple[ToolId, ToolId]]:
    return Counter(dict.fromkeys(pairs, 3))
