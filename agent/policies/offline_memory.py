"""The offline policy's first look: what served requests like this one, where that can be done here and now.

Memories vote for what came next on their paths, each by its similarity. It is a transition weight that depends on the
request, where the graph's own does not (thesis 4.3.2.4).
"""

from collections.abc import Callable
from dataclasses import dataclass

from agent.memory import standing
from agent.policies.offline_changes import may_call
from agent.policy import Adoption, Choice, Proposal, Situation
from agent.remembering import next_of
from agent.returning import rivalled, working
from domain.memory import Recalled
from domain.tool import FINISH, ToolDoc, ToolId

Missing = Callable[[ToolDoc, tuple[ToolDoc, ...]], frozenset[str]]

TRUSTED = 0.62
"""Similarity from which a memory may decide: the lowest at which nine of ten trajectories of the playground, each left out
in turn, have the path of their most similar memory (docs/benchmarks.md)."""
_SHARPNESS = 12
"""How much more the most similar memories count: a vote is similarity to this power."""


@dataclass(frozen=True, slots=True)
class _Vote:
    """What memories say comes next: their weight together, and the one that is most alike."""

    weight: float
    best: Recalled


def remembered(situation: Situation, missing: Missing) -> Choice | None:
    """The move that memories of similar requests agree on; None where none is similar enough, or none can be followed.

    A tool that mostly fails now is not followed to, and where another one is to be tried again in the place of what is
    remembered, memory has no say.
    """
    votes = _votes(situation)
    usable = {
        candidate.tool.id: at
        for at, candidate in enumerate(situation.candidates)
        if candidate.tool.id in votes
        and working(candidate.availability)
        and may_call(candidate.tool, situation.request)
        and not missing(candidate.tool, situation.path)
    }
    open_ways = {tool: vote for tool, vote in votes.items() if tool in usable or (tool == FINISH and situation.path)}
    if not open_ways:
        return None
    tool = max(open_ways, key=lambda t: (open_ways[t].weight, t))
    best = open_ways[tool].best
    if best.similarity < TRUSTED or (tool != FINISH and rivalled(situation.candidates, tool)):
        return None
    like = f'"{best.memory.request}" ({best.similarity:.2f})'
    if tool == FINISH:
        return Choice("finish", f"the path that served {like}", memory=best.memory.id)
    return Choice("advance", f"the next step of what served {like}", usable[tool], best.memory.id)


def adoptable(proposal: Proposal) -> Adoption:
    """Whether a path that can be walked here and now may be walked for this request."""
    barred = next((tool for tool in proposal.path if not may_call(tool, proposal.request)), None)
    if barred is not None:
        return Adoption(
            adopted=False, reason=f"{barred.api} would change something, which the request does not ask for"
        )
    one = proposal.recalled
    return Adoption(adopted=True, reason=f'as for "{one.memory.request}" ({one.similarity:.2f})')


def _votes(situation: Situation) -> dict[ToolId, _Vote]:
    """For each tool that a memory's path goes on to from here, and for ``FINISH``, what speaks for it."""
    path = [tool.id for tool in situation.path]
    votes: dict[ToolId, _Vote] = {}
    for one in situation.recalled:
        following = next_of(one.memory.path, path)
        if following is not None:
            weight = standing(one.memory) * max(0.0, one.similarity) ** _SHARPNESS
            known = votes.get(following)
            votes[following] = _Vote(weight + known.weight, known.best) if known else _Vote(weight, one)
    return votes
