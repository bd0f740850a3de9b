"""Parts of a tool's availability, as text, and its development run by run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graph.evidence import KEPT, MOST, Calls, after_calls, as_of, left_of, seconds
from graph.facts import LESSONS, Lesson, ToolFacts
from graph.weights import IMPORTED, WeightParameters, availability, in_the_long_run, of_late


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of an availability, which is ``long_run`` times ``of_late``."""

    counted: float
    """Number of imported calls that count."""
    good: float
    """Live evidence for the tool as it counts now; ``bad`` is that against it."""
    bad: float
    left: float
    """Share of the evidence against the tool that remains; 1: nothing has faded."""
    silent: float | None
    """Days since its calls were last reported; None: never, or unknown."""
    long_run: float
    of_late: float


def parts(facts: ToolFacts, parameters: WeightParameters, now: float | None = None) -> Parts | None:
    """Return the parts of a tool's living availability.

    None without evidence, and for the thesis's form, which has no such parts.
    """
    now = seconds() if now is None else now
    if parameters.form != "living" or availability(facts, parameters, now) is None:
        return None
    known = as_of(facts, now, parameters.half_life)
    return Parts(
        counted=float(min(facts.calls, IMPORTED)),
        good=known.good,
        bad=known.bad,
        left=left_of(facts.heard, now, parameters.half_life),
        silent=max(0.0, now - facts.heard) / 86_400 if facts.heard else None,
        long_run=in_the_long_run(known),
        of_late=of_late(known, parameters),
    )


def in_words(facts: ToolFacts, known: Parts) -> Iterator[str]:
    """Yield the parts as text, a line each."""
    imported = f"{known.counted:.0f} of the recorded calls count, " if facts.calls > known.counted else ""
    yield f"{known.long_run:.2f} in the long run: {imported}live ones {known.good:.1f} for it and {known.bad:.1f} against, the newer the more"
    if known.of_late < 1:
        yield f"{known.of_late:.2f} of that is left by failures in a row"
    if known.left < 1:
        yield f"silent for {known.silent or 0:.0f} days: {known.left:.2f} is left of what speaks against it"


def over_time(facts: ToolFacts, lessons: Sequence[Lesson], parameters: WeightParameters) -> dict[str, float]:
    """Return the availability after each run that called the tool, by the run's key.

    It goes back as far as ``lessons`` (newest first), which are replayed. If older ones are no longer kept, what they left is the
    difference between the replayed evidence and today's.
    """
    told = [lesson for lesson in reversed(lessons) if lesson.outcomes]
    known = _before(facts, told, parameters) if len(lessons) >= LESSONS else ToolFacts(facts.calls, facts.successes)
    found: dict[str, float] = {}
    for lesson in told:
        known = after_lesson(known, lesson, parameters)
        found[lesson.run] = availability(known, parameters, seconds(lesson.at)) or 0.0
    return found


def after_lesson(facts: ToolFacts, lesson: Lesson, parameters: WeightParameters) -> ToolFacts:
    """Return a tool's facts after a run has called it."""
    calls = Calls.of(lesson.outcomes)
    for outcome in lesson.outcomes:
        sign = 1.0 if outcome == "ok" else -1.0
        facts = replace(facts, reliability=parameters.gamma * facts.reliability + sign)
    return after_calls(facts, calls, seconds(lesson.at), parameters.half_life)


def _before(facts: ToolFacts, told: Sequence[Lesson], parameters: WeightParameters) -> ToolFacts:
    """Return the evidence that these lessons turn into today's, without trouble, which their first ones determine."""
    known, kept, left = ToolFacts(facts.calls, facts.successes), 1.0, 1.0
    for lesson in told:
        left *= left_of(known.heard, seconds(lesson.at), parameters.half_life)
        kept *= Calls.of(lesson.outcomes).kept
        known = after_lesson(known, lesson, parameters)
    # Lessons with very many calls leave next to nothing of older evidence: no division by (almost) zero.
    least = KEPT ** (20 * LESSONS)
    good = (facts.good - known.good) / max(kept, least)
    bad = (facts.bad - known.bad) / max(kept * left, least)
    return ToolFacts(
        facts.calls,
        facts.successes,
        max(0, facts.ok - known.ok),
        max(0, facts.transient - known.transient),
        max(0, facts.gone - known.gone),
        good=min(MOST, max(0.0, good)),
        bad=min(MOST, max(0.0, bad)),
    )
