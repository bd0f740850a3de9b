"""Rule-based scores of a run's steps (thesis 3.4.2), for use without a language model."""

from collections.abc import Sequence

from domain.plan import StepResult

FAILED = frozenset({"transient", "gone"})
"""Outcomes that are failures of the tool."""
CALLER_OUTCOMES = frozenset({"absent", "undecided", "refused", "unreached", "caller_fault"})
"""Outcomes caused by the caller's values or key, or by this machine's network; they are no evidence about a tool."""


def score_steps(done: Sequence[StepResult], failed: Sequence[StepResult], *, answered: bool) -> tuple[float, ...]:
    """Return the score Δ of each step, in [-1, 1]: the plan's steps in order, then those that were bypassed.

    - +1: the step succeeded, and the run was answered or a later step used one of its values;
    - 0: the step led to nothing, was not called, or failed by a fault of the caller;
    - -1: the tool failed.

    Args:
        done: results of the plan's steps, in order.
        failed: results of the steps that were bypassed.
        answered: whether the run answered its request.
    """
    used = _find_used_steps(done)
    plan_scores = [
        _score_result(result, served=answered or number in used) for number, result in enumerate(done, start=1)
    ]
    return (*plan_scores, *(_score_result(result, served=False) for result in failed))


def is_scored(result: StepResult) -> bool:
    """Return whether a step is evidence about its tool: it succeeded, or was called and failed by the tool's fault."""
    called = result.attempts > 0 and result.outcome is not None
    return result.status == "ok" or (called and result.outcome not in CALLER_OUTCOMES)


def bound_score(result: StepResult, score: float) -> float:
    """Limit a score to [-1, 1], and to at most 0 for a tool that failed."""
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
