"""A request to its subtasks, once per run, as its policy splits it."""

from agent.policy.protocol import Policy
from agent.policy.subtasks import AskedEarlier, DecomposeQuestion, Decomposition, whole
from domain.errors import InvalidDecisionError


async def decompose(request: str, policy: Policy, earlier: tuple[AskedEarlier, ...] = ()) -> Decomposition:
    """At least one subtask, in an order in which they can be done. ``earlier``: what was asked before in the conversation.

    Raises:
        InvalidDecisionError: the policy's subtasks are not numbered in order, or wait for each other or for calls that were never made.
    """
    decomposition = await policy.decide(DecomposeQuestion(request, earlier))
    made = {number for one in earlier for number, _, _ in one.steps}
    for number, one in enumerate(decomposition.subtasks, start=1):
        if (
            one.number != number
            or not all(1 <= other < number for other in one.depends_on)
            or not made.issuperset(one.earlier)
        ):
            raise InvalidDecisionError(f"the policy's subtask {number} is out of order: {one.name!r}")
    return decomposition if decomposition.subtasks else whole(request, "it was not split")
