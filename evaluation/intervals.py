"""Bootstrap intervals of means, seeded so that a figure repeats."""

from collections.abc import Sequence

import numpy as np


def interval(values: Sequence[float], *, level: float = 0.95, draws: int = 2_000, seed: int = 7) -> tuple[float, float]:
    """The percentile bootstrap interval of the mean; both ends are 0 where there are no values (Efron 1979)."""
    if not values:
        return 0.0, 0.0
    given = np.asarray(values, dtype=float)
    picked = np.random.default_rng(seed).integers(0, len(given), size=(draws, len(given)))
    low, high = np.quantile(given[picked].mean(axis=1), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def difference(values: Sequence[float], others: Sequence[float]) -> dict[str, float | list[float]]:
    """The mean difference of two methods on the same requests, with its 95 % interval: the bootstrap over the pairs.

    Raises:
        ValueError: the two are not of one length.
    """
    paired = [one - other for one, other in zip(values, others, strict=True)]
    return {"difference": sum(paired) / max(1, len(paired)), "interval": list(interval(paired))}
