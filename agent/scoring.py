"""What each step was worth to its run, by rules (thesis 3.4.2): the offline form of the evaluator."""

from collections.abc import Sequence

from domain.plan import StepResult
from domain.tool import ToolId

FAILED = frozenset({"transient", "gone"})


def scores(
    done: Sequence[StepResult], failed: Sequence[StepResult], *, answered: bool
) -> tuple[tuple[ToolId, float], ...]:
    """Δ of each tool that was called, in [-1, 1]: the steps of the plan in order, then those that were gone around.

    +1: a later step took a value of it, or the answer rests on it (a step of an answered run that feeds no other).
    0: it came to nothing, or failed by a fault of the caller. -1: the tool failed.
    """
    used = _used(done)
    given: list[tuple[ToolId, float]] = []
    for number, result in enumerate(done, start=1):
        if result.status == "ok":
            given.append((result.tool, 1.0 if answered or number in used else 0.0))
        elif result.outcome is not None:
            given.append((result.tool, -1.0 if result.outcome in FAILED else 0.0))
    given += [
        (result.tool, -1.0 if result.outcome in FAILED else 0.0) for result in failed if result.outcome is not None
    ]
    return tuple(given)


def _used(done: Sequence[StepResult]) -> set[int]:
    """The steps, from 1, of which a later successful step took a value."""
    used: set[int] = set()
    for result in done:
        if result.status != "ok":
            continue
        for binding in result.provenance:
            number = binding.reference.partition(".")[0]
            if binding.origin == "step" and number.isdigit():
                used.add(int(number))
    return used
