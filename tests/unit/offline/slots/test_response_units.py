"""Units beside numbers, and the value that a request asks for."""

import json

from domain.tool import ToolDoc, tool_id
from offline.nlp.asked_words import asked_words
from offline.response_summary import view
from offline.slots.units import units_of

SCHEMA = json.dumps({"type": "object", "properties": {
    "elevation": {"type": "integer", "description": "Height above the sea in Metres."},
    "price": {"type": "number", "description": "Price of one piece, in AFP."},
    "converted_amount": {"type": "number", "description": "What it gives."},
    "wind_speed": {"type": "number", "description": "Wind speed in kilometres per hour."},
    "duration_minutes": {"type": "integer", "description": "How long, in minutes."},
}})  # fmt: skip
TOOL = ToolDoc(id=tool_id("c", "t", "a"), category="c", toolset="t", api="a", function="a", response_schema=SCHEMA)


def test_units_come_from_descriptions_and_from_the_currency_asked_for() -> None:
    assert units_of(TOOL, {"to_currency": "CLD"}) == {
        "elevation": "metres", "price": "AFP", "converted_amount": "CLD", "wind_speed": "kilometres per hour",
    }  # fmt: skip
    assert units_of(ToolDoc(id=TOOL.id, category="c", toolset="t", api="a", function="a"), {}) == {}


def test_a_number_is_told_with_its_unit() -> None:
    asked = asked_words("What is the elevation?")
    assert view('{"name": "Oskvik", "elevation": 41}', asked, "", {"elevation": "metres"}).lines == (
        "name: Oskvik; elevation: 41 metres",
    )
    told = view('{"amount": 5, "from_currency": "VDK"}', asked_words("the amount"))
    assert told.lines == ("amount: 5; from currency: VDK",)


def test_who_did_it_is_told_first_with_the_job() -> None:
    crew = [{"name": "Ada", "job": "Writer"}, {"name": "Bo", "job": "Director"}]
    assert view(json.dumps({"crew": crew}), asked_words("Who directed it?")).lines[0] == "name: Bo; job: Director"
