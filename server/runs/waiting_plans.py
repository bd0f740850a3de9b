"""Plans that wait for their user's approval: loaded, edited, checked as steps and as program text, and approved."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, cast

from agent.execution.call_identity import build_call_key
from agent.offer.tool_evidence import ToolEvidence
from agent.plans.plan_compilation import compile_plan, has_own_answer, to_plan_document
from agent.plans.plan_text_check import CheckedPlan, PlanComplaint, check_plan
from agent.plans.plan_validation import PlanCheckContext, PlanProblem, find_problems
from agent.programs.function_names import RESERVED_NAMES, assign_names, assign_tool_names
from agent.programs.offered_functions import OFFER_SIZE
from agent.programs.signatures import ToolSignature, build_named_signatures
from agent.text import clean_text
from domain.errors import FootpathError, NotFoundError, NotLinearError, UsageError
from domain.event import CallFinished
from domain.model import JsonObject
from domain.plan import PlanDocument, StepResult
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId
from server.runs.agent_runtime import AgentRuntime
from server.runs.conversation_context import load_earlier_runs
from server.runs.event_journal import parse_events
from server.storage.permissions import get_call_target
from server.storage.run_records import RunQuestion
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
    stored_events = await storage.events.list_kinds(plan.run.id, ("call.finished",))
    events = [record.event for record in await parse_events(stored_events)]
    results = [result for run in await load_earlier_runs(plan.run, storage) for _, result in run.steps]
    results += [event.result for event in events if isinstance(event, CallFinished)]
    results_by_call = {
        build_call_key(result.tool, result.arguments): result for result in results if result.status == "ok"
    }
    return [
        (tool, results_by_call.get(build_call_key(tool, arguments)) if arguments is not None else None)
        for tool, arguments in zip_longest(plan.given_tools, plan.given_arguments)
    ]


def raise_plan_problems(problems: Sequence[PlanProblem]) -> None:
    """Raise ``UsageError`` with all problems of a plan's steps, if there are any."""
    if problems:
        messages = [
            f"Step {problem.step}: {problem.message}" if problem.step else problem.message for problem in problems
        ]
        faults = tuple((_format_problem_place(problem), problem.message) for problem in problems)
        raise UsageError(f"the plan cannot be carried out as it stands. {' '.join(messages[:20])}", faults)


def _format_problem_place(problem: PlanProblem) -> str:
    """Format a problem's place, as ``document.steps.1.city`` or ``document.parameters.city``; steps count from 1."""
    step = f"steps.{problem.step}" if problem.step else "parameters" if problem.parameter else ""
    return ".".join(part for part in ("document", step, problem.parameter or "") if part)


MAX_LISTED_STEPS = 100
"""Largest number of steps of a plan that is written as steps."""
_MAX_REASONS = 2
"""Reasons of the offer that are shown for each tool."""


@dataclass(frozen=True, slots=True)
class PlanFunctions:
    """Tools that a plan may call as functions, with their documents."""

    evidence: ToolEvidence
    docs: Mapping[ToolId, ToolDoc]
    """Documents of all tools that the plan names, may call or builds on, as far as there are any."""
    tools: Mapping[str, ToolId]
    """Tools by the names of their functions, those of the plan first."""
    offered: Mapping[ToolId, str] = field(default_factory=dict[ToolId, str])
    """Why each tool of the offer is offered, in the order of the offer."""

    def build_signatures(self) -> dict[str, ToolSignature]:
        """Build the signatures of the functions whose tools exist."""
        return build_named_signatures({name: self.docs[tool] for name, tool in self.tools.items() if tool in self.docs})


async def load_plan_functions(agents: AgentRuntime, plan: WaitingPlan) -> PlanFunctions:
    """Load the functions of a waiting plan.

    A tool keeps the name that the plan has for it; tools that are offered besides get names of their own.
    """
    evidence = await agents.collect_evidence(plan.request, plan.run.user_id)
    plans = [version for version in (plan.plan, plan.original) if version is not None]
    own_tools = [tool for version in plans for tool in _get_tools(version)]
    await evidence.read([*plan.given_tools, *own_tools])
    offered = await _load_offer_reasons(agents, plan.request)
    await evidence.read(list(offered))
    docs = {tool: evidence.doc(tool) for tool in (*plan.given_tools, *own_tools, *offered) if evidence.has(tool)}
    names = await asyncio.to_thread(_collect_names, plans, docs)
    named_tools = set(names.values())
    unnamed_docs = [docs[tool] for tool in offered if tool in docs and tool not in named_tools]
    offered_names = assign_names(assign_tool_names(unnamed_docs), lambda one: (one[0],), {*RESERVED_NAMES, *names})
    tools = names | {name: doc.id for name, (_, doc) in offered_names}
    return PlanFunctions(evidence, docs, tools, {tool: why for tool, why in offered.items() if tool in docs})


def _get_tools(plan: PlanDocument | ProgramPlan) -> Sequence[ToolId]:
    tools = (step.tool for step in plan.steps) if isinstance(plan, PlanDocument) else plan.program.tools.values()
    return list(dict.fromkeys(tools))


def to_program(
    plan: PlanDocument | ProgramPlan, docs: Mapping[ToolId, ToolDoc], given_tools: Sequence[ToolId] = ()
) -> ProgramPlan:
    """Return a plan as a program; a list of too many steps becomes an empty program."""
    if isinstance(plan, ProgramPlan):
        return plan
    return compile_plan(plan if len(plan.steps) <= MAX_LISTED_STEPS else PlanDocument(steps=()), docs, given_tools)


def _collect_names(plans: Sequence[PlanDocument | ProgramPlan], docs: Mapping[ToolId, ToolDoc]) -> dict[str, ToolId]:
    """Collect the function names of the plans; where several plans name a tool, the first one decides."""
    names: dict[str, ToolId] = {}
    for plan in plans:
        program = to_program(plan, docs).program
        named_tools = set(names.values())
        names |= {name: tool for name, tool in program.tools.items() if name not in names and tool not in named_tools}
    return names


async def _load_offer_reasons(agents: AgentRuntime, request: str) -> Mapping[ToolId, str]:
    """Return why each tool is offered, best first.

    Empty where no offer can be made: a plan can be edited without one.
    """
    try:
        offer = await (await (await agents.get_container()).create_offer_maker()).offer(request, OFFER_SIZE)
    except FootpathError:
        return {}
    return {tool.id: "; ".join(reason.description for reason in tool.reasons[:_MAX_REASONS]) for tool in offer.tools}


@dataclass(frozen=True, slots=True)
class CheckedOpenPlan:
    """A waiting plan as a program, with the complaints about it."""

    plan: ProgramPlan
    """The plan as it is shown, with the text as it was written."""
    executable: ProgramPlan
    """The program that would be run."""
    complaints: tuple[PlanComplaint, ...] = ()
    """Complaints about the text."""
    problems: tuple[PlanProblem, ...] = ()
    """Problems of the steps."""
    document: PlanDocument | None = None
    """The plan as steps; None where it cannot be written as steps, as ``why_no_steps`` explains."""
    why_no_steps: str = ""
    speaks: bool = False
    """True if the program composes an answer of its own, which steps cannot."""

    def raise_problems(self) -> None:
        """Raise ``UsageError`` with all that is wrong with the plan, if anything is."""
        raise_plan_problems(self.problems)
        if self.complaints:
            messages = [
                f"Line {complaint.line}: {complaint.message}" if complaint.line else complaint.message
                for complaint in self.complaints
            ]
            faults = tuple((_format_complaint_place(complaint), complaint.message) for complaint in self.complaints)
            raise UsageError(f"the plan cannot be carried out as it stands. {' '.join(messages[:20])}", faults)


async def check_open_plan(
    agents: AgentRuntime, plan: WaitingPlan, functions: PlanFunctions, depth: int
) -> CheckedOpenPlan:
    """Check a waiting plan. ``depth``: the largest number of steps in a list of steps."""
    if isinstance(plan.plan, PlanDocument):
        return await asyncio.to_thread(_compile_steps, plan, plan.plan, functions, depth)
    checked_text = await check_plan_text(agents, plan.plan, plan, functions)
    checked_text = replace(checked_text, complaints=(*checked_text.complaints, *_find_missing_values(plan.plan)))
    shown_plan = plan.plan.model_copy(
        update={"program": checked_text.plan.program.model_copy(update={"text": plan.plan.program.text})}
    )
    steps_or_reason: dict[str, Any] = {}
    if not checked_text.complaints:
        steps_or_reason = await asyncio.to_thread(_derive_steps, checked_text.plan, plan, functions)
    return CheckedOpenPlan(shown_plan, checked_text.plan, checked_text.complaints, **steps_or_reason)


async def check_plan_text(
    agents: AgentRuntime, written: ProgramPlan, plan: WaitingPlan, functions: PlanFunctions
) -> CheckedPlan:
    """Check the text of a plan that may call these functions."""
    sandbox = (await agents.get_container()).sandbox()
    return await check_plan(
        written.program.text,
        written.inputs,
        functions.tools,
        functions.docs,
        sandbox,
        plan.given_tools,
        values=written.values,
        files=await agents.load_files(plan.run),
    )


def _find_missing_values(plan: ProgramPlan) -> Iterator[PlanComplaint]:
    """Yield a complaint for each input that a run would find without a value."""
    for name, schema in plan.inputs.items():
        if name not in plan.values and "default" not in schema:
            yield PlanComplaint(f"The input {clean_text(name, 80)} has no value: give it one.", input=name)


def _compile_steps(plan: WaitingPlan, document: PlanDocument, functions: PlanFunctions, depth: int) -> CheckedOpenPlan:
    """Check a plan that is a list of steps, and compile it to a program."""
    check_context = PlanCheckContext(functions.docs, plan.given_tools, depth)
    step_problems = find_problems(document, check_context)
    program = to_program(document, functions.docs, plan.given_tools)
    return CheckedOpenPlan(program, program, (), step_problems, document)


def _derive_steps(program: ProgramPlan, plan: WaitingPlan, functions: PlanFunctions) -> dict[str, Any]:
    """Return the fields of :class:`CheckedOpenPlan` about the plan as steps."""
    try:
        document = to_plan_document(program, functions.docs, plan.given_tools)
    except NotLinearError as error:
        return {"why_no_steps": str(error), "speaks": has_own_answer(program.program)}
    return {"document": document, "speaks": has_own_answer(program.program)}


def _format_complaint_place(complaint: PlanComplaint) -> str:
    """Format a complaint's place, as ``program.text.3`` for a line or ``program.inputs.city`` for an input."""
    if complaint.input:
        return f"program.inputs.{complaint.input}"
    return f"program.text.{complaint.line}" if complaint.line else "program.text"
