"""Find routes: the calls that make a tool callable, producers before consumers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.offer.candidates import ToolCandidate
from agent.offer.failing_tools import RIVAL_SHARE
from domain.tool import ToolDoc
from graph.weights import UNTESTED_AVAILABILITY

MAX_PRODUCERS = 3
"""Producers before a tool; longer routes are found step by step, as the search proceeds."""

MissingFinder = Callable[[ToolDoc, tuple[ToolDoc, ...]], frozenset[str]]
"""Returns the required inputs of a tool that neither the request nor the steps before it can fill."""


@dataclass(frozen=True, slots=True)
class ToolRoute:
    """Candidates to call in order; the last is the goal."""

    steps: tuple[ToolCandidate, ...]

    @property
    def first(self) -> ToolCandidate:
        """The step to take now."""
        return self.steps[0]

    @property
    def goal(self) -> ToolCandidate:
        """The tool that the route is for."""
        return self.steps[-1]

    @property
    def evidence(self) -> float:
        """Weight of the goal, times the chance that all steps succeed."""
        return self.goal.weight * self.chance

    @property
    def retry_factor(self) -> float:
        """Factor that puts a goal to be retried before its substitutes.

        It undoes the share of relevance that a substitute may lack; worth goes by relevance squared.
        """
        return RIVAL_SHARE**-2 if self.goal.returning else 1.0

    def scale_evidence(self, max_evidence: float) -> float:
        """Return the evidence as a share of ``max_evidence``, or 1 for a goal that is to be retried.

        Without the exception, avoiding a tool would build up evidence for the tools that are called in its place.
        """
        return 1.0 if self.goal.returning else self.evidence / (max_evidence or 1.0)

    @property
    def chance(self) -> float:
        """Probability that every step succeeds."""
        chance = 1.0
        for step in self.steps:
            chance *= estimate_availability(step)
        return chance


def estimate_availability(candidate: ToolCandidate) -> float:
    """Return a candidate's probability of success: one half if it is untested, 1 if it is to be retried."""
    if candidate.returning:
        return 1.0
    return UNTESTED_AVAILABILITY if candidate.availability is None else candidate.availability


def find_route(
    goal: ToolCandidate,
    path: tuple[ToolDoc, ...],
    candidates: Sequence[ToolCandidate],
    missing: MissingFinder,
    max_producers: int = MAX_PRODUCERS,
) -> ToolRoute | None:
    """Find the best route to ``goal`` through the candidates; None if an input stays missing.

    The search goes backwards from the goal. Among the tools that give what is missing, those win whose transitions have
    evidence, that work, and that need nothing but the request.

    Args:
        goal: the tool to make callable.
        path: the tools called so far.
        candidates: the tools that may be called before it.
        missing: finds the inputs that nothing can fill.
        max_producers: the most tools before the goal.
    """
    missing_now = missing(goal.tool, path)
    if not missing_now:
        return ToolRoute((goal,))
    if max_producers == 0:
        return None
    options: list[ToolRoute] = []
    for producer in candidates:
        if producer is goal:
            continue
        still_missing = missing(goal.tool, (*path, producer.tool))
        if len(still_missing) >= len(missing_now):
            continue
        # Without the goal among the candidates the recursion ends.
        other_candidates = [c for c in candidates if c is not goal]
        head = find_route(producer, path, other_candidates, missing, max_producers - 1)
        if head is None:
            continue
        path_after = (*path, *(step.tool for step in head.steps))
        tail = find_route(
            goal,
            path_after,
            [c for c in other_candidates if c not in head.steps],
            missing,
            max_producers - len(head.steps),
        )
        if tail is not None:
            options.append(ToolRoute((*head.steps, *tail.steps)))
    return max(options, key=_rate_route) if options else None


def _rate_route(tool_route: ToolRoute) -> tuple[float, int]:
    """Rate a route by evidence, availability and relevance of its producers; the shorter of equals is better."""
    producers = tool_route.steps[:-1]
    evidence = sum(step.weight + max(step.relevance, default=0.0) for step in producers) / len(producers)
    grounded = 1.0 if tool_route.first.tool.required else 0.5
    return grounded * (0.25 + evidence) * tool_route.chance * 0.8 ** len(producers), -len(producers)
