"""What the parts of the Neo4j back end share: their connection, read page by page and written chunk by chunk."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, LiteralString

from graph.backends.bolt import Connection, Transaction

_CHUNK = 2_000


class Neo4jWork:
    """Holds the connection of the parts that build on it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def _stream(self, page: LiteralString, **place: str) -> AsyncIterator[list[Any]]:
        """Page by page, each a read of its own. ``place``: further columns, after the first, that say where one ends."""
        place = {"after": "", **place}
        while rows := await self._connection.read(page, {**place, "limit": _CHUNK}):
            for row in rows:
                yield row
            place = dict(zip(place, rows[-1], strict=False))

    async def _by_chunks(self, query: LiteralString, values: Iterable[str]) -> list[list[Any]]:
        """The rows of a query over ``$values``, each value asked for once."""
        wanted = sorted(set(values))
        chunks = (wanted[start : start + _CHUNK] for start in range(0, len(wanted), _CHUNK))
        return [row for chunk in chunks for row in await self._connection.read(query, {"values": chunk})]


async def structured(connection: Connection, statements: Sequence[LiteralString]) -> None:
    """Connect, and define what is missing; idempotent. Neo4j takes one change of structure a transaction."""
    await connection.open()
    for statement in statements:

        async def work(transaction: Transaction, statement: LiteralString = statement) -> None:
            await (await transaction.run(statement)).consume()

        await connection.write(work)


async def send(transaction: Transaction, query: LiteralString, rows: Sequence[object], **parameters: object) -> int:
    """Run a query over ``$rows``, chunk by chunk. How many nodes it created."""
    created = 0
    for start in range(0, len(rows), _CHUNK):
        result = await transaction.run(query, {**parameters, "rows": rows[start : start + _CHUNK]})
        created += (await result.consume()).counters.nodes_created
    return created
