"""Tool graph in Neo4j 5.26 or newer (Community Edition suffices), for servers with several workers."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, LiteralString
from uuid import uuid4

from domain.errors import StoreVersionError, UnavailableError
from domain.tool import ToolDoc, ToolId
from graph.answer_shapes import update_learnt_response
from graph.backends import cypher, neo4j_rows
from graph.backends.bolt import Connection, Neo4jWork, Server, Transaction, send
from graph.backends.neo4j_rows import Properties, document
from graph.evidence import to_timestamp
from graph.facts import (
    MAX_LESSONS,
    Edge,
    GraphBatch,
    GraphState,
    GraphStatistics,
    LiveBatch,
    Mark,
    Neighbour,
    ToolFacts,
    ToolLesson,
)
from graph.links import (
    FeedLink,
    LinkCounts,
    LinkState,
    SubstituteLink,
    ToolLinks,
    ToolNeighbourhood,
    check_links,
    check_tools_exist,
    collect_tool_ids,
)
from graph.shapes import JsonShape
from graph.validation import check_batch, check_documents, check_live_batch, check_mark, check_mark_name, check_state


class Neo4jEvidence(Neo4jWork):
    """The part of a ``GraphStore`` that holds lessons, marks and live evidence."""

    async def mark(self, source: ToolId, target: ToolId, mark: Mark | None) -> None:
        ends = sorted({source, target})

        async def work(transaction: Transaction) -> None:
            found = await (await transaction.run(cypher.LOCK_TOOLS, {"rows": ends})).values()
            check_mark(source, target, mark, {tool for (tool,) in found})
            edge = {"source": source, "target": target, "mark": mark}
            await (await transaction.run(cypher.MARK_EDGE, edge)).consume()

        await self._connection.write(work)

    async def mark_into(self, tool: ToolId, sources: Iterable[ToolId], mark: Mark | None) -> None:
        check_mark_name(mark)
        rows = sorted(set(sources))

        async def work(transaction: Transaction) -> None:
            await send(transaction, cypher.LOCK_TOOLS, sorted({tool, *rows}))
            await send(transaction, cypher.MARK_EDGES, rows, target=tool, mark=mark)

        await self._connection.write(work)

    async def begin_anew(self, tools: Iterable[ToolId]) -> None:
        await self._of_nodes(tools, (cypher.BEGIN_ANEW, cypher.FORGET_RUNS, cypher.FORGET_LESSONS, cypher.FORGET_LINKS))

    async def forget(self, tools: Iterable[ToolId]) -> None:
        await self._of_nodes(tools, (cypher.FORGET_RUNS, cypher.FORGET_LESSONS))

    async def _of_nodes(self, tools: Iterable[ToolId], statements: Iterable[LiteralString]) -> None:
        """Run statements over ids of tools, in one transaction; ids that are not nodes match nothing."""
        rows = sorted(set(tools))

        async def work(transaction: Transaction) -> None:
            for statement in statements:
                await send(transaction, statement, rows)

        await self._connection.write(work)

    async def _begin_living(self) -> None:
        """Derive live evidence from the counts of a graph of an earlier version, once for each graph."""
        if (await self._connection.read(cypher.READ_LIVING))[0][0]:
            return

        async def work(transaction: Transaction) -> None:
            found = await (await transaction.run(cypher.LOCK_LIVING)).single(strict=True)
            if not found.value():
                for statement in cypher.BEGIN_LIVING:
                    await (await transaction.run(statement)).consume()

        await self._connection.write(work)

    async def lessons(self, tool: ToolId) -> list[ToolLesson]:
        return [neo4j_rows.lesson(*row) for row in await self._connection.read(cypher.LESSONS, {"id": tool})]

    async def all_lessons(self) -> AsyncIterator[tuple[ToolId, ToolLesson]]:
        async for tool, *lesson in self._stream(cypher.LESSON_PAGE, at="", run=""):
            yield tool, neo4j_rows.lesson(*lesson)


def evidence(batch: LiveBatch) -> dict[str, Any]:
    """Build the parameters of ``LEARN``: what a run taught about tools, and about the edges between them."""
    fading, added, taken = neo4j_rows.walk_rows(batch)
    lessons = batch.build_lessons().items()
    return {
        "at": to_timestamp(batch.at),
        "half_life": float(batch.half_life),
        "decay": float(batch.decay),
        "tools": neo4j_rows.live_rows(batch),
        "fading": fading,
        "added": added,
        "taken": taken,
        "lessons": neo4j_rows.lesson_rows(lessons),
        "taught": sorted({tool for tool, _ in lessons}),
        "kept": MAX_LESSONS,
    }


async def keep_lessons(transaction: Transaction, lessons: Collection[tuple[ToolId, ToolLesson]]) -> None:
    """Store lessons about existing nodes, and drop all but the newest of each tool."""
    if lessons:
        await send(transaction, cypher.KEEP_LESSONS, neo4j_rows.lesson_rows(lessons))
        await send(transaction, cypher.DROP_LESSONS, sorted({tool for tool, _ in lessons}), kept=MAX_LESSONS)


class Neo4jLinks(Neo4jWork):
    """``LinkStore`` in the database of the graph."""

    async def expect_links(self, digests: Mapping[ToolId, str], also: Iterable[ToolId] = ()) -> None:
        tools = sorted({*digests, *also})
        rows: list[dict[str, Any]] = [{"id": tool, "digest": digests.get(tool)} for tool in tools]

        async def work(transaction: Transaction) -> None:
            check_tools_exist(tools, await _known(transaction, tools))
            await send(transaction, cypher.EXPECT, rows)

        await self._connection.write(work)

    async def put_links(self, links: Sequence[ToolLinks]) -> None:
        tools, feeds, pairs = neo4j_rows.link_rows(links)

        async def work(transaction: Transaction) -> None:
            check_links(links, await _known(transaction, sorted(collect_tool_ids(links))))
            for statement in (cypher.DONE, cypher.DROP_FEEDS, cypher.DROP_SUBSTITUTES):
                await send(transaction, statement, tools)
            await send(transaction, cypher.PUT_FEEDS, feeds)
            await send(transaction, cypher.PUT_SUBSTITUTES, pairs)

        await self._connection.write(work)

    async def link_states(self) -> dict[ToolId, LinkState]:
        return {tool: LinkState(*state) async for tool, *state in self._stream(cypher.STATE_PAGE)}

    async def linked_to(self, tools: Iterable[ToolId]) -> set[ToolId]:
        return {tool for (tool,) in await self._by_chunks(cypher.LINKED_TO, tools)}

    async def feeds_out(self, tool: ToolId) -> list[FeedLink]:
        return [FeedLink(*row) for row in await self._connection.read(cypher.FEEDS_OUT, {"id": tool})]

    async def feeds_into(self, tool: ToolId) -> list[FeedLink]:
        return [FeedLink(*row) for row in await self._connection.read(cypher.FEEDS_INTO, {"id": tool})]

    async def substitutes(self, tool: ToolId) -> list[SubstituteLink]:
        rows = await self._connection.read(cypher.SUBSTITUTES, {"id": tool})
        return [neo4j_rows.substitute(*row) for row in rows]

    async def link_counts(self) -> LinkCounts:
        return LinkCounts(*(await self._connection.read(cypher.COUNTS))[0])


async def _known(transaction: Transaction, tools: Sequence[ToolId]) -> set[ToolId]:
    """Return which of these tools are nodes."""
    return {tool for (tool,) in await (await transaction.run(cypher.KNOWN, {"rows": tools})).values()}


_LEARN: Final = """
UNWIND $rows AS row
MATCH (t:Tool {id: row.id})
SET t.learnt_response = row.learnt, t.link_digest = coalesce(t.link_digest, ''), t.link_pending = true
"""


def _changed(found: Iterable[Properties], seen: Mapping[ToolId, Sequence[JsonShape]]) -> list[ToolDoc]:
    """Return the documents that observed response shapes change, with the changes; ``found``: properties of nodes."""
    known = (document(properties) for properties in found)
    return [new for old in known if (new := update_learnt_response(old, seen[old.id])) is not old]


_Count = Callable[[Transaction], Awaitable[None]]

_PAGE = 500


class Neo4jGraph(Neo4jEvidence, Neo4jLinks):
    """``GraphStore`` and ``LinkStore`` in one database of a server, for one event loop. :meth:`setup` connects.

    Every write is one transaction, sent in chunks. One that exceeds the server's transaction memory fails as a whole;
    the caller has to split it. Every write is safe to repeat: a key counts once, and documents are replaced.
    """

    def __init__(
        self, url: str, user: str, password: str, database: str = "neo4j", *, retry_seconds: float = 30.0
    ) -> None:
        self._server = Server(url, user, database)
        super().__init__(Connection(self._server, password, retry_seconds=retry_seconds))

    async def setup(self) -> None:
        """Connect, and create constraints and indexes in an empty database.

        Raises:
            UnavailableError: the server cannot be used, or the database holds other data.
            StoreVersionError: the graph has another format.
        """
        await self._connection.open()
        nodes, found = (await self._connection.read(cypher.READ_FORMAT))[0]
        if found is None:
            if nodes:
                raise UnavailableError(
                    f"{self._server}: database {self._server.database!r} holds {nodes} nodes that are not Footpath's."
                    " Name an empty database"
                ).set_part("graph")
            await self._create()
        elif found != cypher.FORMAT:
            raise StoreVersionError(
                f"{self._server}: the graph has format {found}, this program reads {cypher.FORMAT}; use the program that"
                " wrote it, or build it anew in an empty database"
            ).set_part("graph")
        await self._begin_living()

    async def _create(self) -> None:
        for statement in cypher.STRUCTURE:
            # Neo4j allows one schema change in a transaction, and none together with data.
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
        check_live_batch(batch)
        rows = {"key": batch.key, "token": uuid4().hex, **evidence(batch)}
        ((ours,),) = await self._connection.write_query(cypher.LEARN, rows)
        return ours

    async def _once(self, key: str, count: _Count) -> bool:
        """Claim the key and run ``count`` in one transaction; return False if the batch was applied before."""
        token = uuid4().hex

        async def work(transaction: Transaction) -> bool:
            result = await transaction.run(cypher.CLAIM_KEY, {"key": key, "token": token})
            ours: bool = (await result.single(strict=True)).value()
            if (await result.consume()).counters.nodes_created:  # not on a retry of a commit that went through
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
        """Yield all documents; each page is a read of its own, so a slow consumer holds no transaction open."""
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

    async def around(self, tools: Iterable[ToolId]) -> dict[ToolId, ToolNeighbourhood]:
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

    async def learn_answers(self, seen: Mapping[ToolId, Sequence[JsonShape]]) -> set[ToolId]:
        tools = sorted(seen)
        found = await self._by_chunks(cypher.DOCUMENTS, tools)
        if not _changed((row[0] for row in found), seen):
            return set()  # nearly every run ends here, after one read that locks nothing

        async def work(transaction: Transaction) -> set[ToolId]:
            await (await transaction.run(cypher.LOCK_TOOLS, {"rows": tools})).consume()
            found = await (await transaction.run(cypher.DOCUMENTS, {"values": tools})).values()
            changed = _changed((properties for (properties,) in found), seen)
            rows = [{"id": one.id, "learnt": one.learnt_response} for one in changed]
            await send(transaction, _LEARN, rows)
            return {one.id for one in changed}

        return await self._connection.write(work)

    async def remove_tools(self, tools: Iterable[ToolId]) -> None:
        asked = sorted(set(tools))

        async def work(transaction: Transaction) -> None:
            await (await transaction.run(cypher.LOCK_TOOLS, {"rows": asked})).consume()
            found = await (await transaction.run(cypher.DOCUMENTS, {"values": asked})).values()
            going = sorted(properties["id"] for (properties,) in found)
            await send(transaction, cypher.EXPECT_LINKED, going, all=going)
            await send(transaction, cypher.FORGET_LINKS, going)
            await send(transaction, cypher.REMOVE_TOOLS, going)

        if asked:
            await self._connection.write(work)

    async def removed_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        rows = await self._by_chunks(cypher.REMOVED, ids)
        found = [document({**properties, "function": function}) for properties, function in rows]
        return {one.id: one for one in found}


class _CountedBeforeError(Exception):
    """A record of the batch was applied before; raised to roll the transaction back."""
