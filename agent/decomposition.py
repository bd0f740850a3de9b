"""A request to its subtasks, once per run: what rules see of its parts, what the retriever finds for them, what the policy makes of it."""

from agent.offer.tool_facts import Evidence
from agent.policy.protocol import Policy
from agent.policy.subtasks import AskedEarlier, AskedPart, DecomposeQuestion, Decomposition, Subtask, whole
from domain.errors import InvalidDecisionError
from domain.tool import ToolId


async def decompose(
    request: str, evidence: Evidence, policy: Policy, found: int, earlier: tuple[AskedEarlier, ...] = ()
) -> Decomposition:
    """At least one subtask, in an order in which they can be done. ``found``: tools that are looked up for each part. ``earlier``: what was
    asked before in the conversation.

    For a request of one part nothing is looked up. Where several are, the walk of an unsplit request finds them looked up already.

    Raises:
        InvalidDecisionError: the policy's subtasks are not numbered in order, or wait for each other or for calls that were never made.
    """
    parts = evidence.reader.parts(request)
    if len(parts) < 2:
        texts = [AskedPart(request, ())]
    else:
        await evidence.look_up([text for part in parts for text in _ways_to_say(part, evidence)], found)
        texts = [AskedPart(part, await _near(part, evidence, found)) for part in parts]
    decomposition = await policy.decompose(DecomposeQuestion(request, tuple(texts), earlier))
    made = {number for one in earlier for number, _, _ in one.steps}
    for number, one in enumerate(decomposition.subtasks, start=1):
        if (
            one.number != number
            or not all(1 <= other < number for other in one.depends_on)
            or not made.issuperset(one.earlier)
        ):
            raise InvalidDecisionError(f"the policy's subtask {number} is out of order: {one.name!r}")
    return decomposition if decomposition.subtasks else whole(request, "it was not split")


async def _near(part: str, evidence: Evidence, found: int) -> tuple[tuple[ToolId, float], ...]:
    """The tools nearest to a part, in its own words or in those of documents, best first."""
    scores: dict[ToolId, float] = {}
    for text in _ways_to_say(part, evidence):
        for hit in await evidence.find(text, found):
            scores[hit.id] = max(hit.score, scores.get(hit.id, 0.0))
    return tuple(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:found])


def _ways_to_say(part: str, evidence: Evidence) -> tuple[str, ...]:
    return tuple(dict.fromkeys((part, evidence.reader.wording(part))))


def waiting(subtasks: tuple[Subtask, ...]) -> dict[int, tuple[int, ...]]:
    """For each subtask, those that must end before it begins."""
    return {one.number: tuple(sorted(one.depends_on)) for one in subtasks}
