"""Explains a tool's availability: its parts, as numbers and text, and its history run by run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graph.evidence import (
    MAX_EVIDENCE,
    RETENTION,
    CallEvidence,
    apply_calls,
    compute_remaining_share,
    fade_facts,
    to_timestamp,
)
from graph.facts import MAX_LESSONS, ToolFacts, ToolLesson
from graph.weights import (
    IMPORTED_CAP,
    WeightParameters,
    compute_availability,
    compute_long_run_availability,
    compute_recent_factor,
)


@dataclass(frozen=True, slots=True)
class AvailabilityParts:
    """Parts of an availability, which is the product of ``long_run`` and ``of_late``."""

    counted: float
    """Number of imported calls that count."""
    good: float
    """Live evidence for the tool."""
    bad: float
    """Live evidence against the tool, as faded by now."""
    left: float
    """Share of the evidence against the tool that remains; 1: nothing has faded."""
    silent: float | None
    """Days since its calls were last reported; None if never, or unknown."""
    long_run: float
    """Smoothed share of good calls (:func:`graph.weights.compute_long_run_availability`)."""
    of_late: float
    """Factor for recent failures in a row (:func:`graph.weights.compute_recent_factor`); 1 without any."""


def split_availability(
    facts: ToolFacts, parameters: WeightParameters, now: float | None = None
) -> AvailabilityParts | None:
    """Return the parts of a tool's living availability; None without evidence, and for the thesis's form."""
    now = to_timestamp() if now is None else now
    if parameters.form != "living" or compute_availability(facts, parameters, now) is None:
        return None
    faded_facts = fade_facts(facts, now, parameters.half_life)
    return AvailabilityParts(
        counted=float(min(facts.calls, IMPORTED_CAP)),
        good=faded_facts.good,
        bad=faded_facts.bad,
        left=compute_remaining_share(facts.heard, now, parameters.half_life),
        silent=max(0.0, now - facts.heard) / 86_400 if facts.heard else None,
        long_run=compute_long_run_availability(faded_facts),
        of_late=compute_recent_factor(faded_facts, parameters),
    )


def format_parts(facts: ToolFacts, parts: AvailabilityParts) -> Iterator[str]:
    """Yield the parts as text, a line each."""
    imported = f"{parts.counted:.0f} of the recorded calls count, " if facts.calls > parts.counted else ""
    yield f"{parts.long_run:.2f} in the long run: {imported}live ones {parts.good:.1f} for it and {parts.bad:.1f} against, the newer the more"
    if parts.of_late < 1:
        yield f"{parts.of_late:.2f} of that is left by failures in a row"
    if parts.left < 1:
        yield f"silent for {parts.silent or 0:.0f} days: {parts.left:.2f} is left of what speaks against it"


def replay_availability(
    facts: ToolFacts, lessons: Sequence[ToolLesson], parameters: WeightParameters
) -> dict[str, float]:
    """Return the availability after each run that called the tool, by the run's key.

    The ``lessons`` (newest first) are replayed on top of the evidence before them. If the store has dropped older
    lessons, that evidence is reconstructed from today's.
    """
    calling_lessons = [lesson for lesson in reversed(lessons) if lesson.outcomes]
    replayed_facts = (
        _reconstruct_earlier_facts(facts, calling_lessons, parameters)
        if len(lessons) >= MAX_LESSONS
        else ToolFacts(facts.calls, facts.successes)
    )
    availabilities: dict[str, float] = {}
    for lesson in calling_lessons:
        replayed_facts = apply_lesson(replayed_facts, lesson, parameters)
        availabilities[lesson.run] = compute_availability(replayed_facts, parameters, to_timestamp(lesson.at)) or 0.0
    return availabilities


def apply_lesson(facts: ToolFacts, lesson: ToolLesson, parameters: WeightParameters) -> ToolFacts:
    """Return a tool's facts after a run has called it."""
    calls = CallEvidence.from_outcomes(lesson.outcomes)
    for outcome in lesson.outcomes:
        sign = 1.0 if outcome == "ok" else -1.0
        facts = replace(facts, reliability=parameters.gamma * facts.reliability + sign)
    return apply_calls(facts, calls, to_timestamp(lesson.at), parameters.half_life)


def _reconstruct_earlier_facts(
    facts: ToolFacts, calling_lessons: Sequence[ToolLesson], parameters: WeightParameters
) -> ToolFacts:
    """Return the evidence from which these lessons lead to today's facts.

    Trouble is left at 0: it fades so fast that the first lessons determine it.
    """
    replayed_facts, retained, unfaded = ToolFacts(facts.calls, facts.successes), 1.0, 1.0
    for lesson in calling_lessons:
        unfaded *= compute_remaining_share(replayed_facts.heard, to_timestamp(lesson.at), parameters.half_life)
        retained *= CallEvidence.from_outcomes(lesson.outcomes).kept
        replayed_facts = apply_lesson(replayed_facts, lesson, parameters)
    # Lessons with very many calls retain next to nothing of older evidence. The bound avoids a division by almost zero.
    least = RETENTION ** (20 * MAX_LESSONS)
    good = (facts.good - replayed_facts.good) / max(retained, least)
    bad = (facts.bad - replayed_facts.bad) / max(retained * unfaded, least)
    return ToolFacts(
        facts.calls,
        facts.successes,
        max(0, facts.ok - replayed_facts.ok),
        max(0, facts.transient - replayed_facts.transient),
        max(0, facts.gone - replayed_facts.gone),
        good=min(MAX_EVIDENCE, max(0.0, good)),
        bad=min(MAX_EVIDENCE, max(0.0, bad)),
    )
