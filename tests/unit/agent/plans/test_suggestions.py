"""What could be put into a plan, and where: by past walks, by likeness to the request, by what a later step lacks."""

from pathlib import Path

import pytest

from agent.offer.tool_evidence import ToolEvidence
from agent.plans.plan_drafts import ToolSuggestion, suggest_tools
from domain.plan import PlanDocument, PlannedStep, Take
from domain.tool import ToolId
from graph.weights import WeightParameters
from tests.support.small_world import BOOKS, GEOCODE, NEW_WEATHER, OLD_WEATHER, WALKS, finder, graph

REQUEST = "What is the weather forecast?"


async def suggested(folder: Path, *tools: ToolId) -> list[ToolSuggestion]:
    evidence = ToolEvidence((REQUEST,), await graph(WALKS), await finder(folder), WeightParameters())
    document = PlanDocument(steps=tuple(PlannedStep(tool=tool) for tool in tools))
    return list(await suggest_tools(document, (), REQUEST, evidence))


async def test_what_past_walks_called_next_comes_by_its_weight_with_what_fills_it(tmp_path: Path) -> None:
    found = [one for one in await suggested(tmp_path, GEOCODE.id) if one.after == 1]
    assert [one.tool for one in found] == [OLD_WEATHER.id, NEW_WEATHER.id]
    # Three walks and one of four, times the availability of 6 good calls in 6 and of 2 in 2.
    assert [one.weight for one in found] == pytest.approx([3 / 4 * 7 / 8, 1 / 4 * 3 / 4])
    assert found[0].fills["latitude"] == Take(step=1, field="results[].latitude")
    assert found[0].reason == "often called after search_places"


async def test_what_gives_the_next_step_what_it_lacks_comes_first(tmp_path: Path) -> None:
    found = [one for one in await suggested(tmp_path, OLD_WEATHER.id) if one.after == 0]
    assert found[0].tool == GEOCODE.id
    assert found[0].reason == "gives latitude, longitude to the next step"
    assert all(one.tool != OLD_WEATHER.id for one in found)
    behind_books = [one for one in await suggested(tmp_path, BOOKS.id, OLD_WEATHER.id) if one.after == 1]
    assert (behind_books[0].tool, behind_books[0].weight) == (GEOCODE.id, None)


async def test_nothing_is_suggested_around_a_tool_that_is_not_there(tmp_path: Path) -> None:
    assert await suggested(tmp_path, ToolId("no/such/tool")) == []
