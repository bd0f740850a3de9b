"""What each step was worth to its run, by rules (thesis 3.4.2): the offline form of the evaluator."""

from collections.abc import Sequence

from domain.plan import StepResult

FAILED = frozenset({"transient", "gone"})
NOT_ITS_OWN = frozenset({"absent", "undecided", "refused", "unreached", "caller_fault"})
"""Outcomes that one caller's values or key, or this machine's network, brought about: they say nothing of a tool."""


def scores(done: Sequence[StepResult], failed: Sequence[StepResult], *, answered: bool) -> tuple[float, ...]:
    """Δ of each step, in [-1, 1]: the steps of the plan in order, then those that were gone around.

    +1: a later step took a value of it, or the answer rests on it (a step of an answered run that feeds no other).
    0: it came to nothing, was not called, or failed by a fault of the caller. -1: the tool failed.
    """
    used = _used(done)
    given = [_score(result, served=answered or number in used) for number, result in enumerate(done, start=1)]
    return (*given, *(_score(result, served=False) for result in failed))


def is_scored(result: StepResult) -> bool:
    """Whether a step says anything of its tool: it was called, and what came of it was the tool's doing."""
    called = result.attempts > 0 and result.outcome is not None
    return result.status == "ok" or (called and result.outcome not in NOT_ITS_OWN)


def bounded(result: StepResult, score: float) -> float:
    """A score within what the outcome allows: in [-1, 1], and of a tool that failed never good."""
    return max(-1.0, min(0.0 if result.outcome in FAILED else 1.0, score))


def _score(result: StepResult, *, served: bool) -> float:
    if result.outcome in FAILED:
        return -1.0
    return 1.0 if result.status == "ok" and served else 0.0


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
