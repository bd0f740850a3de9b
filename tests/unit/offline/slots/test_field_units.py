"""The unit of a field, as its tool's document tells it."""

import json

import pytest

from agent.parameters.needs import need_of
from domain.tool import Parameter, ToolDoc, ToolId
from offline.slots.units import unit_of

_SCHEMA = {
    "type": "object",
    "properties": {
        "temperature": {"type": "number", "description": "Air temperature in degrees Celsius."},
        "wind": {"type": "number", "description": "Wind speed in kilometres per hour."},
        "note": {"type": "string", "description": "Words in plain language."},
        "days": {
            "type": "array",
            "items": {"type": "object", "properties": {"low": {"type": "number", "description": "In Kelvin."}}},
        },
    },
}
_UNITS = ("inch", "kilometre", "kilometre_per_hour", "celsius", "kelvin")


@pytest.mark.parametrize(
    ("place", "unit"),
    [
        ("temperature", "celsius"),
        ("wind", "kilometre_per_hour"),
        ("days[3].low", "kelvin"),
        ("days[].low", "kelvin"),
        ("note", None),
        ("nothing", None),
    ],
)
def test_a_field_is_measured_in_what_its_description_names(place: str, unit: str | None) -> None:
    tool = ToolDoc(
        id=ToolId("Weather/Sky/now"),
        function="now",
        category="Weather",
        toolset="Sky",
        api="now",
        response_schema=json.dumps(_SCHEMA),
    )
    wanted = need_of(Parameter(name="from_unit", type="string", required=True, enum=_UNITS))
    assert unit_of(tool, place, wanted) == unit


def test_without_a_list_of_units_none_is_told() -> None:
    tool = ToolDoc(
        id=ToolId("Weather/Sky/now"),
        function="now",
        category="Weather",
        toolset="Sky",
        api="now",
        response_schema=json.dumps(_SCHEMA),
    )
    assert unit_of(tool, "temperature", need_of(Parameter(name="from_unit", type="string", required=True))) is None
