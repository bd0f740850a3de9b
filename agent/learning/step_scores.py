"""Scores of a run's steps by rules (thesis 3.4.2): the offline form of the evaluator."""

from collections.abc import Sequence

from domain.plan import StepResult

FAILED = frozenset({"transient", "gone"})
"""Outcomes that are failures of the tool."""
CALLER_OUTCOMES = frozenset({"absent", "undecided", "refused", "unreached", "caller_fault"})
"""Outcomes caused by one caller's values or key, or by this machine's network: they say nothing of a tool."""


def score_steps(done: Sequence[StepResult], failed: Sequence[StepResult], *, answered: bool) -> tuple[float, ...]:
    """Return the score Δ of each step, in [-1, 1]: the plan's steps in order, then those that were bypassed.

    - +1: a later step used a value of it, or the answer rests on it (a step of an answered run that feeds no other);
    - 0: it led to nothing, was not called, or failed by a fault of the caller;
    - -1: the tool failed.
    """
    used = _find_used_steps(done)
    plan_scores = [
        _score_result(result, served=answered or number in used) for number, result in enumerate(done, start=1)
    ]
    return (*plan_scores, *(_score_result(result, served=False) for result in failed))


def is_scored(result: StepResult) -> bool:
    """Return whether a step says anything of its tool: it was called, and the outcome was the tool's doing."""
    called = result.attempts > 0 and result.outcome is not None
    return result.status == "ok" or (called and result.outcome not in CALLER_OUTCOMES)


def bound_score(result: StepResult, score: float) -> float:
    """Return a score limited by the outcome: in [-1, 1], and never above 0 for a tool that failed."""
    return max(-1.0, min(0.0 if result.outcome in FAILED else 1.0, score))


def _score_result(result: StepResult, *, served: bool) -> float:
    """Return the score of one result. ``served``: whether its values were used."""
    if result.outcome in FAILED:
        return -1.0
    return 1.0 if result.status == "ok" and served else 0.0


def _find_used_steps(done: Sequence[StepResult]) -> set[int]:
    """Return the steps, from 1, whose values a later successful step used."""
    used: set[int] = set()
    for result in done:
        if result.status != "ok":
            continue
        for binding in result.provenance:
            number = binding.reference.partition(".")[0]
            if binding.origin == "step" and number.isdigit():
                used.add(int(number))
    return used
