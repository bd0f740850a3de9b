"""Bookings: how much, when and in whose name are read off the request, wherever it says them."""

import json
from collections.abc import Sequence
from datetime import date

import pytest

from agent.policy.protocol import ArgumentsQuestion, CallArguments
from domain.plan import StepResult
from domain.tool import Parameter, ToolDoc, make_tool_id
from offline.slots.binding import bind, check_fillable, may_mean_another

TODAY = date(2026, 1, 7)


def doc(api: str, method: str, needs: Sequence[Parameter], gives: object) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("Food", "Tables", api), category="Food", toolset="Tables", api=api, function=api, method=method,
        description=f"{api.replace('_', ' ')}.", parameters=tuple(needs), example_response=json.dumps(gives),
    )  # fmt: skip


def need(name: str, kind: str = "string", description: str = "") -> Parameter:
    return Parameter.model_validate({"name": name, "type": kind, "required": True, "description": description})


FOUND = [
    {"restaurant_id": "rst-1a", "restaurant_name": "Juniper Kitchen", "city": "Oslo", "rating": 4.9},
    {"restaurant_id": "rst-2b", "restaurant_name": "Saffron Court", "city": "Oslo", "rating": 4.1},
]
LIST = doc("list_restaurants", "GET", [need("city")], FOUND)
RESERVE = doc(
    "reserve_table",
    "POST",
    [
        need("restaurant_id"),
        need("party_size", "integer", "number of guests"),
        need("name", description="name the table is booked under"),
    ],
    {},
)
RATES = [{"rate_id": "rt-1", "room_name": "Single room", "price": 80}, {"rate_id": "rt-2", "room_name": "Suite", "price": 300}]  # fmt: skip
ROOMS = doc("list_rates", "GET", [need("hotel")], RATES)
BOOK = doc(
    "book_room", "POST", [need("rate_id"), need("check_in_date"), need("check_out_date"), need("guest_name")], {}
)


def bound(request: str, tool: ToolDoc, producer: ToolDoc, response: object) -> CallArguments:
    result = StepResult(tool=producer.id, status="ok", response=json.dumps(response))
    return bind(ArgumentsQuestion(request, tool, ((producer, result),)), TODAY)


@pytest.mark.parametrize(
    ("request_", "guests"),
    [
        ("We are coming to Oslo, reserve a table for four in the best restaurant under the name Ada Berg", 4),
        ("Four of us visit Oslo, so reserve a table at the best restaurant, name Ada Berg", 4),
        ("Reserve a table for 6 in the best restaurant of Oslo for Ada Berg", 6),
        ("Ada Berg is in Oslo. Book a table for 2 in the best restaurant.", 2),
    ],
)
def test_a_table_is_booked_for_who_and_how_many_the_request_says(request_: str, guests: int) -> None:
    found = bound(request_, RESERVE, LIST, FOUND)
    assert found.values == {"restaurant_id": "rst-1a", "party_size": guests, "name": "Ada Berg"}
    assert not found.missing


def test_a_room_is_no_guest() -> None:
    named = bound("Book the cheapest room from 2026-02-01 to 2026-02-03 for Ada Berg", BOOK, ROOMS, RATES)
    assert named.values["guest_name"] == "Ada Berg"
    nobody = bound("Book the cheapest room from 2026-02-01 to 2026-02-03", BOOK, ROOMS, RATES)
    assert nobody.missing == ("guest_name",)
    assert "guest_name" in check_fillable(BOOK, "Book the cheapest room", (ROOMS,), TODAY).missing


def test_one_goes_in_before_one_goes_out() -> None:
    found = bound("We land on 2026-02-01, book the cheapest room until 2026-02-03 for Ada Berg", BOOK, ROOMS, RATES)
    assert (found.values["check_in_date"], found.values["check_out_date"]) == ("2026-02-01", "2026-02-03")


def test_in_whose_name_a_change_is_made_is_not_guessed_again() -> None:
    assert not may_mean_another(RESERVE, "name")
    assert may_mean_another(LIST, "city")
