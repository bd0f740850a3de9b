"""Check of a waiting plan as the program that it is: its steps compiled, its text checked, and all complaints."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from agent.plans.checked_plan import CheckedPlan, PlanComplaint, checked
from agent.plans.compiling import as_document, speaks
from agent.plans.validation import PlanProblem, Surroundings, problems
from agent.text import clean
from domain.errors import NotLinearError, UsageError
from domain.plan_document import PlanDocument
from domain.program import ProgramPlan
from server.runs.agents import Agents
from server.runs.plan_functions import PlanFunctions, program_of
from server.runs.plans import OpenPlan, refuse


@dataclass(frozen=True, slots=True)
class PlanAsProgram:
    """A waiting plan as a program, with the complaints about it."""

    plan: ProgramPlan
    """The plan as it is shown, with the text as it was written."""
    runs: ProgramPlan
    """The program that would be run."""
    complaints: tuple[PlanComplaint, ...] = ()
    """Complaints about the text."""
    problems: tuple[PlanProblem, ...] = ()
    """Problems of the steps."""
    document: PlanDocument | None = None
    """The plan as steps; None where it cannot be written as steps, as ``why_no_steps`` explains."""
    why_no_steps: str = ""
    speaks: bool = False
    """True where it makes an answer of its own, which steps do not."""

    def refuse(self) -> None:
        """Raise ``UsageError`` with all that is wrong with the plan, if anything is."""
        refuse(self.problems)
        if self.complaints:
            told = [f"Line {one.line}: {one.message}" if one.line else one.message for one in self.complaints]
            faults = tuple((_place(one), one.message) for one in self.complaints)
            raise UsageError(f"the plan cannot be carried out as it stands. {' '.join(told[:20])}", faults)


async def as_program(agents: Agents, plan: OpenPlan, functions: PlanFunctions, depth: int) -> PlanAsProgram:
    """Check a waiting plan. ``depth``: the largest number of steps in a list of steps."""
    if isinstance(plan.plan, PlanDocument):
        return await asyncio.to_thread(_of_steps, plan, plan.plan, functions, depth)
    found = await check(agents, plan.plan, plan, functions)
    found = replace(found, complaints=(*found.complaints, *_lacking(plan.plan)))
    shown = plan.plan.model_copy(
        update={"program": found.plan.program.model_copy(update={"text": plan.plan.program.text})}
    )
    told: dict[str, Any] = {}
    if not found.complaints:
        told = await asyncio.to_thread(_steps_of, found.plan, plan, functions)
    return PlanAsProgram(shown, found.plan, found.complaints, **told)


async def check(agents: Agents, written: ProgramPlan, plan: OpenPlan, functions: PlanFunctions) -> CheckedPlan:
    """Check the text of a plan that may call these functions."""
    sandbox = (await agents.container()).sandbox()
    return await checked(
        written.program.text,
        written.inputs,
        functions.tools,
        functions.docs,
        sandbox,
        plan.given,
        values=written.values,
        files=await agents.files_of(plan.run),
    )


def _lacking(plan: ProgramPlan) -> Iterator[PlanComplaint]:
    """Yield a complaint for each input that a run would find without a value."""
    for name, schema in plan.inputs.items():
        if name not in plan.values and "default" not in schema:
            yield PlanComplaint(f"The input {clean(name, 80)} has no value: give it one.", input=name)


def _of_steps(plan: OpenPlan, document: PlanDocument, functions: PlanFunctions, depth: int) -> PlanAsProgram:
    around = Surroundings(functions.docs, plan.given, depth)
    wrong = problems(document, around)
    written = program_of(document, functions.docs, plan.given)
    return PlanAsProgram(written, written, (), wrong, document)


def _steps_of(program: ProgramPlan, plan: OpenPlan, functions: PlanFunctions) -> dict[str, Any]:
    try:
        document = as_document(program, functions.docs, plan.given)
    except NotLinearError as error:
        return {"why_no_steps": str(error), "speaks": speaks(program.program)}
    return {"document": document, "speaks": speaks(program.program)}


def _place(complaint: PlanComplaint) -> str:
    """Format a complaint's place, as ``program.text.3`` for a line or ``program.inputs.city`` for an input."""
    if complaint.input:
        return f"program.inputs.{complaint.input}"
    return f"program.text.{complaint.line}" if complaint.line else "program.text"
