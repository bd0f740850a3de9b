"""Live evidence: what runs leave behind of calls and walks, and how it fades. Every back end does the same arithmetic in its own words.

A call that went well counts one for its tool, each call before it a little less (:data:`KEPT`); so do walks among those out of one
node. Both sums are bounded (:data:`MOST`), which is why a success never lowers a share and a failure never raises it: what is kept
of a sum, plus one, is never less than the sum. Besides, ``trouble`` tells of failures in a row, and is over after few good calls.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from domain.tool import FINISH, ToolId
from graph.facts import Edge, LiveBatch, LiveOutcome, ToolFacts

KEPT = 0.98
"""The part of a sum of evidence that is left after one more call, or one more walk out of the same node."""
MOST = 50.0
"""What such a sum comes to in the long run: 1 / (1 - :data:`KEPT`)."""

HARD = 4
"""How many failures an operation that is gone counts for: of itself it will not come back."""

_LEFT = 0.8
"""The part of a tool's trouble that is left after one more call."""
WORST = 5.0
"""The trouble that failures without end come to: 1 / (1 - 0.8). Three good calls in a row end it nearly, four wholly."""

DAY = 86_400


@dataclass(frozen=True, slots=True)
class Calls:
    """What the calls of one run do to their tool's evidence, whatever that was: ``good`` becomes ``kept · good + good``, ``bad`` so,
    and ``trouble`` becomes ``slope · trouble + rise`` within ``least`` and ``worst``. The steps of a run are folded into one,
    so that a store takes it in one statement.
    """

    ok: int = 0
    transient: int = 0
    gone: int = 0
    kept: float = 1.0
    good: float = 0.0
    bad: float = 0.0
    slope: float = 1.0
    rise: float = 0.0
    least: float = 0.0
    worst: float = WORST

    @classmethod
    def of(cls, outcomes: Iterable[LiveOutcome]) -> "Calls":
        """Those of one tool, in order."""
        calls = cls()
        for outcome in outcomes:
            calls = replace(calls, **{outcome: getattr(calls, outcome) + 1})
            for _ in range(HARD if outcome == "gone" else 1):
                calls = calls.followed_by(ok=outcome == "ok")
        return calls

    def followed_by(self, *, ok: bool) -> "Calls":
        """With one more call, which went well or did not."""
        return replace(
            self,
            kept=KEPT * self.kept,
            good=KEPT * self.good + ok,
            bad=KEPT * self.bad + (not ok),
            slope=_LEFT * self.slope,
            rise=_LEFT * self.rise + (-1 if ok else 1),
            least=_bounded(self.least, ok=ok),
            worst=_bounded(self.worst, ok=ok),
        )


def _bounded(trouble: float, *, ok: bool) -> float:
    return max(0.0, _LEFT * trouble - 1) if ok else min(WORST, _LEFT * trouble + 1)


def calls_of(batch: LiveBatch) -> dict[ToolId, Calls]:
    """What a run's calls do to the evidence of each tool that was called."""
    outcomes: defaultdict[ToolId, list[LiveOutcome]] = defaultdict(list)
    for tool, outcome in batch.outcomes:
        outcomes[tool].append(outcome)
    return {tool: Calls.of(of_tool) for tool, of_tool in outcomes.items()}


def after_calls(facts: ToolFacts, calls: Calls, at: float, half_life: float) -> ToolFacts:
    """A tool's facts after the calls of a run at that moment: what spoke against it fades first."""
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
    """The evidence that so many calls or walks come to of which no more is known."""
    return float(min(count, MOST))


def with_evidence(facts: ToolFacts, heard: float) -> ToolFacts:
    """Facts that were kept as counts alone, with the live evidence that these come to: in proportion, as much as is bounded. ``heard``: since
    when what speaks against the tool fades.
    """
    good, bad = float(facts.ok), float(facts.transient + HARD * facts.gone)
    part = min(1.0, MOST / (good + bad)) if good + bad else 0.0
    trouble = max(0.0, min(WORST, -facts.reliability))
    return replace(facts, good=part * good, bad=part * bad, trouble=trouble, heard=heard if bad or trouble else 0.0)


def left_of(heard: float, at: float, half_life: float) -> float:
    """The part that is left, at a moment, of what spoke against a tool when calls were last heard of. It fades by whole days of silence.

    What is in use does not fade with time: there, newer calls take the place of older ones. Nor does what speaks for a tool, or a
    good call after a long silence could lower its availability.
    """
    days = int((at - heard) // DAY) if heard else 0
    return 0.5 ** (max(0, days) / half_life)


def as_of(facts: ToolFacts, at: float, half_life: float) -> ToolFacts:
    """The facts with what is left of them at a moment."""
    if not (facts.bad or facts.trouble):
        return facts
    left = left_of(facts.heard, at, half_life)
    return replace(facts, bad=facts.bad * left, trouble=facts.trouble * left)


def seconds(at: datetime | None = None) -> float:
    """A moment, by default this one, as facts keep it."""
    return (at or datetime.now(UTC)).timestamp()


@dataclass(frozen=True, slots=True)
class Walks:
    """What a run does to the edges out of one node: of each strength ``kept`` is left, then ``gained`` is added to each that was walked.

    Of an edge that was walked in vain as much is taken away, if it is there, down to nothing. ``count``: how often each was walked.
    """

    kept: float
    gained: Mapping[ToolId, float]
    count: Mapping[ToolId, int]


def walks_of(batch: LiveBatch) -> dict[ToolId, Walks]:
    """What a run's walks do to the edges out of each node.

    Walks out of one node count as if they had been made at the same time, in any order. So the share of an edge never falls where it
    alone was walked out of its node, and that of several together never falls where several were.
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
        each = (1 - kept) / (1 - KEPT) / walked if walked else 0.0
        found[source] = Walks(
            kept,
            {target: gain * each if gain > 0 else float(gain) for target, (_, gain) in targets.items()},
            {target: count for target, (count, gain) in targets.items() if gain >= 0},
        )
    return found


def _worth(batch: LiveBatch) -> dict[ToolId, float]:
    """What one walk to each tool was worth to the run, in [-1, 1]; 1 where the run says nothing of it.

    -1: none of its calls went well. Else its mean score, which in a run that came to ``FINISH`` is never below 0. A ``FINISH`` that is itself
    scored below 0 takes a run back: its user says that the answer was wrong.
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
    """The edges out of a node, by target, after the walks of a run."""
    found = {target: replace(edge, strength=walks.kept * edge.strength) for target, edge in edges.items()}
    for target, gained in walks.gained.items():
        count = walks.count.get(target, 0)
        if count or target in found:
            old = found.get(target, Edge(source, target))
            found[target] = replace(old, live=old.live + count, strength=max(0.0, old.strength + gained))
    return found
