"""Units that a response's document tells."""

import json

import pytest

from agent.programs.signature_notes import find_units
from agent.programs.signatures import build_signature
from domain.tool import ToolDoc, make_tool_id


def _schema(**fields: str) -> str:
    properties = {name: {"type": "number", "description": told} for name, told in fields.items()}
    return json.dumps(
        {"type": "object", "properties": {"days": {"type": "array", "items": {"properties": properties}}}}
    )


@pytest.mark.parametrize(
    ("name", "described", "told"),
    [
        ("runtime", "Length of the film, in minutes.", "runtime in minutes"),
        ("wind", "Speed of the wind in kilometres per hour.", "wind in kilometres per hour"),
        ("high", "Highest temperature, in degrees Celsius", "high in degrees Celsius"),
        ("ozone", "Ozone in micrograms per cubic metre.", "ozone in micrograms per cubic metre"),
        ("rise", "How much it rose, in %.", "rise in %"),
        ("minutes", "Length, in minutes.", ""),
        ("depth_m", "Depth, in metres.", ""),
        ("rank", "Rank in the league.", ""),
    ],
)
def test_a_unit_is_told_where_the_name_does_not_say_it(name: str, described: str, told: str) -> None:
    assert find_units(_schema(**{name: described})) == told


def test_there_are_not_too_many() -> None:
    told = find_units(_schema(**{f"length_of_part_{number}": "Length, in metres." for number in range(40)}))
    assert told
    assert len(told) <= 90
    assert told.endswith("in metres")


def test_a_signature_tells_them_in_its_comment() -> None:
    doc = ToolDoc(
        id=make_tool_id("Films", "Reel", "film"), category="Films", toolset="Reel", api="film", function="film",
        description="A film.", response_schema=_schema(runtime="Length, in minutes."),
    )  # fmt: skip
    comment = build_signature(doc).text.partition("\n")[0]
    assert comment.endswith("| runtime in minutes")
