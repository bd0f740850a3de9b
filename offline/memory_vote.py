"""Memories' vote on the next move: what served similar requests, if it can be done here and now.

Memories vote for what came next on their paths, each by its similarity. The vote is a transition weight that depends
on the request, where the graph's own does not (thesis 4.3.2.4).
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
"""Similarity from which a memory may decide.

It is the lowest at which nine of ten trajectories of the playground, each left out in turn, have the path of their
most similar memory (docs/benchmarks.md).
"""
SURE = 0.75
"""Similarity from which a memory also decides whether the path is at its end."""


@dataclass(frozen=True, slots=True)
class _Vote:
    """Votes of memories for one next tool."""

    weight: float
    """Sum of the votes."""
    best: Recalled
    """The most similar of the memories."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A move that memories propose."""

    choice: Choice
    similarity: float
    """Similarity of the memory that supports it most."""
    told: bool = False
    """True if the path's tools have words for everything that the request asks; set for a finish."""

    def overrules(self, own: Choice) -> bool:
        """Return whether it is taken instead of the policy's own move.

        A memory is better at which way to go than at whether to go on. At an end it still decides if the path's tools
        cover everything that the request asks (``covers_request``).
        """
        ends = "finish" in (self.choice.action, own.action)
        sure = self.similarity >= SURE or (self.choice.action == "finish" and self.told)
        return self.choice.action == own.action or not ends or sure or own.action == "give_up"


def remembered(situation: Situation, missing: Missing) -> Remembered | None:
    """Find the move that memories of similar requests agree on; None if none is similar or can be followed.

    A tool that mostly fails now is not followed, and memory has no say where another tool is to be retried in its
    place.
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
    # A path that only read must not be finished where the request orders a change.
    ends = bool(situation.path) and _makes_all(situation.path, situation.clauses)
    open_ways = {tool: vote for tool, vote in votes.items() if tool in usable or (tool == FINISH and ends)}
    if not open_ways:
        return None
    # The id breaks ties, so that the same memories always give the same move.
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
    """Decide whether a path that can be walked here and now may be walked for this request."""
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
    """Return whether a path makes every change that is ordered: a path that only reads never booked a table."""
    told = [kinds for part in parts if (kinds := told_to_change(part))]
    return all(any(makes(tool, kinds) for tool in path) for kinds in told)


def _votes(situation: Situation) -> dict[ToolId, _Vote]:
    """Count the votes for each tool that follows on the memories' paths, and for ``FINISH``."""
    path = [tool.id for tool in situation.path]
    votes: dict[ToolId, _Vote] = {}
    for one in situation.recalled:
        following = next_of(one.memory.path, path)
        if following is not None:
            weight = vote(one)
            known = votes.get(following)
            votes[following] = _Vote(weight + known.weight, known.best) if known else _Vote(weight, one)
    return votes
