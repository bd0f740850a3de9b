"""What a tool's availability is made of, and how it came about: told in words, and run by run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graph.evidence import KEPT, MOST, Calls, after_calls, as_of, left_of, seconds
from graph.facts import LESSONS, Lesson, ToolFacts
from graph.weights import IMPORTED, WeightParameters, availability, in_the_long_run, of_late


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of an availability. ``long_run`` times ``of_late`` is it. ``counted``: how many of the imported calls count.

    ``good`` and ``bad``: live evidence as it counts now. ``left``: the part that is left of what spoke against the tool; 1: nothing has
    faded. ``silent``: days since it was last heard of; None: it was not, or nobody knows when.
    """

    counted: float
    good: float
    bad: float
    left: float
    silent: float | None
    long_run: float
    of_late: float


def parts(facts: ToolFacts, parameters: WeightParameters, now: float | None = None) -> Parts | None:
    """The parts of a tool's living availability; None where there is no evidence, and for the thesis's form, which has no such parts."""
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
    """The parts, a line each."""
    imported = f"{known.counted:.0f} of the recorded calls count, " if facts.calls > known.counted else ""
    yield f"{known.long_run:.2f} in the long run: {imported}live ones {known.good:.1f} for it and {known.bad:.1f} against, the newer the more"
    if known.of_late < 1:
        yield f"{known.of_late:.2f} of that is left by failures in a row"
    if known.left < 1:
        yield f"silent for {known.silent or 0:.0f} days: {known.left:.2f} is left of what speaks against it"


def over_time(facts: ToolFacts, lessons: Sequence[Lesson], parameters: WeightParameters) -> dict[str, float]:
    """The availability after each run that called the tool, by the run's key, as far as its ``lessons`` (the newest first) go back.

    They are lived through again. Where older ones are kept no more, what those had left is what today's evidence lacks.
    """
    told = [lesson for lesson in reversed(lessons) if lesson.outcomes]
    known = _before(facts, told, parameters) if len(lessons) >= LESSONS else ToolFacts(facts.calls, facts.successes)
    found: dict[str, float] = {}
    for lesson in told:
        known = after_lesson(known, lesson, parameters)
        found[lesson.run] = availability(known, parameters, seconds(lesson.at)) or 0.0
    return found


def after_lesson(facts: ToolFacts, lesson: Lesson, parameters: WeightParameters) -> ToolFacts:
    """A tool's facts once a run has called it."""
    calls = Calls.of(lesson.outcomes)
    for outcome in lesson.outcomes:
        sign = 1.0 if outcome == "ok" else -1.0
        facts = replace(facts, reliability=parameters.gamma * facts.reliability + sign)
    return after_calls(facts, calls, seconds(lesson.at), parameters.half_life)


def _before(facts: ToolFacts, told: Sequence[Lesson], parameters: WeightParameters) -> ToolFacts:
    """The evidence that, with these lessons after it, comes to today's; but for the trouble, which the first of them make known."""
    known, kept, left = ToolFacts(facts.calls, facts.successes), 1.0, 1.0
    for lesson in told:
        left *= left_of(known.heard, seconds(lesson.at), parameters.half_life)
        kept *= Calls.of(lesson.outcomes).kept
        known = after_lesson(known, lesson, parameters)
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
