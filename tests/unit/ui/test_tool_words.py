"""Facts about tools in few words."""

from datetime import UTC, datetime

import pytest

from domain.tool import ToolId
from ui.library import LibraryTool, ToolParameter, Try
from ui.tool_words import facts_told, scores_told, try_told

AT = datetime(2026, 7, 1, tzinfo=UTC)
TOOL = LibraryTool(id=ToolId("c/s/a"), category="c", toolset="s", host="api.example.com", availability=0.974)


def test_where_it_is_and_what_it_does() -> None:
    assert facts_told(TOOL) == "c / s · api.example.com · only reads · 97 % available"
    untold = TOOL.model_copy(update={"availability": None, "host": "", "effect": "unknown"})
    assert facts_told(untold) == "c / s · may change something · untested"


def test_a_few_calls_are_counted_and_no_share() -> None:
    assert facts_told(TOOL.model_copy(update={"tried": 1, "went_well": 1})).endswith("1 of 1 call answered")
    assert facts_told(TOOL.model_copy(update={"tried": 0})).endswith("untested")
    assert facts_told(TOOL.model_copy(update={"tried": 50, "went_well": 49})).endswith("97 % available")


def test_scores_are_told_where_it_was_searched_for() -> None:
    assert scores_told(TOOL) == ""
    found = TOOL.model_copy(update={"score": 0.5, "dense": 0.4, "lexical": 0.0})
    assert scores_told(found) == "score 0.50: meaning 0.40, words 0.00"
    assert scores_told(found.model_copy(update={"odds": -1.2})).endswith("; re-ranked at -1.20")


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ({"finished_at": AT, "outcome": "ok", "http_status": 200, "milliseconds": 1500}, "It answered with 200 in 1,500 ms"),
        ({"finished_at": AT, "outcome": "caller_fault"}, "It was not accepted in 0 ms"),
        ({"finished_at": AT}, "It was not called in 0 ms"),
        ({}, "Nobody knows how it ended"),
    ],
)  # fmt: skip
def test_how_a_call_ended(end: dict[str, object], said: str) -> None:
    assert try_told(Try.model_validate({"id": "1", "started_at": AT, **end})) == said


def test_a_field_has_the_schema_of_the_parameter_and_its_description() -> None:
    one = ToolParameter(name="n", description="How many.", takes={"type": "integer", "maximum": 9})
    assert one.field == {"type": "integer", "maximum": 9, "description": "How many."}
