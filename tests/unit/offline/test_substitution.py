"""Who gives what a failed tool gave."""

import pytest

from domain.tool import ToolDoc
from offline.substitution import giving_the_same
from tests.flows.small_world import NEW_WEATHER, need, tool

TOWNS = tool(
    "Places", "find_town", "Where a town lies.", [need("town", description="Name of the town.")],
    {"latitude": 1.5, "longitude": 2.5},
)  # fmt: skip
LOCATOR = tool(
    "Maps", "locate", "Coordinates of what you type.", [need("q", description="Free form: a city.")],
    [{"latitude": 1.5, "longitude": 2.5}],
)  # fmt: skip
ZONES = tool(
    "Clock", "zone", "Where a time zone is.", [need("clock", description="Identifier of a time zone.")],
    {"latitude": 1.5, "longitude": 2.5},
)  # fmt: skip
MAYORS = tool("Civics", "mayor", "The mayor.", [need("town", description="Name of the town.")], {"mayor": "Ada"})
SHIPS = tool("Ships", "ship_at", "Where ships are.", [need("town"), need("ship_id")], {"latitude": 1, "longitude": 2})
SETTING = tool("Places", "pin_town", "Pin a town.", [need("town")], {"latitude": 1, "longitude": 2}, method="POST")


@pytest.mark.parametrize(
    ("other", "stands_in"), [(LOCATOR, True), (ZONES, False), (MAYORS, False), (SHIPS, False), (SETTING, False)]
)
def test_what_takes_the_same_and_gives_the_same_stands_in(other: ToolDoc, stands_in: bool) -> None:
    """Not what asks for something else, gives something else, wants more, or changes anything."""
    request = "How warm does it get in Lisbon?"
    found = giving_the_same(TOWNS, request, (), [NEW_WEATHER], [other, TOWNS])
    assert found == ([other.id] if stands_in else [])


def test_without_a_tool_that_lacks_what_failed_nothing_stands_in() -> None:
    assert giving_the_same(TOWNS, "How warm is it in Lisbon?", (LOCATOR,), [NEW_WEATHER], [LOCATOR]) == []
    assert giving_the_same(TOWNS, "How warm is it in Lisbon?", (), [], [LOCATOR]) == []
