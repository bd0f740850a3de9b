"""A request to its subtasks, once per run: what rules see of its parts, what the retriever finds for them, what the policy makes of it."""

from agent.clauses import asks
from agent.evidence import Evidence
from agent.policy import AskedPart, DecomposeQuestion, Decomposition, Policy, Subtask, whole
from domain.errors import InvalidDecisionError


async def decompose(request: str, evidence: Evidence, policy: Policy, found: int) -> Decomposition:
    """At least one subtask, in an order in which they can be done. ``found``: tools that are looked up for each part.

    For a request of one part nothing is looked up. Where several are, the walk of an unsplit request finds them looked up already.

    Raises:
        InvalidDecisionError: the policy's subtasks are not numbered in order, or wait for each other.
    """
    parts = asks(request)
    if len(parts) < 2:
        texts = [AskedPart(part.text, ()) for part in parts] or [AskedPart(request, ())]
    else:
        texts = [
            AskedPart(part.text, tuple((hit.id, hit.score) for hit in await evidence.find(part.text, found)))
            for part in parts
        ]
    decomposition = await policy.decompose(DecomposeQuestion(request, tuple(texts)))
    for number, one in enumerate(decomposition.subtasks, start=1):
        if one.number != number or not all(1 <= other < number for other in one.depends_on):
            raise InvalidDecisionError(f"the policy's subtask {number} is out of order: {one.name!r}")
    return decomposition if decomposition.subtasks else whole(request, "it was not split")


def waiting(subtasks: tuple[Subtask, ...]) -> dict[int, tuple[int, ...]]:
    """For each subtask, those that must end before it begins."""
    return {one.number: one.depends_on for one in subtasks}
