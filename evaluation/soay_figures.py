"""Figures of SoAyEval: cases by hops, accuracy and score, to compare with the paper's table 3."""

from collections.abc import Callable, Sequence
from statistics import mean, median, pstdev
from typing import Any

from evaluation.soay import CASES, SoayVerdict

Figures = dict[str, Any]
HOPS = (1, 2, 3)
PAPER = {"SoAyGPT-4": 86.57, "SoAyLLaMA-Code-13B": 92.74, "GPT-DFSDT-4": 58.16, "ToolLLaMA-7B": 16.72}
"""Scores of the paper. Its text gives 91.24 for SoAyLLaMA-Code-13B; its table and accuracies give 92.74."""


def soay_figures(verdicts: Sequence[SoayVerdict]) -> Figures:
    """Return the figures by hops and overall: shares in percent with their deviation over entities.

    ``score`` is None if some number of hops has no question.
    """
    by_hops = {hops: [one for one in verdicts if one.hops == hops] for hops in HOPS}
    return {
        "hops": {str(hops): _shares(some) for hops, some in by_hops.items() if some},
        "all": _shares(verdicts),
        "score": score([_accuracy(some) for some in by_hops.values()]),
        "costs": {
            "model_calls": _spread(verdicts, lambda one: one.usage.model_calls),
            "tokens": _spread(verdicts, lambda one: one.usage.prompt_tokens + one.usage.completion_tokens),
            "seconds": _spread(verdicts, lambda one: one.usage.total_seconds),
        },
        "missed": [one.model_dump(mode="json", exclude={"usage"}) for one in verdicts if one.case != "EM"],
    }


def score(accuracies: Sequence[float | None]) -> float | None:
    """Return the accuracies of one, two and three hops, weighted by their hops."""
    known = [one for one in accuracies if one is not None]
    if len(known) < len(HOPS):
        return None
    return sum(hops * one for hops, one in zip(HOPS, known, strict=True)) / sum(HOPS)


def _accuracy(verdicts: Sequence[SoayVerdict]) -> float | None:
    return 100 * mean(one.right for one in verdicts) if verdicts else None


def _shares(verdicts: Sequence[SoayVerdict]) -> Figures:
    """Return the share of each case and the accuracy.

    The deviation is that of the shares among the questions with the first entity of each template, the second, and so on.
    """
    places = sorted({one.place for one in verdicts})
    groups = [[one for one in verdicts if one.place == place] for place in places]

    def told(of: Callable[[SoayVerdict], bool]) -> Figures:
        return {
            "share": 100 * mean(map(of, verdicts)) if verdicts else 0.0,
            "deviation": pstdev(100 * mean(map(of, group)) for group in groups) if groups else 0.0,
        }

    cases = {case: told(lambda one, case=case: one.case == case) for case in CASES}
    return {"n": len(verdicts), **cases, "ACC": told(lambda one: one.right)}


def _spread(verdicts: Sequence[SoayVerdict], of: Callable[[SoayVerdict], float]) -> dict[str, float]:
    values = [float(of(one)) for one in verdicts] or [0.0]
    return {"p50": median(values), "mean": mean(values), "max": max(values)}
