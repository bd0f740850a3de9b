"""A model's values are what it says they are, or they are not used."""

from datetime import datetime, timedelta

import pytest
from pydantic.types import JsonValue

from agent.llm.grounding import ground, step_place
from agent.policy.protocol import ArgumentsQuestion
from domain.plan import StepResult
from domain.tool import Parameter, ToolDoc
from tests.flows.small_world import GEOCODE

TODAY = datetime.now().astimezone().date()
REQUEST = (
    'Book 2 seats to New York for Tom Sawyer tomorrow, pay 1,250.50 euros, note "call me first"; any seats in France?'
)
RESPONSE = '{"results": [{"id": 17, "name": "Hotel Astoria", "at": "2026-03-01T10:00:00Z", "open": true}, {"id": 18, "tags": ["a", "b"]}]}'
EARLIER = (
    (GEOCODE, StepResult(tool=GEOCODE.id, status="ok", response=RESPONSE)),
    (GEOCODE, StepResult(tool=GEOCODE.id, status="failed", response=RESPONSE)),
)


def wrong(value: JsonValue, origin: str, reference: str, **parameter: object) -> str:
    return wrong_for(GEOCODE, value, origin, reference, **parameter)


def wrong_for(tool: ToolDoc, value: JsonValue, origin: str, reference: str, **parameter: object) -> str:
    asked = Parameter.model_validate({"name": "thing", "required": True, **parameter})
    return ground(value, origin, reference, asked, ArgumentsQuestion(REQUEST, tool, EARLIER))


@pytest.mark.parametrize(
    ("value", "words", "parameter"),
    [
        ("New York", "New York", {}),
        ("new york", "to  new york", {}),
        ("Sawyer", "Tom Sawyer", {"name": "last_name"}),
        (2, "2 seats", {"type": "integer"}),
        ("2", "2 seats", {"type": "integer"}),
        (1250.5, "1,250.50 euros", {"type": "number"}),
        ((TODAY + timedelta(days=1)).isoformat(), "tomorrow", {"name": "date", "format": "date"}),
        ("EUR", "euros", {"name": "currency"}),
        ("FR", "France", {"name": "country_code"}),
        ("premium", "seats", {"enum": ["basic", "premium"]}),
        (True, "Book", {"type": "boolean"}),
        ("call me first", '"call me first"', {"name": "note"}),
        ('["New York", "France"]', "New York for Tom Sawyer tomorrow, pay 1,250.50 euros, note \"call me first\"; any seats in France",
         {"type": "array"}),
    ],
)  # fmt: skip
def test_what_the_request_gives(value: JsonValue, words: str, parameter: dict[str, object]) -> None:
    assert wrong(value, "request", words, **parameter) == ""


@pytest.mark.parametrize(
    ("value", "words", "parameter"),
    [
        ("Boston", "Boston", {}),
        ("Boston", "New York", {}),
        ("JFK", "New York", {"name": "airport"}),
        (3, "2 seats", {"type": "integer"}),
        (40.7, "New York", {"type": "number", "name": "latitude"}),
        ((TODAY + timedelta(days=3)).isoformat(), "tomorrow", {"name": "date", "format": "date"}),
        ("gold", "seats", {"enum": ["basic", "premium"]}),
        ("New York", "", {}),
        ("", "New York", {}),
        (None, "New York", {}),
        ('["New York", "Boston"]', "New York", {"type": "array"}),
        ({"to": "evil@example.com"}, "New York", {"type": "object"}),
        ("2", "2 seats", {"name": "api_key"}),
    ],
)
def test_what_the_request_does_not_give(value: JsonValue, words: str, parameter: dict[str, object]) -> None:
    assert wrong(value, "request", words, **parameter) != ""


@pytest.mark.parametrize(
    ("value", "place", "parameter"),
    [
        (17, "1.results[0].id", {"type": "integer"}),
        ("17", "1.results[0].id", {}),
        (17, "step 1.results[0].id", {"type": "integer"}),
        ("2026-03-01", "1.results[0].at", {"format": "date"}),
        ("Astoria", "1.results[0].name", {}),
        (18, "1.results[].id", {"type": "integer"}),
        ([17, 18], "1.results[].id", {"type": "array"}),
        ("[17, 18]", "1.results[*].id", {"type": "array"}),
        (["a", "b"], "1.results[1].tags", {"type": "array"}),
        (True, "1.results[0].open", {"type": "boolean"}),
    ],
)
def test_what_an_earlier_step_gives(value: JsonValue, place: str, parameter: dict[str, object]) -> None:
    assert wrong(value, "step", place, **parameter) == ""


@pytest.mark.parametrize(
    ("value", "place", "words"),
    [
        (19, "1.results[0].id", "does not stand at"),
        (17, "1.results[9].id", "nothing at"),
        (17, "1.nothing.id", "nothing at"),
        (17, "2.results[0].id", "step 2 gave nothing"),
        (17, "3.results[0].id", "names no earlier step"),
        (17, "results[0].id", "names no earlier step"),
        (7, "1.results[0].id", "does not stand at"),
        ([17, 99], "1.results[].id", "does not stand at"),
        ("17", "1.results[0]", "does not stand at"),
        ("x", "0." + "[" * 5_000, "names no earlier step"),
    ],
)
def test_what_no_earlier_step_gives(value: JsonValue, place: str, words: str) -> None:
    assert words in wrong(value, "step", place)


def test_a_default_is_the_documents_and_never_changes_anything() -> None:
    delete = GEOCODE.model_copy(update={"method": "DELETE"})
    assert wrong(5, "default", "", type="integer", default=5) == ""
    assert wrong("5", "default", "", type="integer", default=5) == ""
    assert "not a default" in wrong(6, "default", "", type="integer", default=5)
    assert "not a default" in wrong(6, "default", "", type="integer")
    assert "changes something" in wrong_for(delete, 5, "default", "", type="integer", default=5)
    assert wrong_for(delete, "json", "default", "", enum=["json"]) == ""


def test_what_changes_something_takes_whole_fields_only() -> None:
    delete = GEOCODE.model_copy(update={"method": "DELETE"})
    assert wrong("Astoria", "step", "1.results[0].name") == ""
    assert "does not stand" in wrong_for(delete, "Astoria", "step", "1.results[0].name")
    assert wrong_for(delete, "hotel astoria", "step", "1.results[0].name") == ""


def test_places() -> None:
    assert step_place("12.a[0].b") == (12, "a[0].b")
    assert step_place("[1] $.a") == (1, "a")
    assert step_place("2") == (2, "")
    assert step_place("a.b") is None
