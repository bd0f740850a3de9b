"""What somebody may have meant where a search found nothing."""

import pytest
from pydantic import JsonValue

from domain.plan import StepResult
from domain.tool import ToolId, make_tool_id
from ui.calls import Call
from ui.near_matches import Known, NearMatch, found_nothing, near_matches, taken_before
from ui.run_state import RunState

COUNTRY = make_tool_id("c", "Facts", "find_country")
REQUEST = "Which holidays does calderia have?"


def called(response: str, status: str = "ok", code: int | None = 200, **arguments: JsonValue) -> Call:
    told = {"tool": COUNTRY, "status": status, "response": response, "http_status": code}
    return Call(1, 1, COUNTRY, arguments, result=StepResult.model_validate(told))


def story(*calls: Call) -> RunState:
    return RunState(request=REQUEST, calls=[*calls])


def known(*values: str) -> Known:
    def of(tool: ToolId, parameter: str) -> list[str]:
        return [*values] if (tool, parameter) == (COUNTRY, "name") else []

    return of


@pytest.mark.parametrize(
    ("call", "nothing"),
    [
        (called('{"count": 0, "results": []}'), True),
        (called("[]"), True),
        (called("null"), True),
        (called("", "failed", 404), True),
        (called('{"population": 0}'), False),
        (called('{"results": [], "near": [1]}'), False),
        (called("", "failed", 500), False),
        (called("fine"), False),
        (Call(1, 1, COUNTRY, {}), False),
    ],
)
def test_a_call_found_nothing_where_its_answer_is_empty(call: Call, nothing: bool) -> None:
    assert found_nothing(call) is nothing


def test_the_nearest_known_value_takes_the_place_of_what_was_written() -> None:
    found = near_matches(
        story(called("[]", name="Calderia", year=2026)), known("Norvania", "Caldeira", "Caldera", "Calderia")
    )
    assert found == [NearMatch("Calderia", "Caldera"), NearMatch("Calderia", "Caldeira")]
    assert found[0].request(REQUEST) == "Which holidays does Caldera have?"


def test_nothing_is_proposed_for_what_was_found_or_never_said() -> None:
    for call in (called('[{"code": 1}]', name="Calderia"), called("[]", name="Caldero"), called("[]", name=7)):
        assert near_matches(story(call), known("Caldera")) == []


def test_what_other_runs_took_and_found_is_known() -> None:
    before = story(
        called('{"code": "XC"}', name="Caldera"), called("[]", name="Calderi"), called("", "failed", 500, name="X")
    )
    assert taken_before([before]) == ["Caldera"]
