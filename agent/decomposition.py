"""Decomposition of a request into subtasks by the policy, once per run (thesis 4.3.1)."""

from agent.offer.tool_evidence import ToolFinder
from agent.policy.protocol import Policy
from agent.policy.subtasks import DecomposeQuestion, Decomposition, EarlierRequest, build_single_subtask
from domain.errors import InvalidDecisionError
from domain.tool import split_tool_id

_NEAREST_TOOLS = 60
"""Number of tools nearest to a request whose categories are offered for the decomposition."""
_MAX_CATEGORIES = 30
"""Limit of categories offered for the decomposition."""


async def decompose(
    request: str, policy: Policy, earlier: tuple[EarlierRequest, ...] = (), categories: tuple[str, ...] = ()
) -> Decomposition:
    """Split a request into at least one subtask, in an order in which they can be done.

    Args:
        request: the user's words.
        policy: the policy that decides.
        earlier: previous requests of the conversation.
        categories: categories of tools, one of which each subtask is to name; empty if it need not.

    Raises:
        InvalidDecisionError: subtasks are not numbered in order, depend on a later one, or refer to earlier calls
            that do not exist.
    """
    decomposition = await policy.decide(DecomposeQuestion(request, earlier, categories))
    known_calls = {number for one in earlier for number, _, _ in one.steps}
    for number, one in enumerate(decomposition.subtasks, start=1):
        if (
            one.number != number
            or not all(1 <= other < number for other in one.depends_on)
            or not known_calls.issuperset(one.earlier)
        ):
            raise InvalidDecisionError(f"the policy's subtask {number} is out of order: {one.name!r}")
    return decomposition if decomposition.subtasks else build_single_subtask(request, "it was not split")


async def find_categories(request: str, search: ToolFinder) -> tuple[str, ...]:
    """Return the categories of the tools nearest to a request, nearest first."""
    nearest = [tool.id for tools in await search.start_tools_of([request], _NEAREST_TOOLS) for tool in tools]
    return tuple(dict.fromkeys(split_tool_id(tool)[0] for tool in nearest))[:_MAX_CATEGORIES]
