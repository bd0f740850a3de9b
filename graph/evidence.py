"""Live evidence: sums that runs leave of calls and walks, and how they fade.

Every back end does the same arithmetic in its own language. A call that went well counts one for its tool, each call before it a
little less (:data:`KEPT`); so do walks among those out of one node. Both sums are bounded (:data:`MOST`), so a success never lowers a
share and a failure never raises it: what remains of a sum, plus one, is never less than the sum. Besides, ``trouble`` measures failures
in a row, and is over after a few good calls.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from domain.tool import FINISH, ToolId
from graph.facts import Edge, LiveBatch, LiveOutcome, ToolFacts

KEPT = 0.98
"""Share of a sum of evidence that remains after one more call, or one more walk out of the same node."""
MOST = 50.0
"""Limit of such a sum in the long run: 1 / (1 - :data:`KEPT`)."""

HARD = 4
"""Number of failures that an operation that is gone counts for, because it will not come back by itself."""

_LEFT = 0.8
"""Share of a tool's trouble that remains after one more call."""
WORST = 5.0
"""Limit of trouble after endless failures: 1 / (1 - 0.8). Three good calls in a row nearly end it, four wholly."""

DAY = 86_400


@dataclass(frozen=True, slots=True)
class Calls:
    """Effect of the calls of one run on their tool's evidence, as a function of whatever the evidence was.

    The steps of a run are folded into one, so that a store applies it in one statement.
    """

    ok: int = 0
    """Number of calls that went well."""
    transient: int = 0
    """Number of calls that failed for the time being."""
    gone: int = 0
    """Number of calls of an operation that is gone."""
    kept: float = 1.0
    """Factor of the earlier evidence: ``good`` becomes ``kept · good + self.good``, and ``bad`` likewise."""
    good: float = 0.0
    """Summand of the evidence for the tool."""
    bad: float = 0.0
    """Summand of the evidence against it."""
    slope: float = 1.0
    """Factor of the earlier trouble, which becomes ``slope · trouble + rise``, within ``least`` and ``worst``."""
    rise: float = 0.0
    """Summand of the trouble."""
    least: float = 0.0
    """Lower bound of the trouble."""
    worst: float = WORST
    """Upper bound of the trouble."""

    @classmethod
    def of(cls, outcomes: Iterable[LiveOutcome]) -> "Calls":
        """Fold the outcomes of one tool's calls, in order."""
        calls = cls()
        for outcome in outcomes:
            calls = replace(calls, **{outcome: getattr(calls, outcome) + 1})
            for _ in range(HARD if outcome == "gone" else 1):
                calls = calls.followed_by(ok=outcome == "ok")
        return calls

    def followed_by(self, *, ok: bool) -> "Calls":
        """Return the effect with one more call, which went well or did not."""
        return replace(
            self,
            kept=KEPT * self.kept,
            good=KEPT * self.good + ok,
            bad=KEPT * self.bad + (not ok),
            slope=_LEFT * self.slope,
            rise=_LEFT * self.rise + (-1 if ok else 1),
            # Both bounds go through every step, so that clamping once equals clamping after each call: the steps are monotone.
            least=_bounded(self.least, ok=ok),
            worst=_bounded(self.worst, ok=ok),
        )


def _bounded(trouble: float, *, ok: bool) -> float:
    """Return a tool's trouble after one more call."""
    return max(0.0, _LEFT * trouble - 1) if ok else min(WORST, _LEFT * trouble + 1)


def calls_of(batch: LiveBatch) -> dict[ToolId, Calls]:
    """Return the effect of a run's calls on the evidence of each tool that was called."""
    outcomes: defaultdict[ToolId, list[LiveOutcome]] = defaultdict(list)
    for tool, outcome in batch.outcomes:
        outcomes[tool].append(outcome)
    return {tool: Calls.of(of_tool) for tool, of_tool in outcomes.items()}


def after_calls(facts: ToolFacts, calls: Calls, at: float, half_life: float) -> ToolFacts:
    """Return a tool's facts after the calls of a run at that moment; the evidence against the tool fades first.

    ``at``: seconds since 1970. ``half_life``: days.
    """
    faded = as_of(facts, at, half_life)
    return replace(
        facts,
        ok=facts.ok + calls.ok,
        transient=facts.transient + calls.transient,
        gone=facts.gone + calls.gone,
        good=calls.kept * faded.good + calls.good,
        bad=calls.kept * faded.bad + calls.bad,
        trouble=max(calls.least, min(calls.worst, calls.slope * faded.trouble + calls.rise)),
        heard=max(facts.heard, at),
    )


def begun(count: float) -> float:
    """Return the evidence for a number of calls or walks of which no more is known."""
    return float(min(count, MOST))


def with_evidence(facts: ToolFacts, heard: float) -> ToolFacts:
    """Return facts that were stored as counts alone, with the live evidence that these amount to.

    The evidence keeps the proportion of the counts, scaled down to its limit. ``heard``: seconds since 1970, from when on the evidence
    against the tool fades.
    """
    good, bad = float(facts.ok), float(facts.transient + HARD * facts.gone)
    part = min(1.0, MOST / (good + bad)) if good + bad else 0.0
    trouble = max(0.0, min(WORST, -facts.reliability))
    return replace(facts, good=part * good, bad=part * bad, trouble=trouble, heard=heard if bad or trouble else 0.0)


def left_of(heard: float, at: float, half_life: float) -> float:
    """Return the share of the evidence against a tool that remains at a moment. It fades by whole days of silence.

    ``heard``: when calls were last reported, in seconds since 1970 (0: unknown, nothing fades). A tool in use does not fade with time:
    there, newer calls replace older ones. Nor does the evidence for a tool fade, or a good call after a long silence could lower its
    availability.
    """
    days = int((at - heard) // DAY) if heard else 0
    return 0.5 ** (max(0, days) / half_life)


def as_of(facts: ToolFacts, at: float, half_life: float) -> ToolFacts:
    """Return the facts as they are at a moment, with the evidence against the tool faded."""
    if not (facts.bad or facts.trouble):
        return facts
    left = left_of(facts.heard, at, half_life)
    return replace(facts, bad=facts.bad * left, trouble=facts.trouble * left)


def seconds(at: datetime | None = None) -> float:
    """Return a moment, now by default, in seconds since 1970, as facts keep it."""
    return (at or datetime.now(UTC)).timestamp()


@dataclass(frozen=True, slots=True)
class Walks:
    """Effect of a run on the edges out of one node."""

    kept: float
    """Share of each strength that remains, before ``gained`` is added."""
    gained: Mapping[ToolId, float]
    """Gain of each target that was walked; negative if in vain, which lowers an existing edge, at most to 0."""
    count: Mapping[ToolId, int]
    """Number of walks to each target, without those walked in vain."""


def walks_of(batch: LiveBatch) -> dict[ToolId, Walks]:
    """Return the effect of a run's walks on the edges out of each node.

    Walks out of one node count as if they had been made at the same time, in any order. So the share of an edge never falls if it
    alone was walked out of its node, and the joint share of several never falls if several were.
    """
    worth = _worth(batch)
    out: defaultdict[ToolId, dict[ToolId, tuple[int, float]]] = defaultdict(dict)
    for (source, target), count in batch.transitions.items():
        if count:
            out[source][target] = (count, count * worth.get(target, 1.0))
    found: dict[ToolId, Walks] = {}
    for source, targets in out.items():
        walked = sum(gain for _, gain in targets.values() if gain > 0)
        kept = KEPT**walked
        # Geometric series: the walks gain together what they would one after another, shared equally, so in any order.
        each = (1 - kept) / (1 - KEPT) / walked if walked else 0.0
        found[source] = Walks(
            kept,
            {target: gain * each if gain > 0 else float(gain) for target, (_, gain) in targets.items()},
            {target: count for target, (count, gain) in targets.items() if gain >= 0},
        )
    return found


def _worth(batch: LiveBatch) -> dict[ToolId, float]:
    """Return the worth of one walk to each tool, in [-1, 1]; 1 for a tool that is missing.

    -1: none of its calls went well. Else its mean score, which in a run that reached ``FINISH`` is never below 0. A ``FINISH`` that is
    itself scored below 0 takes a run back: its user said that the answer was wrong.
    """
    taken_back = any(tool == FINISH and score < 0 for tool, score in batch.scores)
    served = not taken_back and any(target == FINISH for _, target in batch.transitions)
    worth: dict[ToolId, float] = {FINISH: -1.0} if taken_back else {}
    for tool, lesson in batch.lessons().items():
        if lesson.outcomes and "ok" not in lesson.outcomes:
            worth[tool] = -1.0
        elif lesson.score is not None:
            worth[tool] = max(0.0, lesson.score) if served else lesson.score
    return worth


def after_walks(edges: Mapping[ToolId, Edge], source: ToolId, walks: Walks) -> dict[ToolId, Edge]:
    """Return the edges out of a node, by target, after the walks of a run."""
    found = {target: replace(edge, strength=walks.kept * edge.strength) for target, edge in edges.items()}
    for target, gained in walks.gained.items():
        count = walks.count.get(target, 0)
        if count or target in found:
            old = found.get(target, Edge(source, target))
            found[target] = replace(old, live=old.live + count, strength=max(0.0, old.strength + gained))
    return found
