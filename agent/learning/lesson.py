"""What a run teaches the graph: one batch, keyed by the run, so that learning twice equals once (thesis 3.4.2)."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from agent.execution.call_cache import key_of
from agent.learning.step_scores import bounded, is_scored, scores
from agent.transcript import Transcript
from domain.event import EventRecord
from domain.plan import CallOutcome, StepResult
from domain.tool import FINISH, ToolId
from graph.facts import LiveBatch, LiveOutcome

_EVIDENCE: dict[CallOutcome | None, LiveOutcome] = {"ok": "ok", "transient": "transient", "gone": "gone"}
"""Outcomes that speak of the tool. What is one caller's, one key's or this machine's does not, nor does an answer that was lost."""
WITHDRAWN = 3
"""So many calls of a run with different arguments, each answered that there is no such thing, and none ever answered otherwise: it is
the operation that is gone.
"""

DECAY = 0.8


def lesson(
    records: Iterable[EventRecord],
    *,
    decay: float = DECAY,
    given: Sequence[float] | None = None,
    proven: Collection[ToolId] = (),
) -> LiveBatch | None:
    """The batch of a whole run; None where no call was made, and for a run that was cancelled or that failed in itself.

    Transitions are those between the steps that were carried out, in order, to ``Finish`` where the run answered. A step that
    was gone around was walked to from the step before it. ``given``: the policy's scores of the plan's steps and of those that
    were gone around; without them the scores are those of :func:`agent.learning.step_scores.scores`. ``proven``: tools that have answered before.
    """
    kept = list(records)
    transcript = Transcript.of(kept)
    if transcript.end is None or transcript.end.outcome in ("cancelled", "failed"):
        return None
    answered = transcript.end.outcome == "answered"
    done = [transcript.steps[step] for step in sorted(transcript.steps)]
    tried = list(_with_withdrawn([*done, *transcript.failed], proven))
    outcomes: list[tuple[ToolId, LiveOutcome]] = [
        (result.tool, speaks) for result in tried if (speaks := _evidence(result)) is not None
    ]
    if not any(result.attempts for result in tried):
        return None
    return LiveBatch(
        key=f"run:{kept[0].run}",
        transitions=_transitions(transcript),
        scores=_scored(tried, given or scores(tried[: len(done)], tried[len(done) :], answered=answered)),
        outcomes=tuple(outcomes),
        decay=decay,
        at=kept[0].at,
    )


def _scored(tried: Sequence[StepResult], given: Sequence[float]) -> tuple[tuple[ToolId, float], ...]:
    """The scores of the tools that were called, within what their outcomes allow."""
    pairs = zip(tried, given, strict=True)
    return tuple((result.tool, bounded(result, score)) for result, score in pairs if is_scored(result))


def _with_withdrawn(tried: Sequence[StepResult], proven: Collection[ToolId]) -> Iterator[StepResult]:
    """The results, the one of each tool that shows it to be gone, whatever it is asked for, as such."""
    there = {result.tool for result in tried if result.outcome == "ok"}.union(proven)
    absent: defaultdict[ToolId, set[str]] = defaultdict(set)
    for result in tried:
        asked, before = absent[result.tool], len(absent[result.tool])
        if result.outcome == "absent":
            asked.add(key_of(result.tool, result.arguments)[1])
        gone = before < len(asked) == WITHDRAWN and result.tool not in there
        yield result.model_copy(update={"outcome": "gone"}) if gone else result


def _evidence(result: StepResult) -> LiveOutcome | None:
    """What a result says of its tool; a repeated answer and a fault of the caller say nothing."""
    return _EVIDENCE.get(result.outcome) if result.attempts else None


def _transitions(transcript: Transcript) -> Counter[tuple[ToolId, ToolId]]:
    """Within each subtask: its steps follow each other, those of different subtasks do not."""
    found: Counter[tuple[ToolId, ToolId]] = Counter()
    for subtask in transcript.walked:
        walked = [subtask.steps[step].tool for step in sorted(subtask.steps) if subtask.steps[step].status == "ok"]
        found.update(pairwise(walked))
        found.update(subtask.failed_after)
        if transcript.served(subtask) and walked:
            found[walked[-1], FINISH] += 1
    for pair in [pair for pair in found if pair[0] == pair[1]]:
        del found[pair]
    return found
