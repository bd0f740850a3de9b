"""A question for a value is not answered by yes or no."""

import json

import pytest

from domain.tool import Parameter, ToolDoc, tool_id
from offline.coverage import told_only_whether, wants_value
from tests.flows.small_world import GEOCODE


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


@pytest.mark.parametrize("request_", ["What is the capital there?", "And which town is it?", "Who wrote it?"])
def test_a_value_is_wanted(request_: str) -> None:
    assert wants_value(request_)
    assert not wants_value("Is Oslo the capital?")


def test_what_is_told_only_as_yes_or_no() -> None:
    assert told_only_whether(DETAILS) == {"capital"}
    assert told_only_whether(SEAT) == frozenset()
    assert told_only_whether(GEOCODE) == frozenset()
