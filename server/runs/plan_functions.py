"""Functions that the text of a plan may call: tools that it names, and tools that are offered for its request."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent.offer.tool_facts import Evidence
from agent.plans.compiling import compiled
from agent.programs.names import TAKEN, named, tool_names
from agent.programs.offered import OFFERED
from agent.programs.signatures import Signature, signatures_of
from domain.errors import FootpathError
from domain.plan_document import PlanDocument
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId
from server.runs.agents import Agents
from server.runs.plans import OpenPlan

MOST_STEPS = 100
"""Largest number of steps of a plan that is written as steps."""
_REASONS = 2
"""Reasons of the offer that are shown for each tool."""


@dataclass(frozen=True, slots=True)
class PlanFunctions:
    """Tools that a plan may call as functions, with their documents."""

    evidence: Evidence
    docs: Mapping[ToolId, ToolDoc]
    """Documents of all tools that the plan names, may call or builds on, as far as there are any."""
    tools: Mapping[str, ToolId]
    """Tools by the names of their functions, those of the plan first."""
    offered: Mapping[ToolId, str] = field(default_factory=dict[ToolId, str])
    """Why each tool of the offer is offered, in the order of the offer."""

    def signatures(self) -> dict[str, Signature]:
        """Build the signatures of the functions whose tools exist."""
        return signatures_of({name: self.docs[tool] for name, tool in self.tools.items() if tool in self.docs})


async def plan_functions(agents: Agents, plan: OpenPlan) -> PlanFunctions:
    """Load the functions of a waiting plan.

    A tool keeps the name that the plan has for it; tools that are offered besides get names of their own.
    """
    evidence = await agents.evidence(plan.request, plan.run.user_id)
    plans = [one for one in (plan.plan, plan.first) if one is not None]
    own = [tool for one in plans for tool in _tools_of(one)]
    await evidence.read([*plan.given, *own])
    offered = await _offered(agents, plan.request)
    await evidence.read(list(offered))
    known = {tool: evidence.doc(tool) for tool in (*plan.given, *own, *offered) if evidence.has(tool)}
    names = await asyncio.to_thread(_names_in, plans, known)
    there = set(names.values())
    more = [known[tool] for tool in offered if tool in known and tool not in there]
    found = named(tool_names(more), lambda one: (one[0],), {*TAKEN, *names})
    tools = names | {name: doc.id for name, (_, doc) in found}
    return PlanFunctions(evidence, known, tools, {tool: why for tool, why in offered.items() if tool in known})


def _tools_of(plan: PlanDocument | ProgramPlan) -> Sequence[ToolId]:
    told = (step.tool for step in plan.steps) if isinstance(plan, PlanDocument) else plan.program.tools.values()
    return list(dict.fromkeys(told))


def program_of(
    plan: PlanDocument | ProgramPlan, docs: Mapping[ToolId, ToolDoc], given: Sequence[ToolId] = ()
) -> ProgramPlan:
    """Return a plan as a program; one without text where the plan has too many steps to be carried out."""
    if isinstance(plan, ProgramPlan):
        return plan
    return compiled(plan if len(plan.steps) <= MOST_STEPS else PlanDocument(steps=()), docs, given)


def _names_in(plans: Sequence[PlanDocument | ProgramPlan], docs: Mapping[ToolId, ToolDoc]) -> dict[str, ToolId]:
    """Collect the function names of the plans; where several plans name a tool, the first one decides."""
    names: dict[str, ToolId] = {}
    for plan in plans:
        program = program_of(plan, docs).program
        there = set(names.values())
        names |= {name: tool for name, tool in program.tools.items() if name not in names and tool not in there}
    return names


async def _offered(agents: Agents, request: str) -> Mapping[ToolId, str]:
    """Return why each tool is offered, best first.

    Empty where no offer can be made: a plan can be edited without one.
    """
    try:
        offer = await (await (await agents.container()).offers()).offer(request, OFFERED)
    except FootpathError:
        return {}
    return {one.id: "; ".join(reason.told for reason in one.reasons[:_REASONS]) for one in offer.tools}
