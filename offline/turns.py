"""Whose turn it is where a request asks for several things: what a step is for, and changes in the order in which they are told."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from agent.policy.protocol import Choice, Situation
from offline.change_words import changes, told_to_change


class Serving(Protocol):
    """A way to serve one of several clauses."""

    @property
    def clause(self) -> int: ...


S = TypeVar("S", bound=Serving)


def in_turn(clauses: Sequence[str], ways: Sequence[S]) -> list[S]:
    """The ways, in the order of their clauses, without those to changes that are told behind another that is still to be made."""
    told = [way.clause for way in ways if told_to_change(clauses[way.clause])]
    return [way for way in ways if way.clause not in told[1:]]


def purpose_of(situation: Situation, choice: Choice) -> str:
    """Of several clauses, the one that the chosen tool serves best, compared with others; empty where there is but one."""
    if choice.index is None or len(situation.clauses) < 2:
        return ""
    relevance = situation.candidates[choice.index].relevance
    shares = [value / (best or 1.0) for value, best in zip(relevance, situation.best_relevance, strict=True)]
    return situation.clauses[max(range(len(shares)), key=lambda at: shares[at])]


def out_of_turn(situation: Situation, choice: Choice, own: Choice) -> bool:
    """Whether a choice would make another change than the one whose turn it is."""
    if choice.index is None or own.index is None or choice.index == own.index:
        return False
    return changes(situation.candidates[choice.index].tool) and changes(situation.candidates[own.index].tool)
