"""SoAyEval (Wang et al. 2024, section 7.1): each run is one of five cases, by its answer and its solution.

docs/evaluation.md says what counts as the same solution, and what as a right answer.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args

from pydantic import Field

from agent.budget import Budget
from agent.execution.provenance import Voices
from agent.plans.compiling import compiled
from agent.plans.from_run import drawn
from agent.run import run
from agent.run_context import RunUser
from agent.transcript import Transcript
from domain.errors import FootpathError
from domain.event import EventRecord, ProgramRefused, ProgramStarted, RunFinished
from domain.model import JsonObject, Model
from domain.program import Program
from domain.tool import ToolDoc, ToolId
from domain.usage import Usage
from evaluation.asking_back import AnsweringUser
from evaluation.correctness import absent_from_answer
from evaluation.expected import Expected
from evaluation.meaning.comparing import Meaning, meaning_of
from evaluation.places import Place
from evaluation.values import numbers_in, states_text

Case = Literal["EM", "DS", "WS", "WP", "EE"]
CASES: tuple[Case, ...] = get_args(Case)
MAX_ANSWER = 4_000
"""Characters. An answer that repeats everything a service knows would hold any value."""
MORE_NUMBERS = 3
"""Numbers that an answer may state besides the right one and those of the request."""


class SoayQuestion(Model):
    """A question with its gold program."""

    id: str
    template: int
    place: int
    """Position of its entity among those of its template."""
    hops: int
    request: str
    program: Program
    values: JsonObject
    """Values of the program's inputs."""
    expect: Expected
    others: tuple[str, ...] = ()
    """Values that a right answer does not hold: for a list, those that do not belong to it."""


class SoayVerdict(Model):
    """The verdict on a run."""

    id: str
    template: int
    place: int
    hops: int
    request: str
    case: Case
    detail: str = ""
    """Why the answer is not right."""
    answer: str = ""
    path: tuple[str, ...] = ()
    """Tools of the solution."""
    programs: tuple[str, ...] = ()
    """Texts of the programs, in order."""
    usage: Usage = Field(default_factory=Usage)

    @property
    def right(self) -> bool:
        return self.case in ("EM", "DS")


def judge(question: SoayQuestion, records: Sequence[EventRecord], docs: Mapping[ToolId, ToolDoc]) -> SoayVerdict:
    """Return the verdict on a finished run."""
    end = next((one.event for one in records if isinstance(one.event, RunFinished)), None)
    own, gold = run_meaning(records, docs), meaning_of([question.program], question.values)
    outcome, answer = (end.outcome, end.answer) if end else ("failed", "")
    detail = wrong_with(question, answer) if outcome == "answered" else outcome
    return SoayVerdict(
        id=question.id, template=question.template, place=question.place, hops=question.hops, request=question.request,
        case=case_of(own, gold, answered=outcome in ("answered", "partly"), right=not detail), detail=detail, answer=answer,
        path=tuple(sorted({str(tool) for tool, _ in own.links})), programs=_texts(records), usage=end.usage if end else Usage(),
    )  # fmt: skip


def case_of(own: Meaning, gold: Meaning, *, answered: bool, right: bool) -> Case:
    """Return the case of a run from its meaning (``own``) and that of the gold program.

    The path of a solution is which tools are called and which feed which.
    """
    if not answered:
        return "EE"
    if right:
        return "EM" if own.says(gold) else "DS"
    return "WP" if own.links == gold.links else "WS"


def wrong_with(question: SoayQuestion, answer: str) -> str:
    """Return why an answer is not right; empty if it is."""
    if len(answer) > MAX_ANSWER:
        return f"{len(answer)} characters"
    if unsaid := absent_from_answer(question.expect, answer):
        return f"lacks {', '.join(unsaid)}"
    if besides := [one for one in question.others if states_text(answer, one)]:
        return f"holds {', '.join(besides)}"
    known = {*question.expect.numbers, *numbers_in(question.request)}
    more = {number for number in numbers_in(answer) if number not in known}
    return "holds many numbers" if question.expect.numbers and len(more) > MORE_NUMBERS else ""


def run_meaning(records: Sequence[EventRecord], docs: Mapping[ToolId, ToolDoc]) -> Meaning:
    """Return the solution of a run.

    It is its last program or, if it wrote none, the calls that it made one by one with what they took from one another.
    """
    traces = [one.programs.last for one in Transcript.of(records).walked if one.programs.last is not None]
    values: JsonObject = {}
    for one in records:
        values |= one.event.values if isinstance(one.event, ProgramStarted) else {}
    try:
        if traces:
            found = [meaning_of([trace.cells[number] for number in sorted(trace.cells)], values) for trace in traces]
            calls = frozenset(call for one in found for call in one.calls)
            return Meaning(calls, frozenset(said for one in found for said in one.said))
        document, _ = drawn(records)
        return meaning_of([compiled(document, docs).program])
    except FootpathError:  # the run cannot be expressed as steps, or is too large to compare
        return Meaning()


Done = Callable[[SoayVerdict], None]


async def evaluate_soay(
    questions: Sequence[SoayQuestion],
    places: Sequence[Place],
    docs: Mapping[ToolId, ToolDoc],
    budget: Budget,
    done: Done,
) -> None:
    """Run every question, one at a time at each place; ``done`` gets each verdict as it comes."""
    free: asyncio.Queue[Place] = asyncio.Queue()
    for place in places:
        free.put_nowait(place)

    async def ask(question: SoayQuestion) -> None:
        place = await free.get()
        try:
            user = RunUser(AnsweringUser(None), voices=Voices(said=(question.request,)))
            deps = replace(await place.deps(), user=user)
            done(judge(question, [one async for one in run(question.request, deps, budget)], docs))
        finally:
            free.put_nowait(place)

    async with asyncio.TaskGroup() as group:
        for question in questions:
            group.create_task(ask(question))


def _texts(records: Sequence[EventRecord]) -> tuple[str, ...]:
    """Return the texts of all programs, run or refused."""
    found: list[str] = []
    for one in records:
        match one.event:
            case ProgramStarted(program=program):
                found.append(program.text)
            case ProgramRefused(text=text, complaints=complaints):
                found.append(f"# refused: {'; '.join(complaints)}\n{text}")
            case _:
                continue
    return tuple(found)
