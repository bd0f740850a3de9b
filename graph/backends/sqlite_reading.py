"""What the parts of the embedded graph share: its file, read page by page."""

from collections.abc import AsyncIterator, Iterable
from typing import Any

import orjson

from graph.backends.sqlite_database import Database

_PAGE = 500


class SqliteReading:
    """Holds the database of the parts that build on it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def _stream(self, page: str, after: tuple[str, ...]) -> AsyncIterator[tuple[Any, ...]]:
        """Page by page, each a read of its own: a slow consumer holds no snapshot open.

        ``after`` is where to begin; the first columns of a row say where the next page does.
        """
        while True:
            place = (*after, _PAGE)
            rows = await self._database.read(lambda c, place=place: c.execute(page, place).fetchall())
            for row in rows:
                yield row
            if len(rows) < _PAGE:
                return
            after = rows[-1][: len(after)]


def json_list(values: Iterable[str]) -> str:
    """A list as one bound parameter: any number of values in one statement."""
    return orjson.dumps(list(values)).decode()
