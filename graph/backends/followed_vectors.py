"""Vectors of one table of SQLite, searched exactly: read once by a process, and then followed by number.

A hundred thousand of 384 dimensions take 150 MB and some ten milliseconds a search.
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
    """The vectors of one encoder, by number, as far as they were read: to the number ``last``. Removed ones stay until they are met."""

    numbers: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    owners: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    rows: NDArray[np.float32] | None = None
    last: int = 0


class FollowedVectors:
    """``new``: the statement that reads number, owner and vector of all rows of an encoder after a number, in their order. ``found``: the
    one that reads rows by their numbers, a JSON list; the first column is the number.
    """

    def __init__(self, new: str, found: str) -> None:
        self._new = new
        self._found = found
        self._known: dict[str, _Vectors] = {}
        self._owners: dict[str, int] = {"": 0}
        self._lock = threading.Lock()

    def near(
        self, connection: sqlite3.Connection, vector: NDArray[np.float32], identity: str, owner: str, limit: int
    ) -> list[tuple[float, tuple[Any, ...]]]:
        """Return the rows most similar to a vector of unit length that are shared or of this owner, each with its cosine; in no order.

        All that tie with the last one come with them: which of these count is the caller's to say, who knows what they are called.
        """
        while True:
            places = self._nearest(self._followed(connection, identity), vector, owner, limit)
            rows = connection.execute(self._found, (orjson.dumps(list(places)).decode(),)).fetchall() if places else []
            gone = places.keys() - {row[0] for row in rows}
            if not gone:
                return [(places[row[0]], row) for row in rows]
            self._drop(identity, gone)

    def clear(self) -> None:
        """Forget what was read."""
        with self._lock:
            self._known.clear()

    def _nearest(self, known: _Vectors, vector: NDArray[np.float32], owner: str, limit: int) -> dict[int, float]:
        """By number, their cosines."""
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
        """The vectors known, with those that were added since."""
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
        """Rows that were removed."""
        with self._lock:
            known = self._known[identity]
            if known.rows is not None:
                kept = ~np.isin(known.numbers, list(numbers))
                numbers, owners = known.numbers[kept], known.owners[kept]
                self._known[identity] = replace(known, numbers=numbers, owners=owners, rows=known.rows[kept])
