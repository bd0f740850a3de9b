"""What a plan takes from a request before any call is made."""

import pytest

from agent.plans.plan_drafts import draft_plan
from agent.policy.protocol import ArgumentsQuestion
from domain.tool import Parameter, ToolDoc, make_tool_id
from offline.reader import EnglishReader
from offline.slots.binding import bind

TABLES = ToolDoc(
    id=make_tool_id("food", "tables", "restaurants_in_city"),
    category="food",
    toolset="tables",
    api="restaurants_in_city",
    function="restaurants_in_city",
    method="GET",
    parameters=(Parameter(name="city", description="Name of the city", required=True),),
)


@pytest.mark.parametrize(
    ("request_", "city"),
    [
        ("Reserve a table for two on 2026-07-08 at 19:00 at the Harvest Moon in Pinewater for Ada Byron.", "Pinewater"),
        ("Which restaurants are there at Pinewater in July?", "Pinewater"),
    ],
)
def test_what_is_in_a_town_is_not_the_town(request_: str, city: str) -> None:
    (step,) = draft_plan(request_, (TABLES,), EnglishReader()).steps
    assert step.arguments == {"city": city}
    assert bind(ArgumentsQuestion(request_, TABLES, ())).values == step.arguments
