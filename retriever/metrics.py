"""Metrics of a ranking against the set of relevant items.

``ranking`` is best first and holds an item at most once; ``relevant`` is not empty. All values lie in [0, 1].
"""

from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from math import log2
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)


def compute_ndcg(ranking: Sequence[Item], relevant: AbstractSet[Item], k: int) -> float:
    """Return NDCG@k (Järvelin 2002): the discounted gain of the first ``k`` over that of an ideal ranking.

    The ideal has all relevant items at the top, found or not.
    """
    gain = sum(1 / log2(place + 2) for place, item in enumerate(ranking[:k]) if item in relevant)
    ideal = sum(1 / log2(place + 2) for place in range(min(k, len(relevant))))
    return min(gain / ideal, 1.0)


def compute_lenient_ndcg(ranking: Sequence[Item], relevant: AbstractSet[Item], k: int) -> float:
    """Return NDCG@k as ToolGen's evaluator computes it: relative to the best order of the first ``k``.

    Its ideal ignores relevant items that were not found: one of three found, in the first place, gives 1 here and 0.469
    by :func:`compute_ndcg`, which is never higher. Use it only for comparison with figures of that evaluator
    (Reason-Wang/ToolGen, ``evaluation/retrieval/metrics.py``).
    """
    reachable = relevant & set(ranking[:k])
    return compute_ndcg(ranking, reachable, k) if reachable else 0.0


def compute_recall(ranking: Sequence[Item], relevant: AbstractSet[Item], k: int) -> float:
    """Return the share of the relevant items that are among the first ``k``."""
    return sum(item in relevant for item in ranking[:k]) / len(relevant)


def compute_completeness(ranking: Sequence[Item], relevant: AbstractSet[Item], k: int) -> float:
    """Return COMP@k (COLT, 2024): 1 if all relevant items are among the first ``k``, else 0."""
    return float(relevant <= set(ranking[:k]))


def compute_reciprocal_rank(ranking: Sequence[Item], relevant: AbstractSet[Item]) -> float:
    """Return 1 / rank of the first relevant item, or 0 if there is none."""
    return next((1 / place for place, item in enumerate(ranking, 1) if item in relevant), 0.0)
