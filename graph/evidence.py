"""Live evidence: sums that runs leave of calls and walks, and how they fade.

Every back end does the same arithmetic in its own language. A call that went well counts one for its tool, each call before it a
little less (:data:`RETENTION`); so do walks among those out of one node. Both sums are bounded (:data:`MAX_EVIDENCE`), so a success never lowers a
share and a failure never raises it: what remains of a sum, plus one, is never less than the sum. Besides, ``trouble`` measures failures
in a row, and is over after a few good calls.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from domain.tool import FINISH, ToolId
from graph.facts import Edge, LiveBatch, LiveOutcome, ToolFacts

RETENTION = 0.98
"""Share of a sum of evidence that remains after one more call, or one more walk out of the same node."""
MAX_EVIDENCE = 50.0
"""Limit of such a sum in the long run: 1 / (1 - :data:`RETENTION`)."""

GONE_FAILURES = 4
"""Number of failures that an operation that is gone counts for, because it will not come back by itself."""

_TROUBLE_RETENTION = 0.8
"""Share of a tool's trouble that remains after one more call."""
MAX_TROUBLE = 5.0
"""Limit of trouble after endless failures: 1 / (1 - 0.8). Three good calls in a row nearly end it, four wholly."""

SECONDS_PER_DAY = 86_400


@dataclass(frozen=True, slots=True)
class CallEvidence:
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
    worst: float = MAX_TROUBLE
    """Upper bound of the trouble."""

    @classmethod
    def from_outcomes(cls, outcomes: Iterable[LiveOutcome]) -> "CallEvidence":
        """Fold the outcomes of one tool's calls, in order."""
        calls = cls()
        for outcome in outcomes:
            calls = replace(calls, **{outcome: getattr(calls, outcome) + 1})
            for _ in range(GONE_FAILURES if outcome == "gone" else 1):
                calls = calls.append_call(ok=outcome == "ok")
        return calls

    def append_call(self, *, ok: bool) -> "CallEvidence":
        """Return the effect with one more call, which went well or did not."""
        return replace(
            self,
            kept=RETENTION * self.kept,
            good=RETENTION * self.good + ok,
            bad=RETENTION * self.bad + (not ok),
            slope=_TROUBLE_RETENTION * self.slope,
            rise=_TROUBLE_RETENTION * self.rise + (-1 if ok else 1),
            # Both bounds go through every step, so that clamping once equals clamping after each call: the steps are monotone.
            least=_update_trouble(self.least, ok=ok),
            worst=_update_trouble(self.worst, ok=ok),
        )


def _update_trouble(trouble: float, *, ok: bool) -> float:
    """Return a tool's trouble after one more call."""
    return max(0.0, _TROUBLE_RETENTION * trouble - 1) if ok else min(MAX_TROUBLE, _TROUBLE_RETENTION * trouble + 1)


def fold_calls(batch: LiveBatch) -> dict[ToolId, CallEvidence]:
    """Return the effect of a run's calls on the evidence of each tool that was called."""
    outcomes: defaultdict[ToolId, list[LiveOutcome]] = defaultdict(list)
    for tool, outcome in batch.outcomes:
        outcomes[tool].append(outcome)
    return {tool: CallEvidence.from_outcomes(of_tool) for tool, of_tool in outcomes.items()}


def apply_calls(facts: ToolFacts, calls: CallEvidence, at: float, half_life: float) -> ToolFacts:
    """Return a tool's facts after the calls of a run at that moment; the evidence against the tool fades first.

    ``at``: seconds since 1970. ``half_life``: days.
    """
    faded = fade_facts(facts, at, half_life)
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


def estimate_evidence(count: float) -> float:
    """Return the evidence for a number of calls or walks of which no more is known."""
    return float(min(count, MAX_EVIDENCE))


def estimate_live_evidence(facts: ToolFacts, heard: float) -> ToolFacts:
    """Return facts that were stored as counts alone, with the live evidence that these amount to.

    The evidence keeps the proportion of the counts, scaled down to its limit. ``heard``: seconds since 1970, from when on the evidence
    against the tool fades.
    """
    good, bad = float(facts.ok), float(facts.transient + GONE_FAILURES * facts.gone)
    scale = min(1.0, MAX_EVIDENCE / (good + bad)) if good + bad else 0.0
    trouble = max(0.0, min(MAX_TROUBLE, -facts.reliability))
    return replace(facts, good=scale * good, bad=scale * bad, trouble=trouble, heard=heard if bad or trouble else 0.0)


def compute_remaining_share(last_heard: float, at: float, half_life: float) -> float:
    """Return the share of the evidence against a tool that remains at a moment. It fades by whole days of silence.

    ``last_heard``: when calls were last reported, in seconds since 1970 (0: unknown, nothing fades). A tool in use does not fade with time:
    there, newer calls replace older ones. Nor does the evidence for a tool fade, or a good call after a long silence could lower its
    availability.
    """
    days = int((at - last_heard) // SECONDS_PER_DAY) if last_heard else 0
    return 0.5 ** (max(0, days) / half_life)


def fade_facts(facts: ToolFacts, at: float, half_life: float) -> ToolFacts:
    """Return the facts as they are at a moment, with the evidence against the tool faded."""
    if not (facts.bad or facts.trouble):
        return facts
    remaining = compute_remaining_share(facts.heard, at, half_life)
    return replace(facts, bad=facts.bad * remaining, trouble=facts.trouble * remaining)


def to_timestamp(at: datetime | None = None) -> float:
    """Return a moment, now by default, in seconds since 1970, as facts keep it."""
    return (at or datetime.now(UTC)).timestamp()


@dataclass(frozen=True, slots=True)
class WalkEvidence:
    """Effect of a run on the edges out of one node."""

    retained: float
    """Share of each strength that remains, before ``gains`` is added."""
    gains: Mapping[ToolId, float]
    """Gain of each target that was walked; negative if in vain, which lowers an existing edge, at most to 0."""
    counts: Mapping[ToolId, int]
    """Number of walks to each target, without those walked in vain."""


def fold_walks(batch: LiveBatch) -> dict[ToolId, WalkEvidence]:
    """Return the effect of a run's walks on the edges out of each node.

    Walks out of one node count as if they had been made at the same time, in any order. So the share of an edge never falls if it
    alone was walked out of its node, and the joint share of several never falls if several were.
    """
    worth_by_tool = _score_walks(batch)
    walks_from: defaultdict[ToolId, dict[ToolId, tuple[int, float]]] = defaultdict(dict)
    for (source, target), count in batch.transitions.items():
        if count:
            walks_from[source][target] = (count, count * worth_by_tool.get(target, 1.0))
    walks_by_source: dict[ToolId, WalkEvidence] = {}
    for source, targets in walks_from.items():
        total_gain = sum(gain for _, gain in targets.values() if gain > 0)
        retained = RETENTION**total_gain
        # Geometric series: the walks gain together what they would one after another, shared equally, so in any order.
        gain_per_walk = (1 - retained) / (1 - RETENTION) / total_gain if total_gain else 0.0
        walks_by_source[source] = WalkEvidence(
            retained,
            {target: gain * gain_per_walk if gain > 0 else float(gain) for target, (_, gain) in targets.items()},
            {target: count for target, (count, gain) in targets.items() if gain >= 0},
        )
    return walks_by_source


def _score_walks(batch: LiveBatch) -> dict[ToolId, float]:
    """Return the worth of one walk to each tool, in [-1, 1]; 1 for a tool that is missing.

    -1: none of its calls went well. Else its mean score, which in a run that reached ``FINISH`` is never below 0. A ``FINISH`` that is
    itself scored below 0 takes a run back: its user said that the answer was wrong.
    """
    is_taken_back = any(tool == FINISH and score < 0 for tool, score in batch.scores)
    reached_finish = not is_taken_back and any(target == FINISH for _, target in batch.transitions)
    worth: dict[ToolId, float] = {FINISH: -1.0} if is_taken_back else {}
    for tool, lesson in batch.build_lessons().items():
        if lesson.outcomes and "ok" not in lesson.outcomes:
            worth[tool] = -1.0
        elif lesson.score is not None:
            worth[tool] = max(0.0, lesson.score) if reached_finish else lesson.score
    return worth


def apply_walks(edges: Mapping[ToolId, Edge], source: ToolId, walks: WalkEvidence) -> dict[ToolId, Edge]:
    """Return the edges out of a node, by target, after the walks of a run."""
    updated = {target: replace(edge, strength=walks.retained * edge.strength) for target, edge in edges.items()}
    for target, gained in walks.gains.items():
        count = walks.counts.get(target, 0)
        if count or target in updated:
            old = updated.get(target, Edge(source, target))
            updated[target] = replace(old, live=old.live + count, strength=max(0.0, old.strength + gained))
    return updated
