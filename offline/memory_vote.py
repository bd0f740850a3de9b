"""The offline policy's first look: what served requests like this one, where that can be done here and now.

Memories vote for what came next on their paths, each by its similarity. It is a transition weight that depends on the
request, where the graph's own does not (thesis 4.3.2.4).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.memory.long_term import vote
from agent.memory.path_reuse import next_of
from agent.offer.exploration import rivalled, working
from agent.policy.path_questions import Adoption, Proposal
from agent.policy.protocol import Choice, Situation
from domain.memory import Recalled
from domain.tool import FINISH, ToolDoc, ToolId
from offline.change_words import makes, may_call, told_to_change
from offline.coverage import unsaid
from offline.nlp.clauses import clauses
from offline.routes import Missing

TRUSTED = 0.57
"""Similarity from which a memory may decide: the lowest at which nine of ten trajectories of the playground, each left out
in turn, have the path of their most similar memory (docs/benchmarks.md)."""
SURE = 0.75
"""Similarity from which a memory also decides whether the path is at its end."""


@dataclass(frozen=True, slots=True)
class _Vote:
    """What memories say comes next: their weight together, and the one that is most alike."""

    weight: float
    best: Recalled


@dataclass(frozen=True, slots=True)
class Remembered:
    """A move, and the similarity of the memory that speaks for it most."""

    choice: Choice
    similarity: float
    told: bool = False

    def overrules(self, own: Choice) -> bool:
        """Whether it is taken in place of the policy's own move.

        A memory tells which way to go sooner than whether to go on; at an end that is all the same where the path's tools speak of
        everything that the request asks (``told``).
        """
        ends = "finish" in (self.choice.action, own.action)
        sure = self.similarity >= SURE or (self.choice.action == "finish" and self.told)
        return self.choice.action == own.action or not ends or sure or own.action == "give_up"


def remembered(situation: Situation, missing: Missing) -> Remembered | None:
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
    ends = bool(situation.path) and _makes_all(situation.path, situation.clauses)
    open_ways = {tool: vote for tool, vote in votes.items() if tool in usable or (tool == FINISH and ends)}
    if not open_ways:
        return None
    tool = max(open_ways, key=lambda t: (open_ways[t].weight, t))
    best = open_ways[tool].best
    if best.similarity < TRUSTED or (tool != FINISH and rivalled(situation.candidates, tool)):
        return None
    like = f'"{best.memory.request}" ({best.similarity:.2f})'
    if tool == FINISH:
        told = not unsaid(situation.clauses, situation.path)
        end = Choice("finish", f"the path that served {like}", memory=best.memory.id)
        return Remembered(end, best.similarity, told)
    choice = Choice("advance", f"the next step of what served {like}", usable[tool], best.memory.id)
    return Remembered(choice, best.similarity)


def adoptable(proposal: Proposal) -> Adoption:
    """Whether a path that can be walked here and now may be walked for this request."""
    barred = next((tool for tool in proposal.path if not may_call(tool, proposal.request)), None)
    if barred is not None:
        return Adoption(
            adopted=False, reason=f"{barred.api} would change something, which the request does not ask for"
        )
    if not _makes_all(proposal.path, clauses(proposal.request) or (proposal.request,)):
        return Adoption(adopted=False, reason="it would not change what the request tells to")
    one = proposal.recalled
    return Adoption(adopted=True, reason=f'as for "{one.memory.request}" ({one.similarity:.2f})')


def _makes_all(path: Sequence[ToolDoc], parts: Sequence[str]) -> bool:
    """Whether a path makes every change that is told: what only read never served "book me a table"."""
    told = [kinds for part in parts if (kinds := told_to_change(part))]
    return all(any(makes(tool, kinds) for tool in path) for kinds in told)


def _votes(situation: Situation) -> dict[ToolId, _Vote]:
    """For each tool that a memory's path goes on to from here, and for ``FINISH``, what speaks for it."""
    path = [tool.id for tool in situation.path]
    votes: dict[ToolId, _Vote] = {}
    for one in situation.recalled:
        following = next_of(one.memory.path, path)
        if following is not None:
            weight = vote(one)
            known = votes.get(following)
            votes[following] = _Vote(weight + known.weight, known.best) if known else _Vote(weight, one)
    return votes
