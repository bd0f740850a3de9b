"""Plans that wait for their user's approval: loaded, edited, checked as steps and as program text, and approved."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, cast

from agent.execution.call_identity import build_call_key
from agent.plans.validation import PlanProblem
from domain.errors import NotFoundError, UsageError
from domain.event import CallFinished
from domain.model import JsonObject
from domain.plan import PlanDocument, StepResult
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId
from server.runs.conversation_context import load_earlier_runs
from server.runs.journal import parse_events
from server.storage.permissions import get_call_target
from server.storage.run_events import RunQuestion
from server.storage.runs import Run
from server.storage.storage import Storage


@dataclass(frozen=True, slots=True)
class WaitingPlan:
    """A plan that waits for its user's approval."""

    run: Run
    input: str
    """Key of the question about the plan."""
    plan: PlanDocument | ProgramPlan
    """The plan in its latest version, not checked."""
    request: str
    """Request of the subtask that the plan is for."""
    given_tools: tuple[ToolId, ...]
    """Tools of the earlier steps that the plan builds on."""
    given_arguments: tuple[JsonObject, ...] = ()
    """Arguments with which the steps of ``given_tools`` were called."""
    original: PlanDocument | ProgramPlan | None = None
    """The plan as the run made it."""

    @property
    def version(self) -> int:
        """Return the number of edits of the run's plans."""
        return self.run.plan_version


async def load_waiting_plan(storage: Storage, run_id: str, user_id: str) -> WaitingPlan:
    """Load the plan that a run waits with. ``NotFoundError``: this user has no such run, or it waits with no plan."""
    run = await storage.runs.get(run_id, user_id)
    questions = await storage.run_questions.list_all(run_id, open_only=True) if run is not None else []
    question = next((one for one in questions if one.kind == "plan"), None)
    if run is None or question is None or run.status == "finished":
        raise NotFoundError("no run of yours waits with a plan under this id")
    return await asyncio.to_thread(_parse_waiting_plan, run, question)


async def store_edited_plan(
    storage: Storage, plan: WaitingPlan, new: PlanDocument | ProgramPlan, version: int
) -> WaitingPlan:
    """Store a new plan in place of ``version``. Raises ``ConflictError`` if it was edited or decided on meanwhile."""
    form = "document" if isinstance(new, PlanDocument) else "program"
    stored: JsonObject = {"input": plan.input, form: new.model_dump(mode="json")}
    run = await storage.runs.set_plan(plan.run.id, plan.run.user_id, stored, version, plan.input)
    return replace(plan, run=run, plan=new)


async def approve_plan(
    storage: Storage, plan: WaitingPlan, program: ProgramPlan, tools: Iterable[ToolDoc]
) -> RunQuestion:
    """Approve the checked ``program``, with its ``tools`` at their present call targets.

    Raises:
        ConflictError: the plan was edited or decided on meanwhile.
    """
    answer: JsonObject = {
        "decision": "allow",
        "program": program.model_dump(mode="json"),
        "reach": {tool.id: get_call_target(tool).model_dump() for tool in tools},
    }
    inputs, run = storage.run_questions, plan.run
    return await inputs.answer(run.id, plan.input, run.user_id, answer, plan_version=plan.version)


def _parse_waiting_plan(run: Run, question: RunQuestion) -> WaitingPlan:
    """Build the waiting plan of a question, with the user's last edit if it belongs to this question."""
    content = cast("dict[str, Any]", question.question)
    edited_plan = run.plan if run.plan is not None and run.plan.get("input") == question.key else None
    given_tools, given_arguments = tuple(content["given"]), tuple(content.get("made", ()))
    first = _parse_stored_plan({"document": content.get("plan"), "program": content.get("program")})
    current = first if edited_plan is None else _parse_stored_plan(edited_plan)
    return WaitingPlan(run, question.key, current, content["request"], given_tools, given_arguments, first)


def _parse_stored_plan(stored: JsonObject) -> PlanDocument | ProgramPlan:
    """Parse a stored plan. A plan stored as a program is one, even where a list of steps is stored beside it."""
    if stored.get("program") is not None:
        return ProgramPlan.model_validate(stored["program"])
    return PlanDocument.model_validate(stored["document"])


async def load_given_results(storage: Storage, plan: WaitingPlan) -> list[tuple[ToolId, StepResult | None]]:
    """Load the steps that a plan builds on, with their results from its run or an earlier run of the conversation."""
    stored = await storage.events.list_kinds(plan.run.id, ("call.finished",))
    events = [record.event for record in await parse_events(stored)]
    results = [result for run in await load_earlier_runs(plan.run, storage) for _, result in run.steps]
    results += [event.result for event in events if isinstance(event, CallFinished)]
    results_by_call = {
        build_call_key(result.tool, result.arguments): result for result in results if result.status == "ok"
    }
    return [
        (tool, results_by_call.get(build_call_key(tool, arguments)) if arguments is not None else None)
        for tool, arguments in zip_longest(plan.given_tools, plan.given_arguments)
    ]


def refuse(problems: Sequence[PlanProblem]) -> None:
    """Raise ``UsageError`` with all problems of a plan's steps, if there are any."""
    if problems:
        messages = [f"Step {one.step}: {one.message}" if one.step else one.message for one in problems]
        faults = tuple((_format_place(one), one.message) for one in problems)
        raise UsageError(f"the plan cannot be carried out as it stands. {' '.join(messages[:20])}", faults)


def _format_place(problem: PlanProblem) -> str:
    """Format a problem's place, as ``document.steps.1.city`` or ``document.parameters.city``; steps count from 1."""
    step = f"steps.{problem.step}" if problem.step else "parameters" if problem.parameter else ""
    return ".".join(part for part in ("document", step, problem.parameter or "") if part)
