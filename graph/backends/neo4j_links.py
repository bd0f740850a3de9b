"""Links of tools in Neo4j."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from domain.tool import ToolId
from graph.backends import cypher_links as cypher
from graph.backends import neo4j_rows
from graph.backends.bolt import Transaction
from graph.backends.neo4j_work import Neo4jWork, send
from graph.links import Feed, LinkCounts, LinkState, Substitute, ToolLinks, check_known, check_links, named_tools


class Neo4jLinks(Neo4jWork):
    """A ``LinkStore`` in the database of a graph."""

    async def expect_links(self, digests: Mapping[ToolId, str], also: Iterable[ToolId] = ()) -> None:
        tools = sorted({*digests, *also})
        rows: list[dict[str, Any]] = [{"id": tool, "digest": digests.get(tool)} for tool in tools]

        async def work(transaction: Transaction) -> None:
            check_known(tools, await _known(transaction, tools))
            await send(transaction, cypher.EXPECT, rows)

        await self._connection.write(work)

    async def put_links(self, links: Sequence[ToolLinks]) -> None:
        tools, feeds, pairs = neo4j_rows.link_rows(links)

        async def work(transaction: Transaction) -> None:
            check_links(links, await _known(transaction, sorted(named_tools(links))))
            for statement in (cypher.DONE, cypher.DROP_FEEDS, cypher.DROP_SUBSTITUTES):
                await send(transaction, statement, tools)
            await send(transaction, cypher.PUT_FEEDS, feeds)
            await send(transaction, cypher.PUT_SUBSTITUTES, pairs)

        await self._connection.write(work)

    async def link_states(self) -> dict[ToolId, LinkState]:
        return {tool: LinkState(*state) async for tool, *state in self._stream(cypher.STATE_PAGE)}

    async def linked_to(self, tools: Iterable[ToolId]) -> set[ToolId]:
        return {tool for (tool,) in await self._by_chunks(cypher.LINKED_TO, tools)}

    async def feeds_out(self, tool: ToolId) -> list[Feed]:
        return [Feed(*row) for row in await self._connection.read(cypher.FEEDS_OUT, {"id": tool})]

    async def feeds_into(self, tool: ToolId) -> list[Feed]:
        return [Feed(*row) for row in await self._connection.read(cypher.FEEDS_INTO, {"id": tool})]

    async def substitutes(self, tool: ToolId) -> list[Substitute]:
        rows = await self._connection.read(cypher.SUBSTITUTES, {"id": tool})
        return [neo4j_rows.substitute(*row) for row in rows]

    async def link_counts(self) -> LinkCounts:
        return LinkCounts(*(await self._connection.read(cypher.COUNTS))[0])


async def _known(transaction: Transaction, tools: Sequence[ToolId]) -> set[ToolId]:
    return {tool for (tool,) in await (await transaction.run(cypher.KNOWN, {"rows": tools})).values()}
