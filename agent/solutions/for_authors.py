"""Near solutions as examples for the author of a program: at most two, abbreviated."""

from collections.abc import Mapping, Sequence

from agent.offer.tool_facts import Evidence
from agent.programs.analysis.forms import called_as
from agent.programs.known import Known, KnownProgram
from agent.programs.names import tool_names
from agent.solutions.protocol import NearSolution
from domain.solution import Solution
from domain.tool import ToolDoc, ToolId

MOST = 2
NEAR_ENOUGH = 0.5
"""Minimum likeness of a solution that is shown."""
_LONGEST = 1_500
"""Maximum characters of a text that is shown."""


async def shown_to_author(
    near: Sequence[NearSolution], taken: str, offered: Sequence[ToolDoc], evidence: Evidence
) -> tuple[Known, Sequence[ToolDoc]]:
    """Return the best solutions except the ``taken`` one, and the offered tools with theirs in front.

    A text whose author had seen responses is not shown, because it may contain some of their words; nor is one
    whose tools are not all indexed.
    """
    fit = [one for one in near if one.likeness >= NEAR_ENOUGH and one.solution.id != taken and _is_fit(one)]
    await evidence.read([tool for one in fit[:MOST] for tool in one.solution.plan.program.tools.values()])
    chosen = [one for one in fit[:MOST] if all(map(evidence.has, one.solution.plan.program.tools.values()))]
    known = {tool.id for tool in offered}
    called = dict.fromkeys(tool for one in chosen for tool in one.solution.plan.program.tools.values())
    more = [evidence.doc(tool) for tool in called if tool not in known]
    tools = [*more, *offered]
    names = {name: tool.id for name, tool in tool_names(tools)}
    return Known(tuple(known_program(one.solution, one.pattern, names) for one in chosen)), tools


def _is_fit(one: NearSolution) -> bool:
    program = one.solution.plan.program
    return not program.tainted and len(program.text) <= _LONGEST


def known_program(solution: Solution, pattern: str, names: Mapping[str, ToolId]) -> KnownProgram:
    """Return a solution as an example for an author, with its calls renamed to these ``names`` of functions."""
    plan = solution.plan
    by_tool = {tool: name for name, tool in names.items()}
    called = {name: by_tool.get(tool, name) for name, tool in plan.program.tools.items()}
    return KnownProgram(pattern, plan.inputs, called_as(plan.program.text, called), plan.program.tainted)
