"""Routes: the shortest known way to make a tool callable, producers before consumers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.offer.candidates import Candidate
from agent.offer.exploration import ALIKE
from domain.tool import ToolDoc
from graph.weights import UNTESTED

LONGEST = 3
"""Producers before a tool; longer routes are found step by step, as the search proceeds."""

Missing = Callable[[ToolDoc, tuple[ToolDoc, ...]], frozenset[str]]
"""Finds the required inputs of a tool that neither the request nor the steps before it can fill."""


@dataclass(frozen=True, slots=True)
class Route:
    """Candidates to call in order; the last is the goal."""

    steps: tuple[Candidate, ...]

    @property
    def first(self) -> Candidate:
        """The step to take now."""
        return self.steps[0]

    @property
    def goal(self) -> Candidate:
        """The tool that the route is for."""
        return self.steps[-1]

    @property
    def evidence(self) -> float:
        """Weight of the goal times the chance that all steps succeed."""
        return self.goal.weight * self.chance

    @property
    def turn(self) -> float:
        """Factor that puts a goal to be retried before its substitutes; worth goes by relevance squared."""
        return ALIKE**-2 if self.goal.returning else 1.0

    def share(self, most: float) -> float:
        """Return the evidence as a share of the most there is; 1 for a goal that is to be retried.

        Otherwise avoiding a tool would build up evidence for the tools called in its place.
        """
        return 1.0 if self.goal.returning else self.evidence / (most or 1.0)

    @property
    def chance(self) -> float:
        """Chance that every step succeeds; an untested tool counts as one half."""
        chance = 1.0
        for step in self.steps:
            chance *= available(step)
        return chance


def available(candidate: Candidate) -> float:
    """Return a candidate's availability: one half if untested, 1 if it is to be retried."""
    if candidate.returning:
        return 1.0
    return UNTESTED if candidate.availability is None else candidate.availability


def route(
    goal: Candidate,
    path: tuple[ToolDoc, ...],
    candidates: Sequence[Candidate],
    missing: Missing,
    longest: int = LONGEST,
) -> Route | None:
    """Find the best route to ``goal`` through the candidates; None if an input stays missing.

    The search goes backwards from the goal. Of the tools that give what is missing, those come first that have
    evidence for the transition, that work, and that start from the request's own words.
    """
    lacking = missing(goal.tool, path)
    if not lacking:
        return Route((goal,))
    if longest == 0:
        return None
    options: list[Route] = []
    for other in candidates:
        if other is goal:
            continue
        left = missing(goal.tool, (*path, other.tool))
        if len(left) >= len(lacking):
            continue
        # Without the goal among the candidates the recursion ends.
        rest = [c for c in candidates if c is not goal]
        head = route(other, path, rest, missing, longest - 1)
        if head is None:
            continue
        walked = (*path, *(step.tool for step in head.steps))
        tail = route(goal, walked, [c for c in rest if c not in head.steps], missing, longest - len(head.steps))
        if tail is not None:
            options.append(Route((*head.steps, *tail.steps)))
    return max(options, key=_worth) if options else None


def _worth(way: Route) -> tuple[float, int]:
    """Rate a route by evidence, availability and relevance of its producers; the shorter of equals is better."""
    producers = way.steps[:-1]
    evidence = sum(step.weight + max(step.relevance, default=0.0) for step in producers) / len(producers)
    grounded = 1.0 if way.first.tool.required else 0.5
    return grounded * (0.25 + evidence) * way.chance * 0.8 ** len(producers), -len(producers)
