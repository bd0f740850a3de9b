"""Figures of offers: means by group with intervals, also by exact ids, and paired differences to another way."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.intervals import bootstrap_intervals
from evaluation.offers import COUNTED_SIGNATURES, SIZES, OfferMeasurement

TOKENS = f"tokens@{COUNTED_SIGNATURES}"
"""Name of the column for the length of the signatures."""
COLUMNS = (*(f"all@{size}" for size in SIZES), *(f"recall@{size}" for size in SIZES), TOKENS)
"""Names of the figures of each request."""
Row = dict[str, float]
Values = dict[str, Row]
"""Columns of each request, by its id."""
Part = dict[str, Any]
"""Figures of ``groups`` by name, and ``overall``."""


def compute_values(measured: Sequence[OfferMeasurement], *, exact: bool = False) -> Values:
    """Return the columns of each request: 1 or 0 whether all needed tools are found, and the share of them that is."""
    return {one.request.id: _compute_row(one, exact=exact) for one in measured}


def _compute_row(measurement: OfferMeasurement, *, exact: bool) -> Row:
    recall = [measurement.compute_recall(size, exact=exact) for size in SIZES]
    return dict(zip(COLUMNS, [*(float(share == 1) for share in recall), *recall, measurement.tokens], strict=True))


def group_requests(measured: Sequence[OfferMeasurement]) -> dict[str, list[str]]:
    """Return the ids of the requests of each group, in the order of the names."""
    groups: dict[str, list[str]] = {}
    for measurement in measured:
        groups.setdefault(measurement.request.group, []).append(measurement.request.id)
    return {name: groups[name] for name in sorted(groups)}


def compute_means(values: Values, groups: Mapping[str, Sequence[str]]) -> Part:
    """Return ``n`` and the mean of each column, by group and overall."""

    def row(part: NDArray[np.float64]) -> Row:
        return {"n": len(part), **_name_columns(part.mean(axis=0) if len(part) else np.zeros(len(COLUMNS)))}

    return _compute_parts(values, groups, row)


def compute_bounds(values: Values, groups: Mapping[str, Sequence[str]]) -> Part:
    """Return the 95 % bootstrap interval over requests of each mean."""
    return _compute_parts(values, groups, lambda part: _name_bounds(bootstrap_intervals(part)))


def compute_differences(ours: Values, theirs: Values, groups: Mapping[str, Sequence[str]]) -> Part:
    """Return ours less theirs over the requests of both, with the bootstrap interval over the pairs."""
    both = {name: [one for one in ids if one in ours and one in theirs] for name, ids in groups.items()}
    paired = {
        one: {column: ours[one][column] - theirs[one][column] for column in COLUMNS}
        for ids in both.values()
        for one in ids
    }

    def row(part: NDArray[np.float64]) -> dict[str, Any]:
        mean, ends = (
            _name_columns(part.mean(axis=0) if len(part) else np.zeros(len(COLUMNS))),
            _name_bounds(bootstrap_intervals(part)),
        )
        return {"n": len(part), **{c: {"difference": mean[c], "interval": ends[c]} for c in COLUMNS}}

    return _compute_parts(paired, both, row)


def compute_offer_figures(measured: Sequence[OfferMeasurement]) -> dict[str, Any]:
    """Return all figures of one way to offer."""
    groups, values, exact = group_requests(measured), compute_values(measured), compute_values(measured, exact=True)
    return {
        **compute_means(values, groups),
        "seconds_p50": median([one.seconds for one in measured if one.seconds is not None] or [0.0]),
        "intervals": compute_bounds(values, groups),
        "exact": {**compute_means(exact, groups), "intervals": compute_bounds(exact, groups)},
        "requests": values,
        "places": {one.request.id: _list_places(one) for one in measured},
    }


def _list_places(measurement: OfferMeasurement) -> dict[str, int | None]:
    """Return the position of each needed tool in the offer, from 1; None if it is missed."""
    names = [needed.name for needed in measurement.request.needed]
    return {name: None if place is None else place + 1 for name, place in zip(names, measurement.places, strict=True)}


def _compute_parts(
    values: Values, groups: Mapping[str, Sequence[str]], row: Callable[[NDArray[np.float64]], Any]
) -> Part:
    all_ids = [one for ids in groups.values() for one in ids]
    return {
        "groups": {name: row(_build_matrix(values, ids)) for name, ids in groups.items()},
        "overall": row(_build_matrix(values, all_ids)),
    }


def _build_matrix(values: Values, ids: Sequence[str]) -> NDArray[np.float64]:
    return np.asarray([[values[one][column] for column in COLUMNS] for one in ids], dtype=float).reshape(
        len(ids), len(COLUMNS)
    )


def _name_columns(row: NDArray[np.float64]) -> Row:
    return dict(zip(COLUMNS, row.tolist(), strict=True))


def _name_bounds(ends: NDArray[np.float64]) -> dict[str, list[float]]:
    return dict(zip(COLUMNS, ends.tolist(), strict=True))
