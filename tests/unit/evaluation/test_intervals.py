import numpy as np
import pytest

from evaluation.intervals import bootstrap_interval, bootstrap_intervals


def test_many_columns_at_once_are_what_one_by_one_gives() -> None:
    values = np.random.default_rng(1).random((40, 3))
    together = bootstrap_intervals(values)
    assert together.shape == (3, 2)
    for column, (low, high) in zip(values.T, together, strict=True):
        assert bootstrap_interval(column.tolist()) == pytest.approx((low, high))


def test_against_resampling_done_plainly() -> None:
    values = [0.0, 0.2, 0.4, 1.0]
    rng = np.random.default_rng(3)
    means = [sum(values[int(row)] for row in rng.integers(0, 4, size=4)) / 4 for _ in range(500)]
    low, high = np.quantile(means, [0.05, 0.95])
    assert bootstrap_interval(values, level=0.9, draws=500, seed=3) == pytest.approx((low, high))


def test_more_requests_make_it_narrower_and_nothing_makes_it_nothing() -> None:
    few, many = bootstrap_interval([0.0, 1.0] * 10), bootstrap_interval([0.0, 1.0] * 1_000)
    assert few[0] < many[0] < 0.5 < many[1] < few[1]
    assert bootstrap_interval([]) == (0, 0)
    assert bootstrap_intervals(np.zeros((0, 2))).tolist() == [[0, 0], [0, 0]]
