"""What a run teaches the graph: one batch, keyed by the run, so that learning twice equals once (thesis 3.4.2)."""

from collections import Counter
from collections.abc import Iterable

from agent.transcript import Transcript
from domain.event import EventRecord
from domain.plan import StepResult
from domain.tool import FINISH, ToolId
from graph.facts import LiveBatch, LiveOutcome

_EVIDENCE: dict[str | None, LiveOutcome] = {"ok": "ok", "transient": "transient", "gone": "gone"}
"""Outcomes that speak of the tool; the caller's own faults and lost answers do not."""

DECAY = 0.8


def lesson(records: Iterable[EventRecord], *, decay: float = DECAY) -> LiveBatch | None:
    """The batch of a whole run; None where no call was made, and for a run that a person cancelled or that failed in itself.

    Transitions are those of the steps that were carried out, in order, to ``Finish`` where the run answered; a step that was
    gone around counts as walked to from the step before it. Scores follow :func:`scores`.
    """
    kept = list(records)
    transcript = Transcript.of(kept)
    end = transcript.end
    if end is None or end.outcome in ("cancelled", "failed"):
        return None
    done = [transcript.steps[step] for step in sorted(transcript.steps)]
    tried = [*done, *transcript.failed]
    made = [result for result in tried if result.attempts]
    if not made:
        return None
    transitions = _transitions([result.tool for result in done if result.status == "ok"])
    before = _before(done, transcript.failed)
    transitions.update((before[place], result.tool) for place, result in enumerate(transcript.failed) if before[place])
    last = next((result.tool for result in reversed(done) if result.status == "ok"), None)
    if end.outcome == "answered" and last is not None:
        transitions[last, FINISH] += 1
    return LiveBatch(
        key=f"run:{kept[0].run}",
        transitions=transitions,
        scores=scores(done, transcript.failed),
        outcomes=tuple(
            (result.tool, _EVIDENCE[result.outcome]) for result in made if result.outcome in _EVIDENCE
        ),
        decay=decay,
    )
