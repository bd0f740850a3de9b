"""Bootstrap intervals of means, seeded so that a figure repeats."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LEVEL, DRAWS, SEED = 0.95, 2_000, 7


def interval(
    values: Sequence[float], *, level: float = LEVEL, draws: int = DRAWS, seed: int = SEED
) -> tuple[float, float]:
    """The percentile bootstrap interval of the mean; both ends are 0 where there are no values (Efron 1979)."""
    column = np.asarray(values, dtype=float).reshape(-1, 1)
    low, high = intervals(column, level=level, draws=draws, seed=seed)[0]
    return float(low), float(high)


def intervals(
    values: NDArray[np.float64], *, level: float = LEVEL, draws: int = DRAWS, seed: int = SEED
) -> NDArray[np.float64]:
    """Of each column's mean: shape (n, k) to (k, 2), with the same rows drawn for all columns; 0 where there are no rows."""
    rows, columns = values.shape
    if not rows:
        return np.zeros((columns, 2))
    picked = np.random.default_rng(seed).integers(0, rows, size=(draws, rows))
    # How often each row is drawn: so that one product of matrices gives the means of all draws and columns.
    flat = (picked + rows * np.arange(draws)[:, None]).ravel()
    times = np.bincount(flat, minlength=draws * rows).reshape(draws, rows)
    return np.quantile(times @ values / rows, [(1 - level) / 2, (1 + level) / 2], axis=0).T


def difference(values: Sequence[float], others: Sequence[float]) -> dict[str, float | list[float]]:
    """The mean difference of two methods on the same requests, with its 95 % interval: the bootstrap over the pairs.

    Raises:
        ValueError: the two are not of one length.
    """
    paired = [one - other for one, other in zip(values, others, strict=True)]
    return {"difference": sum(paired) / max(1, len(paired)), "interval": list(interval(paired))}
