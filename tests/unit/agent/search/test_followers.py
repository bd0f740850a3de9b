"""The second level of the frontier: what past paths called right after a candidate."""

from pathlib import Path

from agent.offer.candidates import ToolCandidate
from agent.offer.tool_evidence import ToolEvidence
from agent.search.dfs import SearchNode
from agent.search.search_deps import FollowerFinder
from agent.search.state import SearchState
from domain.tool import ToolDoc
from graph.weights import WeightParameters
from tests.support.small_world import BOOKS, GEOCODE, NEW_WEATHER, OLD_WEATHER, WALKS, finder, graph

REQUEST = "weather forecast for Paris"


async def found(
    folder: Path, *tools: ToolDoc, state: SearchState | None = None
) -> list[tuple[int, str, tuple[str, ...]]]:
    evidence = ToolEvidence((REQUEST,), await graph(WALKS), await finder(folder), WeightParameters())
    await evidence.read(tool.id for tool in tools)
    candidates = tuple(ToolCandidate(tool, 0.5, None, (0.5,), "start") for tool in tools)
    state = (state or SearchState()).offer([tool.id for tool in tools])
    node = SearchNode((), (), (0.5,), candidates, 0.0)
    followers = await FollowerFinder(REQUEST, evidence)(state, node)
    return [(f.after, f.candidate.tool.api, f.candidate.missing) for f in followers]


async def test_a_follower_is_judged_as_if_what_it_follows_had_been_called(tmp_path: Path) -> None:
    assert await found(tmp_path, BOOKS, GEOCODE) == [(1, "get_forecast", ()), (1, "get_daily_forecast", ())]


async def test_what_is_on_offer_already_or_banned_follows_nothing(tmp_path: Path) -> None:
    banned = SearchState().offer([NEW_WEATHER.id]).push(NEW_WEATHER.id).reopen(0, "it failed", ban=True)
    assert await found(tmp_path, GEOCODE, OLD_WEATHER, state=banned) == []


async def test_a_tool_that_ended_every_path_has_no_follower(tmp_path: Path) -> None:
    assert await found(tmp_path, BOOKS) == []
