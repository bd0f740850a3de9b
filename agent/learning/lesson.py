"""Lesson of a run for the graph: one batch keyed by the run, so learning it twice equals once (thesis 3.4.2)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from agent.learning.program_lesson import capped, distinct_calls, program_scores, program_transitions
from agent.learning.step_scores import bounded, is_scored, scores
from agent.transcript import SubtaskTranscript, Transcript
from domain.event import EventRecord
from domain.plan import CallOutcome, StepResult
from domain.tool import FINISH, ToolId
from graph.facts import HALF_LIFE, LiveBatch, LiveOutcome

_EVIDENCE: dict[CallOutcome | None, LiveOutcome] = {"ok": "ok", "transient": "transient", "gone": "gone"}
"""Outcomes that say something of the tool.

Outcomes due to one caller, one key or this machine do not, nor does an answer that was lost. Nor do repeated answers
that something does not exist: whoever asks for what does not exist may ask often, of a tool that nobody has used yet.
A 404 that one answer cannot decide is settled before, by repetition (:mod:`agent.learning.settled_misses`).
"""

DECAY = 0.8


def lesson(
    records: Iterable[EventRecord],
    *,
    decay: float = DECAY,
    half_life: float = HALF_LIFE,
    given: Sequence[float] | None = None,
) -> LiveBatch | None:
    """Return the batch of a whole run; None if no call was made, or if the run was cancelled or failed in itself.

    Transitions are counted between the steps that were carried out, in order, and to ``Finish`` if the run answered.
    For a step that was bypassed, the transition from the step before it counts if the failure was the tool's own.
    ``Finish`` is reached with a score of 1. :mod:`agent.learning.program_lesson` says what programs teach. A run that
    was served in part teaches what it did, but no transition to ``Finish``.

    Args:
        records: events of the run.
        decay: decay of the weights.
        half_life: half-life of outcomes.
        given: the policy's scores of the plan's steps and of those that were bypassed; without them
            :func:`agent.learning.step_scores.scores` scores them.
    """
    kept = list(records)
    transcript = Transcript.of(kept)
    if transcript.end is None or transcript.end.outcome in ("cancelled", "failed"):
        return None
    answered = transcript.end.outcome == "answered"
    programmed = [result for one in transcript.walked for result in _programmed(one)]
    done, failed = _walked(transcript)
    tried = [*done, *failed]
    if not any(result.attempts for result in (*tried, *programmed)):
        return None
    transitions = _transitions(transcript)
    ends = sum(count for (_, target), count in transitions.items() if target == FINISH)
    pairs = list(zip(tried, given or scores(done, failed, answered=answered), strict=True))
    pairs += [pair for one in transcript.walked for pair in program_scores(one, served=transcript.served(one))]
    outcomes = (*_outcomes(tried), *capped(_outcomes(distinct_calls(programmed))))
    return LiveBatch(
        key=f"run:{kept[0].run}",
        transitions=transitions,
        scores=(*_scored(pairs), *((FINISH, 1.0) for _ in range(ends))),
        outcomes=outcomes,
        decay=decay,
        at=min(kept[0].at, datetime.now(UTC)),
        half_life=half_life,
    )


def _programmed(subtask: SubtaskTranscript) -> Iterator[StepResult]:
    """Return the results of the calls of a subtask's programs, in order."""
    return (trace.calls[step][1] for trace in subtask.programs.written for step in sorted(trace.calls))


def _walked(transcript: Transcript) -> tuple[list[StepResult], list[StepResult]]:
    """Return the steps that no program called: those of the last plans, and those that were bypassed."""
    done = [transcript.steps[step] for step in sorted(transcript.steps) if step not in transcript.sites]
    return done, [result for one in transcript.walked for result in one.gone_around]


def _outcomes(results: Sequence[StepResult]) -> list[tuple[ToolId, LiveOutcome]]:
    """Return what results say of their tools, if anything."""
    return [(result.tool, speaks) for result in results if (speaks := _evidence(result)) is not None]


def _scored(pairs: Sequence[tuple[StepResult, float]]) -> tuple[tuple[ToolId, float], ...]:
    """Return the scores of the tools that were called, limited by their outcomes."""
    return tuple((result.tool, bounded(result, score)) for result, score in pairs if is_scored(result))


def _evidence(result: StepResult) -> LiveOutcome | None:
    """Return what a result says of its tool; a repeated answer and a fault of the caller say nothing."""
    return _EVIDENCE.get(result.outcome) if result.attempts else None


def _transitions(transcript: Transcript) -> Counter[tuple[ToolId, ToolId]]:
    """Count the transitions within each subtask; steps of different subtasks do not follow each other."""
    found: Counter[tuple[ToolId, ToolId]] = Counter()
    for subtask in transcript.walked:
        own = [subtask.steps[step] for step in sorted(subtask.steps) if step not in subtask.sites]
        walked = [result.tool for result in own if result.status == "ok"]
        found.update(pairwise(walked))
        found.update((before, result.tool) for before, result in subtask.failed_after if is_scored(result))
        served = transcript.served(subtask)
        if served and walked:
            found[walked[-1], FINISH] += 1
        found.update(program_transitions(subtask, served=served))
    for pair in [pair for pair in found if pair[0] == pair[1]]:
        del found[pair]
    return found
