"""Costs of answered requests: model calls, tokens, repairs, looks, time."""

from collections.abc import Callable, Sequence
from statistics import mean, median

from evaluation.correctness import Verdict

Spread = dict[str, float]


def costs(verdicts: Sequence[Verdict]) -> dict[str, object]:
    """Return the cost figures of some requests; an empty dict for no requests."""
    if not verdicts:
        return {}
    return {
        "model_calls": _spread(verdicts, lambda one: one.usage.model_calls),
        "tokens": _spread(verdicts, lambda one: one.usage.prompt_tokens + one.usage.completion_tokens),
        "seconds": _spread(verdicts, lambda one: one.usage.total_seconds),
        "repairs": sum(one.repairs for one in verdicts),
        "repaired": sum(one.repairs > 0 for one in verdicts),
        "looks": sum(one.looks for one in verdicts),
    }


def _spread(verdicts: Sequence[Verdict], of: Callable[[Verdict], float]) -> Spread:
    values = [float(of(one)) for one in verdicts]
    return {"p50": median(values), "mean": mean(values), "max": max(values)}
