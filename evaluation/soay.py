"""SoAyEval (Wang et al. 2024, section 7.1): each run is one of five cases, by its answer and its solution.

docs/evaluation.md says what counts as the same solution, and what as a right answer.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, median, pstdev
from typing import Any, Literal, get_args

from pydantic import Field, ValidationError
from pydantic.types import JsonValue

from agent.budget import Budget
from agent.execution.provenance import RunStatements
from agent.plans.plan_compilation import compile_plan
from agent.plans.steps_from_run import build_steps
from agent.run import run
from agent.run_context import RunUser
from agent.transcript import RunTranscript
from domain.errors import BrokenInputError, FootpathError
from domain.event import EventRecord, ProgramRefused, ProgramStarted, RunFinished
from domain.model import JsonObject, Model, describe_errors
from domain.program import Program
from domain.tool import ToolDoc, ToolId
from domain.usage import Usage
from evaluation.clarification import SimulatedUser
from evaluation.correctness import find_absent_from_answer
from evaluation.evaluation_cases import ExpectedValues
from evaluation.isolated_runs import IsolatedService
from evaluation.meaning.comparison import ProgramMeaning, derive_meaning
from evaluation.values import find_numbers, states_text
from graph.importers.lines import JsonlLine, read_lines
from graph.importers.records import SkippedInput

Case = Literal["EM", "DS", "WS", "WP", "EE"]
"""Exact match, different solution, wrong solution, wrong program, execution error; docs/evaluation.md defines them."""
CASES: tuple[Case, ...] = get_args(Case)
MAX_ANSWER = 4_000
"""Characters. An answer that repeats everything a service knows would hold any value."""
MAX_EXTRA_NUMBERS = 3
"""Numbers that an answer may state besides the right one and those of the request."""


class SoayQuestion(Model):
    """A question with its gold program."""

    id: str
    template: int
    """Number of the template that the question was made from."""
    place: int
    """Position of its entity among those of its template."""
    hops: int
    """Number of hops of its template, from 1 to 3."""
    request: str
    program: Program
    values: JsonObject
    """Values of the program's inputs."""
    expect: ExpectedValues
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
        """True if the answer is right, whatever the solution."""
        return self.case in ("EM", "DS")


def judge_run(question: SoayQuestion, records: Sequence[EventRecord], docs: Mapping[ToolId, ToolDoc]) -> SoayVerdict:
    """Return the verdict on a finished run."""
    end = next((one.event for one in records if isinstance(one.event, RunFinished)), None)
    own, gold = derive_run_meaning(records, docs), derive_meaning([question.program], question.values)
    outcome, answer = (end.outcome, end.answer) if end else ("failed", "")
    detail = explain_wrong_answer(question, answer) if outcome == "answered" else outcome
    return SoayVerdict(
        id=question.id, template=question.template, place=question.place, hops=question.hops, request=question.request,
        case=classify_case(own, gold, answered=outcome in ("answered", "partly"), right=not detail), detail=detail, answer=answer,
        path=tuple(sorted({str(tool) for tool, _ in own.links})), programs=_collect_programs(records), usage=end.usage if end else Usage(),
    )  # fmt: skip


def classify_case(own: ProgramMeaning, gold: ProgramMeaning, *, answered: bool, right: bool) -> Case:
    """Return the case of a run from its meaning (``own``) and that of the gold program.

    The path of a solution is which tools are called and which feed which.
    """
    if not answered:
        return "EE"
    if right:
        return "EM" if own.covers(gold) else "DS"
    return "WP" if own.links == gold.links else "WS"


def explain_wrong_answer(question: SoayQuestion, answer: str) -> str:
    """Return why an answer is not right; empty if it is."""
    if len(answer) > MAX_ANSWER:
        return f"{len(answer)} characters"
    if unstated := find_absent_from_answer(question.expect, answer):
        return f"lacks {', '.join(unstated)}"
    if unwanted := [one for one in question.others if states_text(answer, one)]:
        return f"holds {', '.join(unwanted)}"
    expected_numbers = {*question.expect.numbers, *find_numbers(question.request)}
    more = {number for number in find_numbers(answer) if number not in expected_numbers}
    return "holds many numbers" if question.expect.numbers and len(more) > MAX_EXTRA_NUMBERS else ""


def derive_run_meaning(records: Sequence[EventRecord], docs: Mapping[ToolId, ToolDoc]) -> ProgramMeaning:
    """Return the solution of a run.

    It is its last program or, if it wrote none, the calls that it made one by one with what they took from one another.
    """
    traces = [
        record.programs.last
        for record in RunTranscript.from_records(records).ordered_subtasks
        if record.programs.last is not None
    ]
    values: JsonObject = {}
    for record in records:
        values |= record.event.values if isinstance(record.event, ProgramStarted) else {}
    try:
        if traces:
            meanings = [
                derive_meaning([trace.cells[number] for number in sorted(trace.cells)], values) for trace in traces
            ]
            calls = frozenset(call for record in meanings for call in record.calls)
            return ProgramMeaning(calls, frozenset(said for record in meanings for said in record.answer_terms))
        document, _ = build_steps(records)
        return derive_meaning([compile_plan(document, docs).program])
    except FootpathError:  # the run cannot be expressed as steps, or is too large to compare
        return ProgramMeaning()


Done = Callable[[SoayVerdict], None]


async def evaluate_soay(
    questions: Sequence[SoayQuestion],
    places: Sequence[IsolatedService],
    docs: Mapping[ToolId, ToolDoc],
    budget: Budget,
    done: Done,
) -> None:
    """Run every question, one at a time at each place; ``done`` gets each verdict as it comes."""
    free: asyncio.Queue[IsolatedService] = asyncio.Queue()
    for place in places:
        free.put_nowait(place)

    async def ask(question: SoayQuestion) -> None:
        place = await free.get()
        try:
            user = RunUser(SimulatedUser(None), statements=RunStatements(user_messages=(question.request,)))
            deps = replace(await place.deps(), user=user)
            done(judge_run(question, [one async for one in run(question.request, deps, budget)], docs))
        finally:
            free.put_nowait(place)

    async with asyncio.TaskGroup() as group:
        for question in questions:
            group.create_task(ask(question))


def _collect_programs(records: Sequence[EventRecord]) -> tuple[str, ...]:
    """Return the texts of all programs, run or refused."""
    texts: list[str] = []
    for record in records:
        match record.event:
            case ProgramStarted(program=program):
                texts.append(program.text)
            case ProgramRefused(text=text, complaints=complaints):
                texts.append(f"# refused: {'; '.join(complaints)}\n{text}")
            case _:
                continue
    return tuple(texts)


Figures = dict[str, Any]
HOPS = (1, 2, 3)
PAPER = {"SoAyGPT-4": 86.57, "SoAyLLaMA-Code-13B": 92.74, "GPT-DFSDT-4": 58.16, "ToolLLaMA-7B": 16.72}
"""Scores of the paper. Its text gives 91.24 for SoAyLLaMA-Code-13B; its table and accuracies give 92.74."""


def compute_soay_figures(verdicts: Sequence[SoayVerdict]) -> Figures:
    """Return the figures by hops and overall: shares in percent with their deviation over entities.

    ``score`` is None if some number of hops has no question.
    """
    by_hops = {hops: [one for one in verdicts if one.hops == hops] for hops in HOPS}
    return {
        "hops": {str(hops): _compute_case_shares(some) for hops, some in by_hops.items() if some},
        "all": _compute_case_shares(verdicts),
        "score": compute_score([_compute_accuracy(some) for some in by_hops.values()]),
        "costs": {
            "model_calls": _describe_spread(verdicts, lambda one: one.usage.model_calls),
            "tokens": _describe_spread(verdicts, lambda one: one.usage.prompt_tokens + one.usage.completion_tokens),
            "seconds": _describe_spread(verdicts, lambda one: one.usage.total_seconds),
        },
        "missed": [one.model_dump(mode="json", exclude={"usage"}) for one in verdicts if one.case != "EM"],
    }


def compute_score(accuracies: Sequence[float | None]) -> float | None:
    """Return the accuracies of one, two and three hops, weighted by their hops."""
    present = [one for one in accuracies if one is not None]
    if len(present) < len(HOPS):
        return None
    return sum(hops * one for hops, one in zip(HOPS, present, strict=True)) / sum(HOPS)


def _compute_accuracy(verdicts: Sequence[SoayVerdict]) -> float | None:
    return 100 * mean(one.right for one in verdicts) if verdicts else None


def _compute_case_shares(verdicts: Sequence[SoayVerdict]) -> Figures:
    """Return the share of each case and the accuracy.

    The deviation is that of the shares among the questions with the first entity of each template, the second, and so on.
    """
    places = sorted({one.place for one in verdicts})
    groups = [[one for one in verdicts if one.place == place] for place in places]

    def summarize(of: Callable[[SoayVerdict], bool]) -> Figures:
        return {
            "share": 100 * mean(map(of, verdicts)) if verdicts else 0.0,
            "deviation": pstdev(100 * mean(map(of, group)) for group in groups) if groups else 0.0,
        }

    cases = {case: summarize(lambda one, case=case: one.case == case) for case in CASES}
    return {"n": len(verdicts), **cases, "ACC": summarize(lambda one: one.right)}


def _describe_spread(verdicts: Sequence[SoayVerdict], value_of: Callable[[SoayVerdict], float]) -> dict[str, float]:
    values = [float(value_of(one)) for one in verdicts] or [0.0]
    return {"p50": median(values), "mean": mean(values), "max": max(values)}


class SoayVerdictLine(Model):
    """One line of the file: a verdict and the conditions it was measured under."""

    conditions: dict[str, JsonValue]
    verdict: SoayVerdict


class SoayVerdictFile:
    """A file of verdicts; with the path None nothing is stored."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def read(self, conditions: Mapping[str, JsonValue]) -> dict[str, SoayVerdict]:
        """Return the verdicts measured under these conditions, by the id of the question.

        Raises:
            BrokenInputError: a line cannot be used.
        """
        if self._path is None or not self._path.is_file():
            return {}
        lines = (_parse_line(line) for line in read_lines(self._path))
        return {one.verdict.id: one.verdict for one in lines if one.conditions == dict(conditions)}

    def add(self, conditions: Mapping[str, JsonValue], verdict: SoayVerdict) -> None:
        """Append a verdict."""
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(SoayVerdictLine(conditions=dict(conditions), verdict=verdict).model_dump_json() + "\n")


def _parse_line(line: JsonlLine | SkippedInput) -> SoayVerdictLine:
    if isinstance(line, SkippedInput):
        raise BrokenInputError(line.reason, file=line.file, line=line.line)
    try:
        return SoayVerdictLine.model_validate_json(line.body)
    except ValidationError as error:
        raise BrokenInputError(describe_errors(error), file=str(line.number), line=line.number) from error
