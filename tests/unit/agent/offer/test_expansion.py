from collections import Counter
from pathlib import Path

from agent.offer.node_expansion import NodeExpander
from agent.offer.tool_evidence import ToolEvidence
from agent.search.dfs import THESIS, SearchSettings
from agent.search.state import SearchState
from domain.tool import ToolDoc, make_unresolved_id
from graph.facts import GraphBatch
from graph.weights import WeightParameters
from offline.reader import EnglishReader
from tests.support.small_world import BOOKS, GEOCODE, NEW_WEATHER, OLD_WEATHER, TOOLS, WALKS, finder, graph

REQUEST = "weather forecast for Paris"


async def expander(
    folder: Path, settings: SearchSettings | None = None, tools: tuple[ToolDoc, ...] = TOOLS
) -> NodeExpander:
    store = await graph(WALKS, tools)
    await store.apply(GraphBatch(key="more", transitions=Counter({(GEOCODE.id, make_unresolved_id("lost")): 4})))
    evidence = ToolEvidence((REQUEST,), store, await finder(folder, tools), WeightParameters(), reader=EnglishReader())
    return NodeExpander(REQUEST, evidence, settings or SearchSettings())


async def test_the_start_offers_what_is_relevant_and_what_makes_it_fillable(tmp_path: Path) -> None:
    node = await (await expander(tmp_path))(SearchState())
    shown = {c.tool.id: c for c in node.candidates}
    assert set(shown[OLD_WEATHER.id].missing) == {"latitude", "longitude"}
    assert shown[GEOCODE.id].missing == ()
    assert node.finish_weight == 0.0


async def test_a_node_offers_its_neighbours_by_weight_times_availability_and_never_the_unresolved(
    tmp_path: Path,
) -> None:
    expand = await expander(tmp_path)
    state = SearchState().offer([GEOCODE.id]).push(GEOCODE.id)
    node = await expand(state)
    graph_offers = [c for c in node.candidates if c.origin == "graph"]
    assert [c.tool.id for c in graph_offers] == [OLD_WEATHER.id, NEW_WEATHER.id]
    assert [round(c.weight, 3) for c in graph_offers] == [0.5, 0.167]
    assert all(c.feeds_from == (0,) and c.missing == () for c in graph_offers)
    assert all(not c.tool.id.startswith("?") for c in node.candidates)


async def test_finish_is_offered_outside_the_candidates(tmp_path: Path) -> None:
    state = SearchState().offer([BOOKS.id]).push(BOOKS.id)
    node = await (await expander(tmp_path))(state)
    assert node.finish_weight == 1.0
    assert all(c.origin == "retriever" and c.weight == 0.0 for c in node.candidates)


async def test_no_more_than_k_are_offered_and_none_twice(tmp_path: Path) -> None:
    expand = await expander(tmp_path, SearchSettings(candidate_count=2))
    for state in (SearchState(), SearchState().offer([GEOCODE.id]).push(GEOCODE.id)):
        ids = [c.tool.id for c in (await expand(state)).candidates]
        assert len(ids) == len(set(ids)) <= 2


async def test_below_the_floor_the_retriever_adds_nothing(tmp_path: Path) -> None:
    expand = await expander(tmp_path, SearchSettings(min_relevance=1.0))
    state = SearchState().offer([BOOKS.id]).push(BOOKS.id)
    assert {c.tool.id for c in (await expand(state)).candidates} <= {GEOCODE.id}


async def test_a_banned_tool_is_neither_offered_nor_what_others_are_measured_by(tmp_path: Path) -> None:
    expand = await expander(tmp_path)
    state = SearchState().offer([GEOCODE.id]).push(GEOCODE.id).offer([OLD_WEATHER.id]).push(OLD_WEATHER.id)
    before = await expand(SearchState())
    after = await expand(state.reopen(1, "503", ban=True))
    assert OLD_WEATHER.id not in {c.tool.id for c in after.candidates}
    assert NEW_WEATHER.id in {c.tool.id for c in after.candidates}
    assert after.best_relevance[0] <= before.best_relevance[0]


async def plain(folder: Path, k: int = 10, category: str = "") -> NodeExpander:
    """As the thesis has it, over a store in which the tool that most walks went to has failed ever since."""
    store = await graph(WALKS)
    await store.apply(GraphBatch(key="failed", transitions=Counter(), calls=Counter({OLD_WEATHER.id: 400})))
    evidence = ToolEvidence((REQUEST,), store, await finder(folder), WeightParameters(), reader=EnglishReader())
    return NodeExpander(REQUEST, evidence, SearchSettings(candidate_count=k), options=THESIS, category=category)


async def test_as_the_thesis_has_it_a_node_offers_the_heaviest_edges_however_available(tmp_path: Path) -> None:
    state = SearchState().offer([GEOCODE.id]).push(GEOCODE.id)
    node = await (await plain(tmp_path))(state)
    edges = [c for c in node.candidates if c.origin == "graph"]
    assert [(c.tool.id, c.weight) for c in edges] == [(OLD_WEATHER.id, 0.75), (NEW_WEATHER.id, 0.25)]
    assert edges[0].availability is not None
    assert edges[0].availability < 0.1
    narrow = await (await plain(tmp_path, k=1))(state)
    assert [c.tool.id for c in narrow.candidates] == [OLD_WEATHER.id], "nothing stands beside the K"


async def test_as_the_thesis_has_it_the_retriever_alone_says_where_to_start_and_fills_up(tmp_path: Path) -> None:
    start = await (await plain(tmp_path, k=2))(SearchState())
    assert [c.origin for c in start.candidates] == ["start", "start"]
    assert {c.tool.id for c in start.candidates} == {OLD_WEATHER.id, NEW_WEATHER.id}, "no producer is looked for"
    assert [c.weight for c in start.candidates] == sorted((c.weight for c in start.candidates), reverse=True)
    after = await (await plain(tmp_path))(SearchState().offer([OLD_WEATHER.id]).push(OLD_WEATHER.id))
    assert after.finish_weight == 1.0
    assert NEW_WEATHER.id in [c.tool.id for c in after.candidates if c.origin == "retriever"]


async def test_a_subtasks_category_has_a_place_among_the_starts(tmp_path: Path) -> None:
    start = await (await plain(tmp_path, k=2, category="Places"))(SearchState())
    assert GEOCODE.id in [c.tool.id for c in start.candidates]
