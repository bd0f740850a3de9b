"""Near solutions as examples for the author of a program."""

from collections.abc import Mapping, Sequence

from agent.offer.tool_evidence import ToolEvidence
from agent.programs.analysis.canonical_form import rename_functions
from agent.programs.names import assign_tool_names
from agent.programs.protocol import KnownProgram, KnownPrograms
from agent.solutions.protocol import NearSolution
from domain.solution import Solution
from domain.tool import ToolDoc, ToolId

MAX_SHOWN = 2
"""Limit of examples."""
NEAR_ENOUGH = 0.5
"""Minimum likeness of a solution that is shown as an example."""
_MAX_LENGTH = 1_500
"""Limit of the text of an example, in characters; longer ones are not shown."""


async def select_known_programs(
    near: Sequence[NearSolution], taken_id: str, offered_tools: Sequence[ToolDoc], evidence: ToolEvidence
) -> tuple[KnownPrograms, Sequence[ToolDoc]]:
    """Return the best near solutions as examples, and the offered tools with the tools of the examples in front.

    Not shown are the solution ``taken_id``, which was tried already; texts whose author had seen responses, because
    they may contain words of these; and texts whose tools are not all indexed.
    """
    fit = [one for one in near if one.likeness >= NEAR_ENOUGH and one.solution.id != taken_id and _is_fit(one)]
    await evidence.read([tool for one in fit[:MAX_SHOWN] for tool in one.solution.plan.program.tools.values()])
    chosen = [one for one in fit[:MAX_SHOWN] if all(map(evidence.has, one.solution.plan.program.tools.values()))]
    offered_ids = {tool.id for tool in offered_tools}
    called = dict.fromkeys(tool for one in chosen for tool in one.solution.plan.program.tools.values())
    missing_tools = [evidence.doc(tool) for tool in called if tool not in offered_ids]
    tools = [*missing_tools, *offered_tools]
    names = {name: tool.id for name, tool in assign_tool_names(tools)}
    return KnownPrograms(tuple(to_known_program(one.solution, one.pattern, names) for one in chosen)), tools


def _is_fit(candidate: NearSolution) -> bool:
    """Return whether the text of a solution may be shown to an author."""
    program = candidate.solution.plan.program
    return not program.tainted and len(program.text) <= _MAX_LENGTH


def to_known_program(solution: Solution, pattern: str, names: Mapping[str, ToolId]) -> KnownProgram:
    """Return a solution as an example for an author; ``names`` are the names that functions have in the prompt."""
    plan = solution.plan
    by_tool = {tool: name for name, tool in names.items()}
    called = {name: by_tool.get(tool, name) for name, tool in plan.program.tools.items()}
    return KnownProgram(pattern, plan.inputs, rename_functions(plan.program.text, called), plan.program.tainted)
