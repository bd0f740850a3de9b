"""A question for a value is not answered by yes or no, and given coordinates are not looked up."""

import json
from datetime import UTC, datetime

import pytest

from agent.policy.path_questions import Proposal
from agent.policy.protocol import Situation
from domain.memory import Memory, Recalled
from domain.tool import Parameter, ToolDoc, tool_id
from offline.coverage import asks_whether, told_only_whether, wants_value
from offline.documents import by_documents
from offline.memory_vote import adoptable
from offline.slots.given_coordinates import finds_what_is_given
from tests.flows.small_world import GEOCODE, OLD_WEATHER


def doc(api: str, description: str, gives: object) -> ToolDoc:
    return ToolDoc(
        id=tool_id("Places", "Atlas", api), category="Places", toolset="Atlas", api=api, function=api,
        description=description, parameters=(Parameter(name="city", required=True),), example_response=json.dumps(gives),
    )  # fmt: skip


DETAILS = doc(
    "get_place_details",
    "Its elevation, and whether it is the capital of its country.",
    {"elevation": 90, "is_capital": False},
)
SEAT = doc("get_seat", "Where the government of a place sits, and whether it is old.", {"capital": "Oslo", "is_capital": True})  # fmt: skip


def proposal(request: str, before: str, *path: ToolDoc) -> Proposal:
    known = Memory(id="m", request=before, pattern=before, path=tuple(tool.id for tool in path), at=datetime.now(UTC))
    return Proposal(request, Recalled(memory=known, similarity=0.9), path)


@pytest.mark.parametrize("request_", ["What is the capital there?", "And which town is it?", "Who wrote it?"])
def test_a_value_is_wanted(request_: str) -> None:
    assert wants_value(request_)
    assert not asks_whether(request_)


@pytest.mark.parametrize("request_", ["Is Oslo the capital?", "Does the hotel have a pool?"])
def test_yes_or_no_is_wanted(request_: str) -> None:
    assert asks_whether(request_)
    assert not wants_value(request_)


@pytest.mark.parametrize("request_", ["Is there a hotel in Oslo?", "Do you know a hotel?", "Book a room"])
def test_a_thing_is_wanted(request_: str) -> None:
    assert not asks_whether(request_)


def test_what_is_told_only_as_yes_or_no() -> None:
    assert told_only_whether(DETAILS) == {"capital"}
    assert told_only_whether(SEAT) == frozenset()
    assert told_only_whether(GEOCODE) == frozenset()


@pytest.mark.parametrize(
    ("request_", "tool", "raised"),
    [
        ("What is the capital in Oslo?", SEAT, True),
        ("What is the capital in Oslo?", DETAILS, False),
        ("Is Oslo the capital?", DETAILS, True),
    ],
)
def test_a_tool_that_tells_whether_does_not_answer_what(request_: str, tool: ToolDoc, raised: bool) -> None:
    situation = Situation(
        request=request_, clauses=(request_,), candidates=(), path=(tool,),
        path_relevance=((0.1,),), best_relevance=(0.8,), finish_weight=0.0
    )  # fmt: skip
    assert by_documents(situation, lambda _tools, _clause: 1.0).path_relevance == ((0.8 if raised else 0.1,),)


def test_what_served_a_yes_or_no_is_not_taken_for_a_value() -> None:
    refused = adoptable(proposal("What is the capital in Oslo?", "Is Rome a capital?", DETAILS))
    assert not refused.adopted
    assert "yes or no" in refused.reason
    assert adoptable(proposal("Is Oslo a capital?", "Is Rome a capital?", DETAILS)).adopted


@pytest.mark.parametrize(
    ("request_", "needless"),
    [
        ("What is the weather at 58.2, 11.6?", True),
        ("Current weather at 58.2, 11.6, please", True),
        ("What is the weather at 58.2, 11.6 in Celsius?", True),
        ("How far is it from 58.2, 11.6 to Oslo?", False),
        ("What is the weather in Oslo?", False),
    ],
)
def test_coordinates_that_are_given_are_not_looked_up(request_: str, needless: bool) -> None:
    assert finds_what_is_given(GEOCODE, request_) == needless
    assert not finds_what_is_given(OLD_WEATHER, request_)
    found = adoptable(proposal(request_, "What is the weather in Rome?", GEOCODE, OLD_WEATHER))
    assert found.adopted != needless
