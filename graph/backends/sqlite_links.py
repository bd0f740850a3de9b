"""Links of tools in the embedded graph."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

import orjson

from domain.tool import ToolId
from graph.backends import sqlite_links_schema as sql
from graph.backends.sqlite_database import SqliteReading, json_list
from graph.links import Feed, LinkCounts, LinkState, Substitute, ToolLinks, check_known, check_links, named_tools


class SqliteLinks(SqliteReading):
    """A ``LinkStore`` in the file of a graph."""

    async def expect_links(self, digests: Mapping[ToolId, str], also: Iterable[ToolId] = ()) -> None:
        further = set(also)

        def write(connection: sqlite3.Connection) -> None:
            numbers = _numbers(connection, {*digests, *further})
            check_known({*digests, *further}, numbers)
            connection.executemany(sql.EXPECT_ALSO, ((numbers[tool],) for tool in further))
            connection.executemany(sql.EXPECT, ((numbers[tool], digest) for tool, digest in digests.items()))

        await self._database.write(write)

    async def put_links(self, links: Sequence[ToolLinks]) -> None:
        def write(connection: sqlite3.Connection) -> None:
            numbers = _numbers(connection, named_tools(links))
            check_links(links, numbers)
            for one in links:
                number = numbers[one.tool]
                connection.execute(sql.DONE, (number,))
                connection.execute(sql.DROP_FEEDS, (number,))
                connection.execute(sql.DROP_SUBSTITUTES, (number,))
                connection.executemany(
                    sql.PUT_FEED, ((numbers[f.source], number, f.field, f.parameter, f.score) for f in one.feeds)
                )
                connection.executemany(
                    sql.PUT_SUBSTITUTE,
                    ((number, numbers[s.other], s.score, names_text(s.parameters)) for s in one.substitutes),
                )

        await self._database.write(write)

    async def link_states(self) -> dict[ToolId, LinkState]:
        return await self._database.read(
            lambda c: {tool: LinkState(digest, bool(pending)) for tool, digest, pending in c.execute(sql.STATES)}
        )

    async def linked_to(self, tools: Iterable[ToolId]) -> set[ToolId]:
        wanted = json_list(tools)
        return await self._database.read(lambda c: {row[0] for row in c.execute(sql.LINKED_TO, (wanted,))})

    async def feeds_out(self, tool: ToolId) -> list[Feed]:
        return await self._database.read(lambda c: [Feed(*row) for row in c.execute(sql.FEEDS_OUT, (tool,))])

    async def feeds_into(self, tool: ToolId) -> list[Feed]:
        return await self._database.read(lambda connection: read_feeds_into(connection, tool))

    async def substitutes(self, tool: ToolId) -> list[Substitute]:
        return await self._database.read(lambda connection: read_substitutes(connection, tool))

    async def link_counts(self) -> LinkCounts:
        return await self._database.read(lambda c: LinkCounts(*c.execute(sql.COUNTS).fetchone()))


def read_feeds_into(connection: sqlite3.Connection, tool: ToolId) -> list[Feed]:
    """What can fill a tool's parameters."""
    return [Feed(*row) for row in connection.execute(sql.FEEDS_INTO, (tool,))]


def read_substitutes(connection: sqlite3.Connection, tool: ToolId) -> list[Substitute]:
    """What can do a tool's job."""
    rows = connection.execute(sql.SUBSTITUTES, (tool,))
    return [Substitute(one, other, score, orjson.loads(names)) for one, other, score, names in rows]


def names_text(parameters: Mapping[str, str]) -> str:
    """A mapping of names as JSON."""
    return orjson.dumps(dict(parameters)).decode()


def _numbers(connection: sqlite3.Connection, tools: set[ToolId]) -> dict[ToolId, int]:
    return dict(connection.execute(sql.NUMBERS, (json_list(tools),)))
