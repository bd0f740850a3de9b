"""The events of runs with programs, written out: what a real run tells, without a model or a sandbox."""

from collections.abc import Sequence
from datetime import UTC, datetime

from domain.event import (
    CallFinished,
    CallStarted,
    Event,
    EventRecord,
    ProgramEnded,
    ProgramFailed,
    ProgramStarted,
    RunFinished,
    RunOutcome,
    RunStarted,
    SubtaskStarted,
)
from domain.model import JsonObject
from domain.plan import CallOutcome, StepResult
from domain.program import Answered, Program
from domain.tool import ToolId
from domain.usage import Usage

ASKED = "How often is the most cited colleague of Henrik Grimaldo cited?"
SEARCH, COLLEAGUES, INFO = (ToolId(f"scholars/people/{name}") for name in ("search", "colleagues", "info"))
TOOLS = {"search": SEARCH, "colleagues": COLLEAGUES, "info": INFO}
TEXT = """people = await search(name="Henrik Grimaldo")
found = []
for one in await colleagues(person_id=people[0]["id"]):
    found.append(await info(person_id=one["id"]))
best = max(found, key=lambda one: one["cited"])
{"answered": "yes", "answer": f"{best['name']}: {best['cited']}"}
"""


def program(text: str = TEXT, number: int = 1, *, goes_on: bool = False) -> ProgramStarted:
    """A program over the three tools begins."""
    return ProgramStarted(number=number, program=Program(text=text, tools=TOOLS), goes_on=goes_on)


def call(
    step: int,
    function: str,
    arguments: JsonObject,
    *,
    text: str = TEXT,
    number: int = 1,
    time: int = 0,
    outcome: CallOutcome = "ok",
    attempts: int = 1,
    response: str = '{"id": 1}',
) -> list[Event]:
    """A call of a program: where its function first stands in the text."""
    place = len(text[: text.index(f"{function}(")].encode())
    told = StepResult(
        tool=TOOLS[function],
        arguments=arguments,
        status="ok" if outcome == "ok" else "failed",
        outcome=outcome,
        attempts=attempts,
        response=response if outcome == "ok" else "",
    )
    started = CallStarted(step=step, tool=TOOLS[function], arguments=arguments, site=f"{number}:{place}#{time}")
    return [started, CallFinished(step=step, result=told, site=started.site)]


def calls(of_each: int = 3, *, first: int = 1, text: str = TEXT, number: int = 1) -> list[Event]:
    """What the whole program calls, the last function so often."""
    made = call(first, "search", {"name": "Henrik Grimaldo"}, text=text, number=number)
    made += call(first + 1, "colleagues", {"person_id": 1}, text=text, number=number)
    for time in range(of_each):
        made += call(first + 2 + time, "info", {"person_id": time}, text=text, number=number, time=time)
    return made


def broken(number: int = 1, error: str = "KeyError: 'id'", line: int = 3) -> ProgramFailed:
    """A program breaks off."""
    return ProgramFailed(number=number, error=error, line=line)


def ended(
    verdict: Answered = "yes", number: int = 1, *, answered: Answered = "yes", veto: str = "", missing: str = ""
) -> ProgramEnded:
    """A program comes to its end."""
    return ProgramEnded(number=number, answered=answered, answer="Ada: 12", verdict=verdict, veto=veto, missing=missing)


def run_of(events: Sequence[Event], outcome: RunOutcome = "answered") -> list[EventRecord]:
    """The whole run."""
    whole: list[Event] = [
        RunStarted(request=ASKED, planner="program", policy="llm"),
        SubtaskStarted(subtask=1, name="whole", description=ASKED),
        *events,
        RunFinished(outcome=outcome, answer="Ada: 12", usage=Usage()),
    ]
    return [
        EventRecord(
            run="r", seq=seq, at=datetime.now(UTC), subtask=0 if one is whole[0] or one is whole[-1] else 1, event=one
        )
        for seq, one in enumerate(whole, start=1)
    ]
