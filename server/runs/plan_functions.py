"""What the text of a plan may call: the tools that it names, and those that are offered for its request, as functions."""

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
"""Of a plan that is written as steps."""
_REASONS = 2
"""Why a tool is offered, in so many words of the offer."""


@dataclass(frozen=True, slots=True)
class PlanFunctions:
    """``docs``: of all tools that a plan names, may call or builds on, as far as there are any. ``tools``: by the names of their functions, those of the
    plan first. ``offered``: why each of the offer's is, in its order.
    """

    evidence: Evidence
    docs: Mapping[ToolId, ToolDoc]
    tools: Mapping[str, ToolId]
    offered: Mapping[ToolId, str] = field(default_factory=dict[ToolId, str])

    def signatures(self) -> dict[str, Signature]:
        """Of those whose tools are there."""
        return signatures_of({name: self.docs[tool] for name, tool in self.tools.items() if tool in self.docs})


async def plan_functions(agents: Agents, plan: OpenPlan) -> PlanFunctions:
    """Of a plan that waits. A tool has the name that the plan has for it; those that are offered besides have names of their own."""
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
    """What a plan is as a program; without any text where it has more steps than any plan that could be carried out."""
    if isinstance(plan, ProgramPlan):
        return plan
    return compiled(plan if len(plan.steps) <= MOST_STEPS else PlanDocument(steps=()), docs, given)


def _names_in(plans: Sequence[PlanDocument | ProgramPlan], docs: Mapping[ToolId, ToolDoc]) -> dict[str, ToolId]:
    """As the first of them has it, where several name a tool."""
    names: dict[str, ToolId] = {}
    for plan in plans:
        program = program_of(plan, docs).program
        there = set(names.values())
        names |= {name: tool for name, tool in program.tools.items() if name not in names and tool not in there}
    return names


async def _offered(agents: Agents, request: str) -> Mapping[ToolId, str]:
    """Why each tool is offered, best first; nothing where no offer can be made: a plan is edited without one, too."""
    try:
        offer = await (await (await agents.container()).offers()).offer(request, OFFERED)
    except FootpathError:
        return {}
    return {one.id: "; ".join(reason.told for reason in one.reasons[:_REASONS]) for one in offer.tools}
