"""The graph in Neo4j, 5.26 or newer (Community is enough), for servers that several workers share."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import LiteralString
from uuid import uuid4

from domain.errors import StoreVersionError, UnavailableError
from domain.tool import ToolDoc, ToolId
from graph.backends import cypher, neo4j_rows
from graph.backends import cypher_evidence as live
from graph.backends.bolt import Connection, Transaction
from graph.backends.bolt_errors import Server
from graph.backends.neo4j_answers import Neo4jAnswers
from graph.backends.neo4j_documents import document
from graph.backends.neo4j_evidence import Neo4jEvidence, evidence, keep_lessons
from graph.backends.neo4j_links import Neo4jLinks
from graph.backends.neo4j_removal import Neo4jRemoval
from graph.backends.neo4j_work import send
from graph.facts import Edge, GraphBatch, GraphState, GraphStatistics, LiveBatch, Neighbour, ToolFacts
from graph.links import Neighbourhood
from graph.validation import check_batch, check_documents, check_live, check_state

_Count = Callable[[Transaction], Awaitable[None]]

_PAGE = 500


class Neo4jGraph(Neo4jEvidence, Neo4jLinks, Neo4jAnswers, Neo4jRemoval):
    """A ``GraphStore`` and a ``LinkStore`` in one database of a server, for one event loop. :meth:`setup` connects.

    Every write is one transaction, sent in chunks: what does not fit the server's transaction memory fails as a whole
    and is to be given in smaller batches. Every write may be repeated: keys count once, documents are replaced.
    """

    def __init__(
        self, url: str, user: str, password: str, database: str = "neo4j", *, retry_seconds: float = 30.0
    ) -> None:
        self._server = Server(url, user, database)
        super().__init__(Connection(self._server, password, retry_seconds=retry_seconds))

    async def setup(self) -> None:
        """Connect, and create constraints and indexes in an empty database.

        Raises:
            UnavailableError: the server cannot be used, or the database holds something else.
            StoreVersionError: the graph has another format.
        """
        await self._connection.open()
        nodes, found = (await self._connection.read(cypher.READ_FORMAT))[0]
        if found is None:
            if nodes:
                raise UnavailableError(
                    f"{self._server}: database {self._server.database!r} holds {nodes} nodes that are not Footpath's."
                    " Name an empty database"
                ).of("graph")
            await self._create()
        elif found != cypher.FORMAT:
            raise StoreVersionError(
                f"{self._server}: the graph has format {found}, this program reads {cypher.FORMAT}; use the program that"
                " wrote it, or build it anew in an empty database"
            ).of("graph")
        await self._begin_living()

    async def _create(self) -> None:
        for statement in cypher.STRUCTURE:
            # Neo4j takes one change of structure a transaction, and none together with data.
            await self._write_one(statement)
        await self._write_one(cypher.WRITE_FORMAT, format=cypher.FORMAT)

    async def _write_one(self, query: LiteralString, **parameters: object) -> None:
        async def work(transaction: Transaction) -> None:
            await (await transaction.run(query, parameters)).consume()

        await self._connection.write(work)

    async def put_tools(self, tools: Sequence[ToolDoc]) -> None:
        check_documents(tools)
        rows = neo4j_rows.document_rows(tools)

        async def work(transaction: Transaction) -> None:
            await send(transaction, cypher.PUT_TOOLS, rows)

        await self._connection.write(work)

    async def apply(self, batch: GraphBatch) -> bool:
        check_batch(batch)
        tools, edges = neo4j_rows.imported_rows(batch), neo4j_rows.edge_rows(batch.transitions)
        records = sorted(batch.records - {batch.key})

        async def count(transaction: Transaction) -> None:
            if await send(transaction, cypher.CLAIM_RECORDS, records) != len(records):
                raise _CountedBeforeError
            await send(transaction, cypher.ADD_IMPORTED_TOOLS, tools)
            await send(transaction, cypher.ADD_IMPORTED_EDGES, edges)

        return await self._once(batch.key, count)

    async def learn(self, batch: LiveBatch) -> bool:
        check_live(batch)
        rows = {"key": batch.key, "token": uuid4().hex, **evidence(batch)}
        ((ours,),) = await self._connection.write_query(live.LEARN, rows)
        return ours

    async def _once(self, key: str, count: _Count) -> bool:
        """Enter the key and count, in one transaction. False: the key, or a record of the batch, was there before."""
        token = uuid4().hex

        async def work(transaction: Transaction) -> bool:
            result = await transaction.run(cypher.CLAIM_KEY, {"key": key, "token": token})
            ours: bool = (await result.single(strict=True)).value()
            if (await result.consume()).counters.nodes_created:
                await count(transaction)
            return ours

        try:
            return await self._connection.write(work)
        except _CountedBeforeError:
            return False

    async def applied(self, keys: Iterable[str]) -> set[str]:
        return {key for (key,) in await self._by_chunks(cypher.APPLIED, keys)}

    async def get_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        found = [document(row[0]) for row in await self._by_chunks(cypher.DOCUMENTS, ids)]
        return {one.id: one for one in found}

    async def documents(self) -> AsyncIterator[ToolDoc]:
        """Page by page, each a read of its own: a slow consumer holds no transaction open."""
        last = ""
        while page := await self._connection.read(cypher.DOCUMENT_PAGE, {"after": last, "limit": _PAGE}):
            for (properties,) in page:
                yield document(properties)
            last = page[-1][0]["id"]

    async def nodes(self) -> AsyncIterator[tuple[ToolId, ToolFacts]]:
        async for tool, *facts in self._stream(cypher.NODE_PAGE):
            yield tool, ToolFacts(*facts)

    async def edges(self) -> AsyncIterator[Edge]:
        async for edge in self._stream(cypher.EDGE_PAGE, target=""):
            yield Edge(*edge)

    async def applied_keys(self) -> AsyncIterator[str]:
        async for (key,) in self._stream(cypher.KEY_PAGE):
            yield key

    async def restore(self, state: GraphState) -> None:
        check_state(state)
        tools, edges = neo4j_rows.facts_rows(state), neo4j_rows.count_rows(state.edges)

        async def work(transaction: Transaction) -> None:
            await send(transaction, cypher.CLAIM_RECORDS, sorted(state.keys))
            await send(transaction, cypher.SET_TOOLS, tools)
            await send(transaction, cypher.SET_EDGES, edges)
            await keep_lessons(transaction, state.lessons)

        await self._connection.write(work)

    async def find_function(self, function: str) -> list[ToolId]:
        return [tool for (tool,) in await self._connection.read(cypher.BY_FUNCTION, {"function": function})]

    async def facts(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolFacts]:
        return {tool: ToolFacts(*facts) for tool, *facts in await self._by_chunks(cypher.FACTS, ids)}

    async def out_edges(self, tool: ToolId) -> list[Neighbour]:
        rows = await self._connection.read(cypher.OUT_EDGES, {"id": tool})
        return [neo4j_rows.neighbour(tool, *row) for row in rows]

    async def in_edges(self, tool: ToolId) -> list[Edge]:
        rows = await self._connection.read(cypher.IN_EDGES, {"id": tool})
        return [Edge(source, tool, *counts) for source, *counts in rows]

    async def around(self, tools: Iterable[ToolId]) -> dict[ToolId, Neighbourhood]:
        return dict(neo4j_rows.around(*row) for row in await self._by_chunks(cypher.AROUND, tools))

    async def edges_beside(self, tools: Iterable[ToolId]) -> list[Edge]:
        rows = await self._connection.read(cypher.EDGES_BESIDE, {"values": list(dict.fromkeys(tools))})
        return [Edge(*row) for row in rows]

    async def statistics(self) -> GraphStatistics:
        tools, unresolved, finish, edges, finish_edges, batches = (await self._connection.read(cypher.STATISTICS))[0]
        return GraphStatistics(
            documents=tools - unresolved - finish,
            nodes=tools - finish,
            unresolved=unresolved,
            transitions=edges - finish_edges,
            finish_transitions=finish_edges,
            batches=batches,
        )

    async def close(self) -> None:
        await self._connection.close()


class _CountedBeforeError(Exception):
    """A record of the batch was counted before: the transaction is to be undone."""
