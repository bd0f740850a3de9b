"""Producers before consumers: the shortest known way to make a tool callable."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.offer.candidates import Candidate
from agent.offer.exploration import ALIKE
from domain.tool import ToolDoc
from graph.weights import UNTESTED

LONGEST = 3
"""Producers before a tool; longer ways are found step by step, as the walk goes on."""

Missing = Callable[[ToolDoc, tuple[ToolDoc, ...]], frozenset[str]]
"""The required inputs of a tool that neither the request nor these steps before it can fill."""


@dataclass(frozen=True, slots=True)
class Route:
    """Candidates to take in order; the last is the goal."""

    steps: tuple[Candidate, ...]

    @property
    def first(self) -> Candidate:
        """The step to take now."""
        return self.steps[0]

    @property
    def goal(self) -> Candidate:
        """What the route is for."""
        return self.steps[-1]

    @property
    def evidence(self) -> float:
        """Weight of the goal times the chance that all steps succeed."""
        return self.goal.weight * self.chance

    @property
    def turn(self) -> float:
        """What brings a goal that is to be tried again before all that it could stand in for: worth goes by relevance squared."""
        return ALIKE**-2 if self.goal.returning else 1.0

    def share(self, most: float) -> float:
        """Its evidence as a share of the most there is; all of that where the goal is to be tried again: who avoids a tool wears another way."""
        return 1.0 if self.goal.returning else self.evidence / (most or 1.0)

    @property
    def chance(self) -> float:
        """The chance that every step succeeds; an untested tool counts as one half."""
        chance = 1.0
        for step in self.steps:
            chance *= available(step)
        return chance


def available(candidate: Candidate) -> float:
    """A candidate's availability, with one half for the untested; one that is to be tried again counts as if it worked."""
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
    """The best way to ``goal`` through the candidates, or None where something stays missing.

    Backwards from the goal: of the tools that give what is missing, those with evidence for the transition, that work,
    and that start from the request's own words come first.
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
    """Evidence, availability and relevance of the producers, less for each further step; the shorter of equals."""
    producers = way.steps[:-1]
    evidence = sum(step.weight + max(step.relevance, default=0.0) for step in producers) / len(producers)
    grounded = 1.0 if way.first.tool.required else 0.5
    return grounded * (0.25 + evidence) * way.chance * 0.8 ** len(producers), -len(producers)
