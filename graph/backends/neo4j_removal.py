"""Documents taken out of Neo4j: their properties stay with the node, which is unresolved from then on."""

from collections.abc import Iterable

from domain.tool import ToolDoc, ToolId
from graph.backends import cypher, cypher_links
from graph.backends.bolt import Transaction
from graph.backends.neo4j_documents import document
from graph.backends.neo4j_work import Neo4jWork, send


class Neo4jRemoval(Neo4jWork):
    """The part of a ``GraphStore`` that takes documents away."""

    async def remove_tools(self, tools: Iterable[ToolId]) -> None:
        asked = sorted(set(tools))

        async def work(transaction: Transaction) -> None:
            await (await transaction.run(cypher.LOCK_TOOLS, {"rows": asked})).consume()
            found = await (await transaction.run(cypher.DOCUMENTS, {"values": asked})).values()
            going = sorted(properties["id"] for (properties,) in found)
            await send(transaction, cypher_links.EXPECT_LINKED, going, all=going)
            await send(transaction, cypher.FORGET_LINKS, going)
            await send(transaction, cypher.REMOVE_TOOLS, going)

        if asked:
            await self._connection.write(work)

    async def removed_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        rows = await self._by_chunks(cypher.REMOVED, ids)
        found = [document({**properties, "function": function}) for properties, function in rows]
        return {one.id: one for one in found}
