"""Exact vector search over one SQLite table, held in memory and updated with the rows that were added since.

A hundred thousand vectors of 384 dimensions take 150 MB of memory and about ten milliseconds a search.
"""

import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from domain.ranking import TIED


@dataclass(frozen=True, slots=True)
class _Vectors:
    """The vectors of one encoder that were loaded so far.

    Vectors that were removed from the table stay until a search returns them.
    """

    numbers: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Row numbers in the table, rising; shape (n,)."""
    owners: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    """Number of each vector's owner, 0 for shared ones; shape (n,)."""
    rows: NDArray[np.float32] | None = None
    """The vectors, of unit length; shape (n, dimensions). None while there are none."""
    last: int = 0
    """Highest row number that was loaded."""


class FollowedVectors:
    """Vectors of one table, searched by cosine similarity. Thread-safe."""

    def __init__(self, new: str, found: str) -> None:
        """Create the index; nothing is read yet.

        ``new``: the statement that selects number, owner and vector of an encoder's rows after a number, in order.
        ``found``: the statement that selects rows by a JSON list of numbers; the first column is the number.
        """
        self._new = new
        self._found = found
        self._known: dict[str, _Vectors] = {}
        self._owners: dict[str, int] = {"": 0}
        self._lock = threading.Lock()

    def near(
        self, connection: sqlite3.Connection, vector: NDArray[np.float32], identity: str, owner: str, limit: int
    ) -> list[tuple[float, tuple[Any, ...]]]:
        """Return the rows most similar to a vector of unit length, each with its cosine, in no particular order.

        Only shared rows and those of ``owner`` are considered. All rows that tie with the last one are returned, even
        beyond ``limit``: the caller breaks ties by a name that only it knows.
        """
        while True:
            places = self._nearest(self._followed(connection, identity), vector, owner, limit)
            rows = connection.execute(self._found, (orjson.dumps(list(places)).decode(),)).fetchall() if places else []
            gone = places.keys() - {row[0] for row in rows}
            if not gone:  # otherwise search again without the rows that were removed from the table
                return [(places[row[0]], row) for row in rows]
            self._drop(identity, gone)

    def clear(self) -> None:
        """Drop all loaded vectors."""
        with self._lock:
            self._known.clear()

    def _nearest(self, known: _Vectors, vector: NDArray[np.float32], owner: str, limit: int) -> dict[int, float]:
        """Return the cosine of the nearest visible vectors, by row number."""
        if known.rows is None or limit < 1:
            return {}
        seen = (known.owners == 0) | (known.owners == self._owners.get(owner, 0))
        similar = np.where(seen, known.rows @ vector, -np.inf)
        most = min(limit, int(seen.sum()))
        if not most:
            return {}
        least = np.partition(similar, -most)[-most]
        best = np.flatnonzero(similar >= least - TIED)
        return {int(known.numbers[at]): min(1.0, float(similar[at])) for at in best.tolist()}

    def _followed(self, connection: sqlite3.Connection, identity: str) -> _Vectors:
        """Return the loaded vectors of an encoder, after loading the rows that were added since."""
        with self._lock:
            known = self._known.get(identity, _Vectors())
            new = connection.execute(self._new, (identity, known.last)).fetchall()
            if new:
                added = np.stack([np.frombuffer(blob, dtype="<f4") for _, _, blob in new])
                numbers = np.array([number for number, _, _ in new], dtype=np.int64)
                owners = np.array(
                    [self._owners.setdefault(one, len(self._owners)) for _, one, _ in new], dtype=np.int32
                )
                known = self._known[identity] = _Vectors(
                    np.concatenate([known.numbers, numbers]),
                    np.concatenate([known.owners, owners]),
                    added if known.rows is None else np.concatenate([known.rows, added]),
                    int(numbers[-1]),
                )
            return known

    def _drop(self, identity: str, numbers: Iterable[int]) -> None:
        """Drop the vectors of rows that were removed from the table."""
        with self._lock:
            known = self._known[identity]
            if known.rows is not None:
                kept = ~np.isin(known.numbers, list(numbers))
                numbers, owners = known.numbers[kept], known.owners[kept]
                self._known[identity] = replace(known, numbers=numbers, owners=owners, rows=known.rows[kept])
