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
