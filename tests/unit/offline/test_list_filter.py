"""The things of an earlier list that a later question means."""

import json

import pytest

from domain.plan import StepResult
from domain.tool import ToolId
from offline.list_filter import find_list_items, is_answered_by, narrow_response

HOLIDAYS = [
    {"date": "2026-01-01", "holiday": "New Year's Day"},
    {"date": "2026-03-22", "holiday": "Midsummer Fair"},
    {"date": "2026-03-23", "holiday": "Feast of Bells"},
    {"date": "2026-09-06", "holiday": "National Day"},
]
HOTELS = [
    {"hotel_name": "Palace", "stars": 2, "guest_score": 7.6, "price": 210.0},
    {"hotel_name": "Suites", "stars": 5, "guest_score": 6.6, "price": 90.0},
    {"hotel_name": "Belvedere", "stars": 4, "guest_score": 7.1, "price": 140.0},
]


def result(response: object) -> StepResult:
    return StepResult(tool=ToolId("a/b/c"), status="ok", response=json.dumps(response))


@pytest.mark.parametrize(
    ("request_", "things", "kept"),
    [
        ("And which of them falls in March?", HOLIDAYS, [1, 2]),
        ("Which of them falls in May?", HOLIDAYS, []),
        ("Which of them are on a Monday?", HOLIDAYS, [2]),
        ("Which of them are on a weekend?", HOLIDAYS, [1, 3]),
        ("Which of them come after 2026-03-22?", HOLIDAYS, [2, 3]),
        ("Which of them are before 2026-03-23?", HOLIDAYS, [0, 1]),
        ("Which of them has the best guest score?", HOTELS, [0]),
        ("And the cheapest?", HOTELS, [1]),
        ("Which of them has a price under 150?", HOTELS, [1, 2]),
        ("Which of them has at least 4 stars?", HOTELS, [1, 2]),
        ("What is the price of the last one?", HOTELS, [2]),
        ("How many stars has the Palace of them?", HOTELS, [0]),
    ],
)
def test_what_is_meant_is_kept(request_: str, things: list[dict[str, object]], kept: list[int]) -> None:
    left = narrow_response(request_, result({"items": things, "total": len(things)}))
    assert left is not None
    names = [one.get("holiday") or one["hotel_name"] for one in json.loads(left)]
    assert names == [things[at].get("holiday") or things[at]["hotel_name"] for at in kept]


def test_things_are_counted() -> None:
    assert narrow_response("How many of them are there?", result(HOLIDAYS)) == '{"count": 4}'
    assert narrow_response("How many of them are in March?", result(HOLIDAYS)) == '{"count": 2}'


def test_what_chooses_nothing_narrows_nothing() -> None:
    assert narrow_response("What is the weather there?", result(HOLIDAYS)) is None
    assert narrow_response("Which of them is the heaviest?", result(HOTELS)) is None
    assert narrow_response("Which of them falls in March?", result({"date": "2026-03-22"})) is None


def test_another_call_is_left_to_tell_what_the_list_does_not() -> None:
    assert is_answered_by("Which of them is the cheapest?", result(HOTELS))
    assert is_answered_by("How many stars has the first one?", result(HOTELS))
    assert not is_answered_by("Can I swim at the first one?", result(HOTELS))
    assert not is_answered_by("Which of them is the heaviest?", result(HOTELS))


def test_a_list_of_one_is_none() -> None:
    assert find_list_items(result(HOTELS[:1])) is None
    assert find_list_items(result({"a": 1})) is None
    assert find_list_items(result(["a", "b"])) is None
    assert find_list_items(result(HOTELS)) == HOTELS
