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

from domain.ranking import TIE_TOLERANCE


@dataclass(frozen=True, slots=True)
class _LoadedVectors:
    """The vectors of one encoder that were loaded so far.

    Vectors that were removed from the table stay until a search returns them.
    """

    numbers: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Row numbers in the table, rising; shape (n,)."""
    owners: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    """Number of each vector's owner, 0 for shared ones; shape (n,)."""
    rows: NDArray[np.float32] | None = None
    """The vectors, of unit length; shape (n, dimensions). None while there are none."""
    last_number: int = 0
    """Highest row number that was loaded."""


class SqliteVectors:
    """Vectors of one table, searched by cosine similarity. Thread-safe."""

    def __init__(self, select_new: str, select_by_number: str) -> None:
        """Create the index; nothing is read yet.

        ``select_new``: the statement that selects number, owner and vector of an encoder's rows after a number, in order.
        ``select_by_number``: the statement that selects rows by a JSON list of numbers; the first column is the number.
        """
        self._select_new = select_new
        self._select_by_number = select_by_number
        self._loaded: dict[str, _LoadedVectors] = {}
        self._owner_numbers: dict[str, int] = {"": 0}
        self._lock = threading.Lock()

    def find_similar(
        self, connection: sqlite3.Connection, vector: NDArray[np.float32], identity: str, owner: str, limit: int
    ) -> list[tuple[float, tuple[Any, ...]]]:
        """Return the rows most similar to a vector of unit length, each with its cosine, in no particular order.

        Only shared rows and those of ``owner`` are considered. All rows that tie with the last one are returned, even
        beyond ``limit``: the caller breaks ties by a name that only it knows.
        """
        while True:
            similarities = self._find_nearest(self._load_new(connection, identity), vector, owner, limit)
            rows = (
                connection.execute(self._select_by_number, (orjson.dumps(list(similarities)).decode(),)).fetchall()
                if similarities
                else []
            )
            removed = similarities.keys() - {row[0] for row in rows}
            if not removed:  # otherwise search again without the rows that were removed from the table
                return [(similarities[row[0]], row) for row in rows]
            self._drop(identity, removed)

    def clear(self) -> None:
        """Drop all loaded vectors."""
        with self._lock:
            self._loaded.clear()

    def _find_nearest(
        self, loaded: _LoadedVectors, vector: NDArray[np.float32], owner: str, limit: int
    ) -> dict[int, float]:
        """Return the cosine of the nearest visible vectors, by row number."""
        if loaded.rows is None or limit < 1:
            return {}
        is_visible = (loaded.owners == 0) | (loaded.owners == self._owner_numbers.get(owner, 0))
        cosines = np.where(is_visible, loaded.rows @ vector, -np.inf)
        wanted_count = min(limit, int(is_visible.sum()))
        if not wanted_count:
            return {}
        threshold = np.partition(cosines, -wanted_count)[-wanted_count]
        best = np.flatnonzero(cosines >= threshold - TIE_TOLERANCE)
        return {int(loaded.numbers[index]): min(1.0, float(cosines[index])) for index in best.tolist()}

    def _load_new(self, connection: sqlite3.Connection, identity: str) -> _LoadedVectors:
        """Return the loaded vectors of an encoder, after loading the rows that were added since."""
        with self._lock:
            loaded = self._loaded.get(identity, _LoadedVectors())
            rows = connection.execute(self._select_new, (identity, loaded.last_number)).fetchall()
            if rows:
                added = np.stack([np.frombuffer(blob, dtype="<f4") for _, _, blob in rows])
                numbers = np.array([number for number, _, _ in rows], dtype=np.int64)
                owners = np.array(
                    [self._owner_numbers.setdefault(owner, len(self._owner_numbers)) for _, owner, _ in rows],
                    dtype=np.int32,
                )
                loaded = self._loaded[identity] = _LoadedVectors(
                    np.concatenate([loaded.numbers, numbers]),
                    np.concatenate([loaded.owners, owners]),
                    added if loaded.rows is None else np.concatenate([loaded.rows, added]),
                    int(numbers[-1]),
                )
            return loaded

    def _drop(self, identity: str, numbers: Iterable[int]) -> None:
        """Drop the vectors of rows that were removed from the table."""
        with self._lock:
            loaded = self._loaded[identity]
            if loaded.rows is not None:
                is_kept = ~np.isin(loaded.numbers, list(numbers))
                numbers, owners = loaded.numbers[is_kept], loaded.owners[is_kept]
                self._loaded[identity] = replace(loaded, numbers=numbers, owners=owners, rows=loaded.rows[is_kept])
