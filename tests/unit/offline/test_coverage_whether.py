"""A question for a value is not answered by yes or no, and given coordinates are not looked up."""

import json
from datetime import UTC, datetime

import pytest

from agent.policy.path_questions import Proposal
from domain.memory import Memory, Recalled
from domain.tool import Parameter, ToolDoc, tool_id
from offline.coverage import told_only_whether, wants_value
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
    assert not wants_value("Is Oslo the capital?")


def test_what_is_told_only_as_yes_or_no() -> None:
    assert told_only_whether(DETAILS) == {"capital"}
    assert told_only_whether(SEAT) == frozenset()
    assert told_only_whether(GEOCODE) == frozenset()


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
