"""Live evidence: decaying sums over a tool's calls and an edge's walks, and how they fade with time.

Each new call multiplies its tool's earlier evidence by :data:`RETENTION` and adds one for or against the tool. Each new
walk does the same to the edges out of its node. The sums never exceed :data:`MAX_EVIDENCE`; since ``RETENTION * sum + 1
>= sum`` below that limit, a success never lowers a share and a failure never raises it. ``trouble`` is a faster sum
that measures failures in a row; a few good calls end it.

The stores repeat this arithmetic in SQL and Cypher. A change here is a change there.
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
"""Limit of trouble after endless failures: 1 / (1 - 0.8). From there, four good calls end it."""

SECONDS_PER_DAY = 86_400


@dataclass(frozen=True, slots=True)
class CallEvidence:
    """Combined effect of one run's calls on the evidence of their tool.

    It is a linear map of the earlier evidence, so that a store can apply a whole run in one statement without reading
    first.
    """

    ok: int = 0
    """Number of calls that went well."""
    transient: int = 0
    """Number of calls that failed for the time being."""
    gone: int = 0
    """Number of calls of an operation that is gone."""
    kept: float = 1.0
    """Factor of the earlier evidence, to which the two fields below are then added."""
    good: float = 0.0
    """Amount added to the evidence for the tool."""
    bad: float = 0.0
    """Amount added to the evidence against the tool."""
    slope: float = 1.0
    """Factor of the earlier trouble, which becomes ``slope · trouble + rise``, clamped to ``least`` and ``worst``."""
    rise: float = 0.0
    """Amount added to the trouble; negative if good calls outweigh."""
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
            # The bounds pass through every step, too. The steps are monotone, so clamping once at the end then equals
            # clamping after each call.
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
    """Return a tool's facts after the calls of a run; earlier evidence against the tool fades first.

    ``at`` is the time of the run in seconds since 1970, ``half_life`` is in days.
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
    """Return the evidence that a bare number of calls or walks amounts to, for data without their order."""
    return float(min(count, MAX_EVIDENCE))


def estimate_live_evidence(facts: ToolFacts, heard: float) -> ToolFacts:
    """Derive live evidence for facts of an older format, which stored counts alone.

    The evidence keeps the proportion of the counts and is scaled down to its limit. Evidence against the tool fades
    from ``heard`` on, in seconds since 1970.
    """
    good, bad = float(facts.ok), float(facts.transient + GONE_FAILURES * facts.gone)
    scale = min(1.0, MAX_EVIDENCE / (good + bad)) if good + bad else 0.0
    trouble = max(0.0, min(MAX_TROUBLE, -facts.reliability))
    return replace(facts, good=scale * good, bad=scale * bad, trouble=trouble, heard=heard if bad or trouble else 0.0)


def compute_remaining_share(last_heard: float, at: float, half_life: float) -> float:
    """Return the share of the evidence against a tool that remains at a given time, by whole days without calls.

    The evidence of a tool in use does not fade: newer calls replace older ones. Evidence for a tool never fades,
    because a good call after a long silence could then lower its availability.

    Args:
        last_heard: Time of the last reported call in seconds since 1970; 0 if unknown, and then nothing fades.
        at: The given time, in seconds since 1970.
        half_life: Days after which half of the evidence remains.
    """
    days = int((at - last_heard) // SECONDS_PER_DAY) if last_heard else 0
    return 0.5 ** (max(0, days) / half_life)


def fade_facts(facts: ToolFacts, at: float, half_life: float) -> ToolFacts:
    """Return the facts with the evidence against the tool faded to a given time."""
    if not (facts.bad or facts.trouble):
        return facts
    remaining = compute_remaining_share(facts.heard, at, half_life)
    return replace(facts, bad=facts.bad * remaining, trouble=facts.trouble * remaining)


def to_timestamp(at: datetime | None = None) -> float:
    """Return a time, now by default, in seconds since 1970, the unit of :attr:`ToolFacts.heard`."""
    return (at or datetime.now(UTC)).timestamp()


@dataclass(frozen=True, slots=True)
class WalkEvidence:
    """Effect of a run on the edges out of one node."""

    retained: float
    """Share of each strength that remains, before ``gains`` is added."""
    gains: Mapping[ToolId, float]
    """Strength that each walked target gains; if negative, an existing edge is lowered, at most to 0."""
    counts: Mapping[ToolId, int]
    """Number of walks to each target, failed ones not counted."""


def fold_walks(batch: LiveBatch) -> dict[ToolId, WalkEvidence]:
    """Return the effect of a run's walks on the edges out of each node.

    The walks out of one node count as simultaneous. So the share of an edge never falls if it was the only one walked,
    and the joint share of several walked edges never falls either.
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
        # Sum of the geometric series 1 + r + r² + …: together the walks gain what they would gain one after another. It
        # is shared equally, so that their order does not matter.
        gain_per_walk = (1 - retained) / (1 - RETENTION) / total_gain if total_gain else 0.0
        walks_by_source[source] = WalkEvidence(
            retained,
            {target: gain * gain_per_walk if gain > 0 else float(gain) for target, (_, gain) in targets.items()},
            {target: count for target, (count, gain) in targets.items() if gain >= 0},
        )
    return walks_by_source


def _score_walks(batch: LiveBatch) -> dict[ToolId, float]:
    """Return the worth of one walk to each scored or called tool, in [-1, 1]; a tool that is missing counts as 1.

    A tool without a successful call is worth -1, any other its mean score, which is at least 0 in a run that reached
    ``FINISH``. A negative score of ``FINISH`` itself withdraws the run: its user said that the answer was wrong.
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
