"""A request to its subtasks, once per run, as its policy splits it (thesis 4.3.1)."""

from agent.offer.tool_facts import ToolFinder
from agent.policy.protocol import Policy
from agent.policy.subtasks import AskedEarlier, DecomposeQuestion, Decomposition, whole
from domain.errors import InvalidDecisionError
from domain.tool import tool_id_parts

_NEAR = 60
"""Tools nearest to a request whose categories are shown to whoever splits it."""
_CATEGORIES = 30


async def decompose(
    request: str, policy: Policy, earlier: tuple[AskedEarlier, ...] = (), categories: tuple[str, ...] = ()
) -> Decomposition:
    """At least one subtask, in an order in which they can be done. ``earlier``: what was asked before in the conversation. ``categories``: of
    tools; each subtask is to name its own.

    Raises:
        InvalidDecisionError: the policy's subtasks are not numbered in order, or wait for each other or for calls that were never made.
    """
    decomposition = await policy.decide(DecomposeQuestion(request, earlier, categories))
    made = {number for one in earlier for number, _, _ in one.steps}
    for number, one in enumerate(decomposition.subtasks, start=1):
        if (
            one.number != number
            or not all(1 <= other < number for other in one.depends_on)
            or not made.issuperset(one.earlier)
        ):
            raise InvalidDecisionError(f"the policy's subtask {number} is out of order: {one.name!r}")
    return decomposition if decomposition.subtasks else whole(request, "it was not split")


async def find_categories(request: str, search: ToolFinder) -> tuple[str, ...]:
    """The categories of the tools nearest to a request, the nearest first."""
    found = [tool.id for tools in await search.start_tools_of([request], _NEAR) for tool in tools]
    return tuple(dict.fromkeys(tool_id_parts(tool)[0] for tool in found))[:_CATEGORIES]
