"""Measures of a ranking against a set of relevant items. Ideals count every relevant item, found or not.

``ranking`` is best first and holds an item at most once; ``relevant`` is not empty. All values lie in [0, 1].
"""

from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from math import log2
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)


def ndcg(ranking: Sequence[Item], relevant: AbstractSet[Item], k: int) -> float:
    """Discounted gain of the first ``k`` over that of a ranking which puts all relevant items first (Järvelin 2002)."""
    gain = sum(1 / log2(place + 2) for place, item in enumerate(ranking[:k]) if item in relevant)
    ideal = sum(1 / log2(place + 2) for place in range(min(k, len(relevant))))
    return min(gain / ideal, 1.0)


def lenient_ndcg(ranking: Sequence[Item], relevant: AbstractSet[Item], k: int) -> float:
    """NDCG@k as ToolGen's evaluator computes it: a relevant item missing from the first ``k`` leaves the ideal too.

    One of three relevant items found, in the first place, gives 1 here and 0.469 by :func:`ndcg`. It is not below that one,
    and serves comparison with figures of that line only (Reason-Wang/ToolGen, ``evaluation/retrieval/metrics.py``).
    """
    found = relevant & set(ranking[:k])
    return ndcg(ranking, found, k) if found else 0.0


def recall(ranking: Sequence[Item], relevant: AbstractSet[Item], k: int) -> float:
    """Share of the relevant items among the first ``k``."""
    return sum(item in relevant for item in ranking[:k]) / len(relevant)


def complete(ranking: Sequence[Item], relevant: AbstractSet[Item], k: int) -> float:
    """COMP@k (COLT, 2024): 1 where all relevant items are among the first ``k``, else 0."""
    return float(relevant <= set(ranking[:k]))


def reciprocal_rank(ranking: Sequence[Item], relevant: AbstractSet[Item]) -> float:
    """1 / place of the first relevant item, 0 where there is none."""
    return next((1 / place for place, item in enumerate(ranking, 1) if item in relevant), 0.0)
