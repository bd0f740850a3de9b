"""What a run teaches the graph: one batch, keyed by the run, so that learning twice equals once (thesis 3.4.2)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from agent.learning.step_scores import bounded, is_scored, scores
from agent.transcript import Transcript
from domain.event import EventRecord
from domain.plan import CallOutcome, StepResult
from domain.tool import FINISH, ToolId
from graph.facts import HALF_LIFE, LiveBatch, LiveOutcome

_EVIDENCE: dict[CallOutcome | None, LiveOutcome] = {"ok": "ok", "transient": "transient", "gone": "gone"}
"""Outcomes that speak of the tool. What is one caller's, one key's or this machine's does not, nor does an answer that was lost.

Nor do many answers that there is no such thing: whoever asks for what is not there may ask often, of a tool that nobody has used yet.
"""

DECAY = 0.8


def lesson(
    records: Iterable[EventRecord],
    *,
    decay: float = DECAY,
    half_life: float = HALF_LIFE,
    given: Sequence[float] | None = None,
) -> LiveBatch | None:
    """The batch of a whole run; None where no call was made, and for a run that was cancelled or that failed in itself.

    Transitions are those between the steps that were carried out, in order, to ``Finish`` where the run answered. A step that
    was gone around was walked to from the step before it, where that is the tool's own doing. ``Finish`` is walked to with a score of 1.
    ``given``: the policy's scores of the plan's steps and of those that were gone around; without them the scores are those of
    :func:`agent.learning.step_scores.scores`.
    """
    kept = list(records)
    transcript = Transcript.of(kept)
    if transcript.end is None or transcript.end.outcome in ("cancelled", "failed"):
        return None
    answered = transcript.end.outcome == "answered"
    done = [transcript.steps[step] for step in sorted(transcript.steps)]
    tried = [*done, *transcript.failed]
    outcomes: list[tuple[ToolId, LiveOutcome]] = [
        (result.tool, speaks) for result in tried if (speaks := _evidence(result)) is not None
    ]
    if not any(result.attempts for result in tried):
        return None
    transitions = _transitions(transcript)
    ends = sum(count for (_, target), count in transitions.items() if target == FINISH)
    scored = _scored(tried, given or scores(done, transcript.failed, answered=answered))
    return LiveBatch(
        key=f"run:{kept[0].run}",
        transitions=transitions,
        scores=(*scored, *((FINISH, 1.0) for _ in range(ends))),
        outcomes=tuple(outcomes),
        decay=decay,
        at=min(kept[0].at, datetime.now(UTC)),
        half_life=half_life,
    )


def _scored(tried: Sequence[StepResult], given: Sequence[float]) -> tuple[tuple[ToolId, float], ...]:
    """The scores of the tools that were called, within what their outcomes allow."""
    pairs = zip(tried, given, strict=True)
    return tuple((result.tool, bounded(result, score)) for result, score in pairs if is_scored(result))


def _evidence(result: StepResult) -> LiveOutcome | None:
    """What a result says of its tool; a repeated answer and a fault of the caller say nothing."""
    return _EVIDENCE.get(result.outcome) if result.attempts else None


def _transitions(transcript: Transcript) -> Counter[tuple[ToolId, ToolId]]:
    """Within each subtask: its steps follow each other, those of different subtasks do not."""
    found: Counter[tuple[ToolId, ToolId]] = Counter()
    for subtask in transcript.walked:
        walked = [subtask.steps[step].tool for step in sorted(subtask.steps) if subtask.steps[step].status == "ok"]
        found.update(pairwise(walked))
        found.update((before, result.tool) for before, result in subtask.failed_after if is_scored(result))
        if transcript.served(subtask) and walked:
            found[walked[-1], FINISH] += 1
    for pair in [pair for pair in found if pair[0] == pair[1]]:
        del found[pair]
    return found
