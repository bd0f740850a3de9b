"""Propose moves by evidence of past runs: what served similar requests, and how likely the tools of a set are.

Memories of similar requests vote for the tool that came next on their paths, each by its similarity. The vote is a
transition weight that depends on the request, while the graph's own weight does not (thesis 4.3.2.4). Where few
tools have been walked, the priors of tool sets decide instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.memory.long_term import compute_vote
from agent.memory.path_reuse import find_next_tool
from agent.offer.failing_tools import has_rival, is_working
from agent.policy.protocol import AdoptionQuestion, MoveQuestion, NextMove, PathAdoption
from domain.memory import RecalledMemory
from domain.tool import FINISH, ToolDoc, ToolId
from offline.change_orders import can_make_change, find_ordered_changes, may_call
from offline.coverage import find_unanswered_words
from offline.nlp.clauses import split_clauses
from offline.routes import MissingFinder

MIN_SIMILARITY = 0.57
"""Similarity from which a memory may decide the next tool.

It is the lowest at which nine of ten trajectories of the playground, each left out in turn, have the path of their
most similar memory (docs/benchmarks.md).
"""
MIN_FINISH_SIMILARITY = 0.75
"""Similarity from which a memory may also decide whether the path ends."""


@dataclass(frozen=True, slots=True)
class _MemoryVote:
    """The votes of memories for one next tool."""

    weight: float
    """Sum of the votes."""
    best: RecalledMemory
    """The most similar of the memories."""


@dataclass(frozen=True, slots=True)
class RememberedMove:
    """A move that memories propose."""

    choice: NextMove
    similarity: float
    """Similarity of the memory that supports the move most."""
    covers_request: bool = False
    """True if the path's tools have words for everything that the request asks; only set for a finish."""

    def can_overrule(self, own: NextMove) -> bool:
        """Return whether the move replaces the policy's own.

        Memory is good at choosing the next tool, and less good at choosing whether to go on. It therefore decides an
        end only if it is very similar, if the path covers the request, or where the policy gives up.
        """
        is_ending = "finish" in (self.choice.action, own.action)
        is_sure = self.similarity >= MIN_FINISH_SIMILARITY or (self.choice.action == "finish" and self.covers_request)
        return self.choice.action == own.action or not is_ending or is_sure or own.action == "give_up"


def find_remembered_move(situation: MoveQuestion, missing: MissingFinder) -> RememberedMove | None:
    """Find the move that memories of similar requests agree on; None if there is none that can be made.

    A tool that mostly fails now is never followed. Nor is one that has a rival among the candidates which is to be
    retried in its place.
    """
    votes = _count_votes(situation)
    usable = {
        candidate.tool.id: at
        for at, candidate in enumerate(situation.candidates)
        if candidate.tool.id in votes
        and is_working(candidate.availability)
        and may_call(candidate.tool, situation.request)
        and not missing(candidate.tool, situation.path)
    }
    # A path that only read must not be finished where the request orders a change.
    may_finish = bool(situation.path) and _can_make_all(situation.path, situation.clauses)
    open_ways = {tool: vote for tool, vote in votes.items() if tool in usable or (tool == FINISH and may_finish)}
    if not open_ways:
        return None
    # The id breaks ties, so that the same memories always give the same move.
    tool = max(open_ways, key=lambda t: (open_ways[t].weight, t))
    best = open_ways[tool].best
    if best.similarity < MIN_SIMILARITY or (tool != FINISH and has_rival(situation.candidates, tool)):
        return None
    quoted = f'"{best.memory.request}" ({best.similarity:.2f})'
    if tool == FINISH:
        covers_request = not find_unanswered_words(situation.clauses, situation.path)
        finish = NextMove("finish", f"the path that served {quoted}", memory=best.memory.id)
        return RememberedMove(finish, best.similarity, covers_request)
    choice = NextMove("advance", f"the next step of what served {quoted}", usable[tool], best.memory.id)
    return RememberedMove(choice, best.similarity)


def decide_adoption(proposal: AdoptionQuestion) -> PathAdoption:
    """Decide whether a known path, which can be walked here and now, may be walked for this request."""
    forbidden = next((tool for tool in proposal.path if not may_call(tool, proposal.request)), None)
    if forbidden is not None:
        return PathAdoption(
            adopted=False, reason=f"{forbidden.api} would change something, which the request does not ask for"
        )
    if not _can_make_all(proposal.path, split_clauses(proposal.request) or (proposal.request,)):
        return PathAdoption(adopted=False, reason="it would not change what the request tells to")
    recalled = proposal.recalled
    return PathAdoption(adopted=True, reason=f'as for "{recalled.memory.request}" ({recalled.similarity:.2f})')


def _can_make_all(path: Sequence[ToolDoc], parts: Sequence[str]) -> bool:
    """Return whether the tools of a path make every kind of change that the parts of a request order."""
    ordered_changes = [kinds for part in parts if (kinds := find_ordered_changes(part))]
    return all(any(can_make_change(tool, kinds) for tool in path) for kinds in ordered_changes)


def _count_votes(situation: MoveQuestion) -> dict[ToolId, _MemoryVote]:
    """Count the votes for each tool that follows on the memories' paths, and for ``FINISH``."""
    path = [tool.id for tool in situation.path]
    votes: dict[ToolId, _MemoryVote] = {}
    for recalled in situation.recalled:
        following = find_next_tool(recalled.memory.path, path)
        if following is not None:
            weight = compute_vote(recalled)
            earlier = votes.get(following)
            votes[following] = (
                _MemoryVote(weight + earlier.weight, earlier.best) if earlier else _MemoryVote(weight, recalled)
            )
    return votes
