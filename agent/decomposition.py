"""Decomposition of a request into subtasks by the policy, once per run (thesis 4.3.1)."""

from agent.offer.tool_facts import ToolFinder
from agent.policy.protocol import Policy
from agent.policy.subtasks import AskedEarlier, DecomposeQuestion, Decomposition, whole
from domain.errors import InvalidDecisionError
from domain.tool import tool_id_parts

_NEAR = 60
"""Number of tools nearest to a request whose categories are offered for the decomposition."""
_CATEGORIES = 30


async def decompose(
    request: str, policy: Policy, earlier: tuple[AskedEarlier, ...] = (), categories: tuple[str, ...] = ()
) -> Decomposition:
    """Split a request into at least one subtask, in an order in which they can be done.

    ``earlier`` are the previous requests of the conversation. ``categories`` are categories of tools, of which each subtask is to
    name one.

    Raises:
        InvalidDecisionError: the policy's subtasks are not numbered in order, depend on a later one, or refer to calls that were
            never made.
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
    """Return the categories of the tools nearest to a request, nearest first."""
    found = [tool.id for tools in await search.start_tools_of([request], _NEAR) for tool in tools]
    return tuple(dict.fromkeys(tool_id_parts(tool)[0] for tool in found))[:_CATEGORIES]
