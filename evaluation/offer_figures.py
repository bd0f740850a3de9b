"""Figures of offers: means by group with intervals, also by exact ids, and paired differences to another way."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.intervals import intervals
from evaluation.offers import SIZES, TOLD, Measured

TOKENS = f"tokens@{TOLD}"
COLUMNS = (*(f"all@{size}" for size in SIZES), *(f"recall@{size}" for size in SIZES), TOKENS)
Row = dict[str, float]
Values = dict[str, Row]
"""Columns of each request, by its id."""
Part = dict[str, Any]
"""Figures of ``groups`` by name, and ``overall``."""


def values(measured: Sequence[Measured], *, exact: bool = False) -> Values:
    """Return the columns of each request: 1 or 0 whether all needed tools are found, and the share of them that is."""
    return {one.request.id: _values(one, exact=exact) for one in measured}


def _values(one: Measured, *, exact: bool) -> Row:
    recall = [one.found(size, exact=exact) for size in SIZES]
    return dict(zip(COLUMNS, [*(float(share == 1) for share in recall), *recall, one.tokens], strict=True))


def groups_of(measured: Sequence[Measured]) -> dict[str, list[str]]:
    """Return the ids of the requests of each group, in the order of the names."""
    found: dict[str, list[str]] = {}
    for one in measured:
        found.setdefault(one.request.group, []).append(one.request.id)
    return {name: found[name] for name in sorted(found)}


def means(found: Values, groups: Mapping[str, Sequence[str]]) -> Part:
    """Return ``n`` and the mean of each column, by group and overall."""

    def row(part: NDArray[np.float64]) -> Row:
        return {"n": len(part), **_named(part.mean(axis=0) if len(part) else np.zeros(len(COLUMNS)))}

    return _parts(found, groups, row)


def bounds(found: Values, groups: Mapping[str, Sequence[str]]) -> Part:
    """Return the 95 % bootstrap interval over requests of each mean."""
    return _parts(found, groups, lambda part: _pairs(intervals(part)))


def differences(ours: Values, theirs: Values, groups: Mapping[str, Sequence[str]]) -> Part:
    """Return ours less theirs over the requests of both, with the bootstrap interval over the pairs."""
    both = {name: [one for one in ids if one in ours and one in theirs] for name, ids in groups.items()}
    paired = {
        one: {column: ours[one][column] - theirs[one][column] for column in COLUMNS}
        for ids in both.values()
        for one in ids
    }

    def row(part: NDArray[np.float64]) -> dict[str, Any]:
        mean, ends = _named(part.mean(axis=0) if len(part) else np.zeros(len(COLUMNS))), _pairs(intervals(part))
        return {"n": len(part), **{c: {"difference": mean[c], "interval": ends[c]} for c in COLUMNS}}

    return _parts(paired, both, row)


def told(measured: Sequence[Measured]) -> dict[str, Any]:
    """Return all figures of one way to offer."""
    groups, found, exact = groups_of(measured), values(measured), values(measured, exact=True)
    return {
        **means(found, groups),
        "seconds_p50": median([one.seconds for one in measured if one.seconds is not None] or [0.0]),
        "intervals": bounds(found, groups),
        "exact": {**means(exact, groups), "intervals": bounds(exact, groups)},
        "requests": found,
        "places": {one.request.id: _places(one) for one in measured},
    }


def _places(one: Measured) -> dict[str, int | None]:
    """Return the position of each needed tool in the offer, from 1; None if it is missed."""
    names = [needed.name for needed in one.request.needed]
    return {name: None if place is None else place + 1 for name, place in zip(names, one.places, strict=True)}


def _parts(found: Values, groups: Mapping[str, Sequence[str]], row: Callable[[NDArray[np.float64]], Any]) -> Part:
    whole = [one for ids in groups.values() for one in ids]
    return {
        "groups": {name: row(_matrix(found, ids)) for name, ids in groups.items()},
        "overall": row(_matrix(found, whole)),
    }


def _matrix(found: Values, ids: Sequence[str]) -> NDArray[np.float64]:
    return np.asarray([[found[one][column] for column in COLUMNS] for one in ids], dtype=float).reshape(
        len(ids), len(COLUMNS)
    )


def _named(row: NDArray[np.float64]) -> Row:
    return dict(zip(COLUMNS, row.tolist(), strict=True))


def _pairs(ends: NDArray[np.float64]) -> dict[str, list[float]]:
    return dict(zip(COLUMNS, ends.tolist(), strict=True))
