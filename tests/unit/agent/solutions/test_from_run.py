"""What a run's program is as a solution, and which programs are of their own run alone."""

import pytest

from agent.solutions.from_run import is_pattern, learnt
from agent.solutions.plain_values import LOOKS
from agent.transcript import Transcript
from domain.event import Event
from domain.solution import Solution
from tests.unit.agent.program_events import TEXT, calls, ended, program, run_of


def kept(text: str, request: str = "", response: str = "") -> list[Solution]:
    events: list[Event] = [program(text), *calls(text=text), ended()]
    records = run_of(events)
    if request:
        first = records[0].model_copy(update={"event": records[0].event.model_copy(update={"request": request})})
        subtask = records[1].model_copy(update={"event": records[1].event.model_copy(update={"description": request})})
        records = [first, subtask, *records[2:]]
    return list(learnt(records, Transcript.of(records), {}, "anna"))


def test_the_values_of_the_request_are_inputs_and_are_not_kept() -> None:
    (one,) = kept(TEXT)
    assert one.plan.program.text.startswith("people = await search(name=name)\n")
    assert one.plan.inputs["name"][LOOKS] == "name"
    assert (one.plan.values, one.owner, one.origin) == ({}, "anna", "run")
    assert "Grimaldo" not in one.model_dump_json()
    assert "{name}" in one.patterns[0]


@pytest.mark.parametrize(
    "text",
    [
        TEXT + "# " + "x" * 4_000,
        "before = earlier\n" + TEXT,
        TEXT.replace("people = ", "day = '2026-11-24'\npeople = "),
        TEXT.replace("people = ", "limit = 4711\npeople = "),
        TEXT.replace("people = ", "place = 'Oslo'\npeople = "),
        TEXT.replace("people = ", "latitude = 59.91\npeople = "),
    ],
)
def test_one_that_is_long_or_holds_what_nobody_said_is_of_its_run_alone(text: str) -> None:
    assert kept(text) == []


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("{What is|Tell me} the age of {name}?", True),
        ("{name}的同事有哪些", True),
        ("the age of somebody?", False),
        ("{name}", False),
        ("{|Please} {|tell me} {name}", False),
        ("Compare {name} with {name}", False),
        ("Compare {name} with {other}", False),
        ("Who is {name}" + "?" * 400, False),
    ],
)
def test_a_wording_names_each_input_once_and_says_enough(text: str, good: bool) -> None:
    assert is_pattern(text, ["name"]) is good
