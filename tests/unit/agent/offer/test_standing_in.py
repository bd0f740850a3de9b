"""What takes the place of a tool that fails, where no link of the graph names it."""

from pathlib import Path

from agent.offer.failing_tools import LIFTED_SHARE, has_rival, has_same_shape
from agent.offer.node_expansion import NodeExpander
from agent.offer.tool_evidence import ToolEvidence
from agent.search.dfs import SearchNode, SearchSettings
from agent.search.state import SearchState
from domain.tool import Parameter, ToolDoc
from graph.backends.in_memory import InMemoryGraph
from graph.facts import LiveBatch, LiveOutcome
from graph.weights import WeightParameters
from offline.reader import EnglishReader
from tests.support.small_world import BOOKS, GEOCODE, NEW_WEATHER, OLD_WEATHER, REMOVE, TOOLS, WALKS, finder, graph

REQUEST = "weather forecast: the temperature of the next days"
AFTER_GEOCODE = SearchState().offer([GEOCODE.id]).push(GEOCODE.id)


async def node(
    folder: Path, store: InMemoryGraph, state: SearchState = AFTER_GEOCODE
) -> tuple[SearchNode, ToolEvidence]:
    evidence = ToolEvidence((REQUEST,), store, await finder(folder, TOOLS), WeightParameters(), reader=EnglishReader())
    return await NodeExpander(REQUEST, evidence, SearchSettings())(state), evidence


async def after(*outcomes: LiveOutcome) -> InMemoryGraph:
    """The small world, in which the old weather was called so."""
    store = await graph(WALKS)
    await store.learn(LiveBatch("r", {}, (), tuple((OLD_WEATHER.id, outcome) for outcome in outcomes)))
    return store


async def test_while_a_tool_works_nothing_stands_in_for_it(tmp_path: Path) -> None:
    found, evidence = await node(tmp_path, await after("transient", "ok"))
    assert not any(c.standing_in for c in found.candidates)
    assert all(c.relevance == evidence.relevance(c.tool.id) for c in found.candidates)


async def test_the_likeliest_of_its_shape_is_as_relevant_as_what_fails(tmp_path: Path) -> None:
    found, evidence = await node(tmp_path, await after("ok", "transient", "transient"))
    [new] = [c for c in found.candidates if c.standing_in]
    assert new.tool.id == NEW_WEATHER.id
    assert new.relevance[0] >= LIFTED_SHARE * evidence.relevance(OLD_WEATHER.id)[0]
    assert has_rival(found.candidates, OLD_WEATHER.id)
    assert not has_rival(found.candidates, NEW_WEATHER.id)


async def test_in_the_place_of_a_call_that_has_just_failed(tmp_path: Path) -> None:
    state = AFTER_GEOCODE.offer([OLD_WEATHER.id]).push(OLD_WEATHER.id).reopen(1, "503", ban=True)
    found, _ = await node(tmp_path, await graph(WALKS), state)
    assert [c.tool.id for c in found.candidates if c.standing_in] == [NEW_WEATHER.id]


def named(tool: ToolDoc, *parameters: Parameter) -> ToolDoc:
    return tool.model_copy(update={"id": f"{tool.id}2", "parameters": parameters})


def test_the_same_shape_is_as_many_values_of_the_same_types_in_one_category_and_no_change() -> None:
    day = Parameter(name="on", required=True, format="date")
    assert has_same_shape(OLD_WEATHER, NEW_WEATHER)
    assert not has_same_shape(OLD_WEATHER, named(NEW_WEATHER, *NEW_WEATHER.parameters, day))
    assert has_same_shape(
        BOOKS, named(BOOKS, Parameter(name="q", required=True), Parameter(name="limit", type="integer"))
    )
    assert not has_same_shape(BOOKS, named(BOOKS, day))
    assert not has_same_shape(BOOKS, named(BOOKS))
    assert not has_same_shape(BOOKS, GEOCODE)
    assert not has_same_shape(BOOKS, REMOVE)
