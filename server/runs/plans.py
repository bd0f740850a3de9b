"""The plan that a run waits with for its user: loaded, edited, approved."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, cast

from agent.execution.identity import key_of
from agent.plans.validation import PlanProblem
from domain.errors import NotFoundError, UsageError
from domain.event import CallFinished
from domain.model import JsonObject
from domain.plan import StepResult
from domain.plan_document import PlanDocument
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId
from server.runs.conversation_context import runs_before
from server.runs.journal import records_of
from server.storage.permissions import get_call_target
from server.storage.run_events import RunQuestion
from server.storage.runs import Run
from server.storage.storage import Storage


@dataclass(frozen=True, slots=True)
class OpenPlan:
    """A plan that waits for its user's approval."""

    run: Run
    input: str
    """Key of the question about the plan."""
    plan: PlanDocument | ProgramPlan
    """The plan in its latest version, not checked."""
    request: str
    """Request of the subtask that the plan is for."""
    given: tuple[ToolId, ...]
    """Tools of the earlier steps that the plan builds on."""
    made: tuple[JsonObject, ...] = ()
    """Arguments with which the steps of ``given`` were called."""
    first: PlanDocument | ProgramPlan | None = None
    """The plan as the run made it."""

    @property
    def version(self) -> int:
        """Return the number of edits of the run's plans."""
        return self.run.plan_version


async def open_plan(storage: Storage, run_id: str, user_id: str) -> OpenPlan:
    """Load the plan that a run waits with. ``NotFoundError``: this user has no such run, or it waits with no plan."""
    run = await storage.runs.get(run_id, user_id)
    asked = await storage.run_questions.list_all(run_id, open_only=True) if run is not None else []
    question = next((one for one in asked if one.kind == "plan"), None)
    if run is None or question is None or run.status == "finished":
        raise NotFoundError("no run of yours waits with a plan under this id")
    return await asyncio.to_thread(_read, run, question)


async def edited(storage: Storage, plan: OpenPlan, new: PlanDocument | ProgramPlan, version: int) -> OpenPlan:
    """Store a new plan in place of the given version. ``ConflictError``: it was edited or decided on meanwhile."""
    form = "document" if isinstance(new, PlanDocument) else "program"
    kept: JsonObject = {"input": plan.input, form: new.model_dump(mode="json")}
    run = await storage.runs.set_plan(plan.run.id, plan.run.user_id, kept, version, plan.input)
    return replace(plan, run=run, plan=new)


async def approve(storage: Storage, plan: OpenPlan, program: ProgramPlan, tools: Iterable[ToolDoc]) -> RunQuestion:
    """Approve the checked ``program``, with its ``tools`` at their present call targets.

    ``ConflictError``: the plan was edited or decided on meanwhile.
    """
    answer: JsonObject = {
        "decision": "allow",
        "program": program.model_dump(mode="json"),
        "reach": {tool.id: get_call_target(tool).model_dump() for tool in tools},
    }
    inputs, run = storage.run_questions, plan.run
    return await inputs.answer(run.id, plan.input, run.user_id, answer, plan_version=plan.version)


def _read(run: Run, question: RunQuestion) -> OpenPlan:
    asked = cast("dict[str, Any]", question.question)
    mine = run.plan if run.plan is not None and run.plan.get("input") == question.key else None
    given, made = tuple(asked["given"]), tuple(asked.get("made", ()))
    first = _written({"document": asked.get("plan"), "program": asked.get("program")})
    now = first if mine is None else _written(mine)
    return OpenPlan(run, question.key, now, asked["request"], given, made, first)


def _written(kept: JsonObject) -> PlanDocument | ProgramPlan:
    """Parse a stored plan. A plan stored as a program is one, even where a list of steps is stored beside it."""
    if kept.get("program") is not None:
        return ProgramPlan.model_validate(kept["program"])
    return PlanDocument.model_validate(kept["document"])


async def given_results(storage: Storage, plan: OpenPlan) -> list[tuple[ToolId, StepResult | None]]:
    """Load the steps that a plan builds on, with their results from its run or an earlier run of the conversation."""
    stored = await storage.events.list_kinds(plan.run.id, ("call.finished",))
    told = [record.event for record in await records_of(stored)]
    results = [result for run in await runs_before(plan.run, storage) for _, result in run.steps]
    results += [event.result for event in told if isinstance(event, CallFinished)]
    found = {key_of(result.tool, result.arguments): result for result in results if result.status == "ok"}
    return [
        (tool, found.get(key_of(tool, arguments)) if arguments is not None else None)
        for tool, arguments in zip_longest(plan.given, plan.made)
    ]


def refuse(problems: Sequence[PlanProblem]) -> None:
    """Raise ``UsageError`` with all problems of a plan's steps, if there are any."""
    if problems:
        told = [f"Step {one.step}: {one.message}" if one.step else one.message for one in problems]
        faults = tuple((_place(one), one.message) for one in problems)
        raise UsageError(f"the plan cannot be carried out as it stands. {' '.join(told[:20])}", faults)


def _place(problem: PlanProblem) -> str:
    """Format a problem's place, as ``document.steps.1.city`` or ``document.parameters.city``; steps count from 1."""
    step = f"steps.{problem.step}" if problem.step else "parameters" if problem.parameter else ""
    return ".".join(part for part in ("document", step, problem.parameter or "") if part)
