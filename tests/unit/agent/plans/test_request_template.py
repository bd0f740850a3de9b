"""What a template's runs ask: names in the words' places, and values in the names'."""

import pytest
from pydantic.types import JsonValue

from agent.plans.request_words import RequestWords, fill_placeholders, insert_placeholders
from domain.model import JsonObject

HOTEL = "Book a room at Northgate Palace in Northgate, please."


def test_a_request_is_said_with_other_values() -> None:
    text = insert_placeholders(
        "Holidays {of} Oslo in 2026?",
        [RequestWords("Oslo", name="city"), RequestWords("2026", name="year"), RequestWords("")],
    )
    assert text == "Holidays (of) {city} in {year}?"
    assert fill_placeholders(text, {"city": "Rome {year}", "year": 2027}, {}) == "Holidays (of) Rome {year} in 2027?"


def test_a_part_of_a_longer_name_is_left_alone() -> None:
    assert (
        insert_placeholders(HOTEL, [RequestWords("Northgate", name="city")])
        == "Book a room at Northgate Palace in {city}, please."
    )
    asked = "Is Northgate Palace the best of Northgate?"
    assert (
        insert_placeholders(asked, [RequestWords("Northgate", name="city")])
        == "Is Northgate Palace the best of {city}?"
    )


@pytest.mark.parametrize("name", ["", "hotel"])
def test_the_words_of_another_value_stay_whole(name: str) -> None:
    asked = "hotels by the north gate in the north"
    words = [RequestWords("north", name="area"), RequestWords("north gate", name=name)]
    other = "{hotel}" if name else "north gate"
    assert insert_placeholders(asked, words) == f"hotels by the {other} in the {{area}}"


def test_only_whole_words_are_replaced() -> None:
    assert (
        insert_placeholders("12 rooms, 2 nights, 2x", [RequestWords("2", name="nights")])
        == "12 rooms, {nights} nights, 2x"
    )
    assert insert_placeholders("in Osloberg", [RequestWords("Oslo", name="city")]) == "in Osloberg"


def test_values_of_the_same_words_take_their_places_in_order() -> None:
    asked = "for 2 adults and 2 nights"
    assert (
        insert_placeholders(asked, [RequestWords("2", "adults"), RequestWords("2", "nights")])
        == "for {adults} adults and {nights} nights"
    )


@pytest.mark.parametrize(
    ("value", "schema", "words"),
    [
        (
            ["full_time", "on_call"],
            {"type": "array", "items": {"enum": ["full_time", "on_call"]}},
            "full time, on call",
        ),
        ("full_time", {"anyOf": [{"enum": ["full_time"]}, {"type": "null"}]}, "full time"),
        ("rst_1", {"type": "string"}, "rst_1"),
        ([1, "a_b"], {"type": "array"}, "1, a_b"),
        (True, {"type": "boolean"}, "yes"),
    ],
)
def test_values_are_said_as_people_write_them(value: JsonValue, schema: JsonObject, words: str) -> None:
    assert fill_placeholders("is it {kind}?", {"kind": value}, {"kind": schema}) == f"is it {words}?"
