"""What is mined from documents is what a person would write down."""

from pathlib import Path

import pytest

from domain.tool import Parameter, ToolDoc
from graph.feed_graph import FeedGraph
from synthesis.combinations import enumerate_combinations
from tests.unit.synthesis.worked_by_hand import by_hand, lines, tools


@pytest.mark.parametrize(("service", "count"), [("scholar", 192), ("museum", 108), ("railway", 40)])
def test_mined_combinations_are_those_worked_by_hand(service: str, count: int, tmp_path: Path) -> None:
    wanted = by_hand(service)
    mined = lines(enumerate_combinations(FeedGraph(tools(service, tmp_path))), wanted)
    assert len(set(mined)) == len(mined)
    assert sorted(set(mined) - wanted) == []
    assert sorted(wanted - set(mined)) == []
    assert len(mined) == count


def test_what_two_tools_ask_for_by_one_name_is_said_once(tmp_path: Path) -> None:
    """A day that departures are asked for is the day of what is found by them too."""
    docs = [doc for doc in tools("railway", tmp_path) if doc.api in ("findStations", "getDepartures", "getTrain")]
    by_day = tuple(
        doc.model_copy(update={"parameters": (*doc.parameters, _day(docs))}) if doc.api == "getTrain" else doc
        for doc in docs
    )
    longest = next(one for one in enumerate_combinations(FeedGraph(by_day)) if len(one.walk.tools) == 3)
    assert [one.name for one in longest.inputs] == ["query", "day"]
    assert [one.fills(longest.walk.tail.id) for one in longest.inputs] == [False, True]


def _day(docs: list[ToolDoc]) -> Parameter:
    return next(one for doc in docs for one in doc.parameters if one.name == "day")


def test_a_function_called_for_two_places_has_its_input_twice(tmp_path: Path) -> None:
    found = (
        one
        for one in enumerate_combinations(FeedGraph(tools("railway", tmp_path)))
        if one.walk.tail.api == "planJourney"
    )
    assert [one.name for one in next(found).inputs] == ["from_station_query", "to_station_query", "day"]


def test_a_key_tells_combinations_apart_and_stays(tmp_path: Path) -> None:
    docs = tools("museum", tmp_path)
    keys = [one.key for one in enumerate_combinations(FeedGraph(docs))]
    assert len(set(keys)) == len(keys)
    assert [one.key for one in enumerate_combinations(FeedGraph(reversed(docs)))] == keys
