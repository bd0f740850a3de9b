"""Check of a waiting plan as the program that it is: its steps compiled, its text checked, and all complaints."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent.offer.tool_evidence import ToolEvidence
from agent.plans.checked_plan import CheckedPlan, PlanComplaint, check_plan
from agent.plans.compilation import compile_plan, has_own_answer, to_document
from agent.plans.validation import PlanCheckContext, PlanProblem, find_problems
from agent.programs.names import RESERVED_NAMES, assign_names, assign_tool_names
from agent.programs.offered_functions import OFFER_SIZE
from agent.programs.signatures import ToolSignature, build_named_signatures
from agent.text import clean
from domain.errors import FootpathError, NotLinearError, UsageError
from domain.plan import PlanDocument
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId
from server.runs.agent_runtime import AgentRuntime
from server.runs.waiting_plans import WaitingPlan, refuse

MOST_STEPS = 100
"""Largest number of steps of a plan that is written as steps."""
_REASONS = 2
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
    plans = [one for one in (plan.plan, plan.original) if one is not None]
    own = [tool for one in plans for tool in _get_tools(one)]
    await evidence.read([*plan.given_tools, *own])
    offered = await _load_offer_reasons(agents, plan.request)
    await evidence.read(list(offered))
    docs = {tool: evidence.doc(tool) for tool in (*plan.given_tools, *own, *offered) if evidence.has(tool)}
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
    plan: PlanDocument | ProgramPlan, docs: Mapping[ToolId, ToolDoc], given: Sequence[ToolId] = ()
) -> ProgramPlan:
    """Return a plan as a program; a list of too many steps becomes an empty program."""
    if isinstance(plan, ProgramPlan):
        return plan
    return compile_plan(plan if len(plan.steps) <= MOST_STEPS else PlanDocument(steps=()), docs, given)


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
    return {one.id: "; ".join(reason.description for reason in one.reasons[:_REASONS]) for one in offer.tools}


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

    def refuse(self) -> None:
        """Raise ``UsageError`` with all that is wrong with the plan, if anything is."""
        refuse(self.problems)
        if self.complaints:
            messages = [f"Line {one.line}: {one.message}" if one.line else one.message for one in self.complaints]
            faults = tuple((_format_place(one), one.message) for one in self.complaints)
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
            yield PlanComplaint(f"The input {clean(name, 80)} has no value: give it one.", input=name)


def _compile_steps(plan: WaitingPlan, document: PlanDocument, functions: PlanFunctions, depth: int) -> CheckedOpenPlan:
    """Check a plan that is a list of steps, and compile it to a program."""
    check_context = PlanCheckContext(functions.docs, plan.given_tools, depth)
    step_problems = find_problems(document, check_context)
    program = to_program(document, functions.docs, plan.given_tools)
    return CheckedOpenPlan(program, program, (), step_problems, document)


def _derive_steps(program: ProgramPlan, plan: WaitingPlan, functions: PlanFunctions) -> dict[str, Any]:
    """Return the fields of :class:`CheckedOpenPlan` about the plan as steps."""
    try:
        document = to_document(program, functions.docs, plan.given_tools)
    except NotLinearError as error:
        return {"why_no_steps": str(error), "speaks": has_own_answer(program.program)}
    return {"document": document, "speaks": has_own_answer(program.program)}


def _format_place(complaint: PlanComplaint) -> str:
    """Format a complaint's place, as ``program.text.3`` for a line or ``program.inputs.city`` for an input."""
    if complaint.input:
        return f"program.inputs.{complaint.input}"
    return f"program.text.{complaint.line}" if complaint.line else "program.text"
