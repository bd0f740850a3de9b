"""A request to its subtasks, once per run: what rules see of its parts, what the retriever finds for them, what the policy makes of it."""

import re

from agent.clauses import asks
from agent.coordination import atoms
from agent.decomposition import AskedPart, DecomposeQuestion, Decomposition, Subtask, whole
from agent.evidence import Evidence
from agent.policy import Policy
from domain.errors import InvalidDecisionError

_AND = re.compile(
    r",?\s+(?:and|as well as|plus)(?:\s+also)?\s+(?=(?:the|a|an|my|our)\s+(?:[a-z-]+\s+){1,4}(?:of|in|for|at|from|by|on)\s)"
)
_PAIRS = re.compile(
    r"\b(?:between|from|versus|compared?|comparison|differ\w*|than|both|either|distance)\b", re.IGNORECASE
)
"""What takes two things at once."""


def parts_of(request: str) -> tuple[str, ...]:
    """What a request asks, one thing each: its asks, and of one that names two things of two things ("the price of A and the author
    of B") both. What each is about is still to be seen.
    """
    return tuple(side for ask in asks(request) for side in _sides(ask.text))


def _sides(text: str) -> list[str]:
    sides = [side.strip() for side in _AND.split(text)]
    named = [{atom.text for atom in atoms(side)} for side in sides]
    apart = all(
        values and not values & other for at, values in enumerate(named) for other in (named[:at] or [set[str]()])
    )
    return sides if len(sides) > 1 and apart and not _PAIRS.search(text) else [text]


async def decompose(request: str, evidence: Evidence, policy: Policy, found: int) -> Decomposition:
    """At least one subtask, in an order in which they can be done. ``found``: tools that are looked up for each part.

    For a request of one part nothing is looked up. Where several are, the walk of an unsplit request finds them looked up already.

    Raises:
        InvalidDecisionError: the policy's subtasks are not numbered in order, or wait for each other.
    """
    parts = parts_of(request)
    if len(parts) < 2:
        texts = [AskedPart(request, ())]
    else:
        texts = [
            AskedPart(part, tuple((hit.id, hit.score) for hit in await evidence.find(part, found))) for part in parts
        ]
    decomposition = await policy.decompose(DecomposeQuestion(request, tuple(texts)))
    for number, one in enumerate(decomposition.subtasks, start=1):
        if one.number != number or not all(1 <= other < number for other in one.depends_on):
            raise InvalidDecisionError(f"the policy's subtask {number} is out of order: {one.name!r}")
    return decomposition if decomposition.subtasks else whole(request, "it was not split")


def waiting(subtasks: tuple[Subtask, ...]) -> dict[int, tuple[int, ...]]:
    """For each subtask, those that must end before it begins."""
    return {one.number: one.depends_on for one in subtasks}
