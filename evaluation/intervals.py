"""Bootstrap intervals of means, seeded so that figures are reproducible."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LEVEL, DRAWS, SEED = 0.95, 2_000, 7


def bootstrap_interval(
    values: Sequence[float], *, level: float = LEVEL, draws: int = DRAWS, seed: int = SEED
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the mean (Efron 1979); both ends are 0 for no values."""
    column = np.asarray(values, dtype=float).reshape(-1, 1)
    low, high = bootstrap_intervals(column, level=level, draws=draws, seed=seed)[0]
    return float(low), float(high)


def bootstrap_intervals(
    values: NDArray[np.float64], *, level: float = LEVEL, draws: int = DRAWS, seed: int = SEED
) -> NDArray[np.float64]:
    """Return the bootstrap interval of each column's mean: shape (n, k) to (k, 2); zeros for no rows.

    The same rows are drawn for all columns.
    """
    rows, columns = values.shape
    if not rows:
        return np.zeros((columns, 2))
    # Each draw takes as many rows as there are, with replacement.
    picked = np.random.default_rng(seed).integers(0, rows, size=(draws, rows))
    # How often each row is drawn: one matrix product then gives the means of all draws and columns.
    flat = (picked + rows * np.arange(draws)[:, None]).ravel()
    draw_counts = np.bincount(flat, minlength=draws * rows).reshape(draws, rows)
    return np.quantile(draw_counts @ values / rows, [(1 - level) / 2, (1 + level) / 2], axis=0).T


def compute_paired_difference(values: Sequence[float], others: Sequence[float]) -> dict[str, float | list[float]]:
    """Return the mean paired difference of two methods on the same requests, with its 95 % bootstrap interval.

    Raises:
        ValueError: the two sequences differ in length.
    """
    paired = [one - other for one, other in zip(values, others, strict=True)]
    return {"difference": sum(paired) / max(1, len(paired)), "interval": list(bootstrap_interval(paired))}
