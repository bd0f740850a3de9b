"""Tool graph in Neo4j 5.26 or newer (Community Edition suffices), for servers with several workers."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, LiteralString
from uuid import uuid4

from domain.errors import StoreVersionError, UnavailableError
from domain.tool import ToolDoc, ToolId
from graph.answer_shapes import update_learnt_response
from graph.backends import cypher, neo4j_rows
from graph.backends.neo4j_connection import GraphServer, Neo4jBackend, Neo4jConnection, Transaction, run_in_chunks
from graph.backends.neo4j_rows import Properties, to_tool_doc
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


class Neo4jEvidence(Neo4jBackend):
    """The part of a ``GraphStore`` that holds lessons, marks and live evidence."""

    async def mark(self, source: ToolId, target: ToolId, mark: Mark | None) -> None:
        ends = sorted({source, target})

        async def write(transaction: Transaction) -> None:
            found = await (await transaction.run(cypher.LOCK_TOOLS, {"rows": ends})).values()
            check_mark(source, target, mark, {tool for (tool,) in found})
            edge = {"source": source, "target": target, "mark": mark}
            await (await transaction.run(cypher.MARK_EDGE, edge)).consume()

        await self._connection.write(write)

    async def mark_into(self, tool: ToolId, sources: Iterable[ToolId], mark: Mark | None) -> None:
        check_mark_name(mark)
        rows = sorted(set(sources))

        async def write(transaction: Transaction) -> None:
            await run_in_chunks(transaction, cypher.LOCK_TOOLS, sorted({tool, *rows}))
            await run_in_chunks(transaction, cypher.MARK_EDGES, rows, target=tool, mark=mark)

        await self._connection.write(write)

    async def reset_tools(self, tools: Iterable[ToolId]) -> None:
        await self._run_over_tools(
            tools, (cypher.RESET_TOOLS, cypher.FORGET_RUNS, cypher.FORGET_LESSONS, cypher.FORGET_LINKS)
        )

    async def forget(self, tools: Iterable[ToolId]) -> None:
        await self._run_over_tools(tools, (cypher.FORGET_RUNS, cypher.FORGET_LESSONS))

    async def _run_over_tools(self, tools: Iterable[ToolId], statements: Iterable[LiteralString]) -> None:
        """Run statements over ids of tools, in one transaction; ids that are not nodes match nothing."""
        rows = sorted(set(tools))

        async def write(transaction: Transaction) -> None:
            for statement in statements:
                await run_in_chunks(transaction, statement, rows)

        await self._connection.write(write)

    async def _derive_live_evidence(self) -> None:
        """Derive live evidence from the counts of a graph of an earlier version, once for each graph."""
        if (await self._connection.read(cypher.READ_EVIDENCE_MARK))[0][0]:
            return

        async def write(transaction: Transaction) -> None:
            evidence_mark = await (await transaction.run(cypher.LOCK_EVIDENCE_MARK)).single(strict=True)
            if not evidence_mark.value():
                for statement in cypher.DERIVE_LIVE_EVIDENCE:
                    await (await transaction.run(statement)).consume()

        await self._connection.write(write)

    async def get_lessons(self, tool: ToolId) -> list[ToolLesson]:
        return [neo4j_rows.to_lesson(*row) for row in await self._connection.read(cypher.LESSONS, {"id": tool})]

    async def stream_lessons(self) -> AsyncIterator[tuple[ToolId, ToolLesson]]:
        async for tool, *lesson in self._stream(cypher.LESSON_PAGE, at="", run=""):
            yield tool, neo4j_rows.to_lesson(*lesson)


def build_learn_parameters(batch: LiveBatch) -> dict[str, Any]:
    """Build the parameters of ``LEARN``: what a run taught about tools, and about the edges between them."""
    fading, added, weakened = neo4j_rows.build_walk_rows(batch)
    lessons = batch.build_lessons().items()
    return {
        "at": to_timestamp(batch.at),
        "half_life": float(batch.half_life),
        "decay": float(batch.decay),
        "tools": neo4j_rows.build_live_rows(batch),
        "fading": fading,
        "added": added,
        "taken": weakened,
        "lessons": neo4j_rows.build_lesson_rows(lessons),
        "taught": sorted({tool for tool, _ in lessons}),
        "kept": MAX_LESSONS,
    }


async def write_lessons(transaction: Transaction, lessons: Collection[tuple[ToolId, ToolLesson]]) -> None:
    """Store lessons about existing nodes, and drop all but the newest of each tool."""
    if lessons:
        await run_in_chunks(transaction, cypher.KEEP_LESSONS, neo4j_rows.build_lesson_rows(lessons))
        await run_in_chunks(transaction, cypher.DROP_LESSONS, sorted({tool for tool, _ in lessons}), kept=MAX_LESSONS)


class Neo4jLinks(Neo4jBackend):
    """``LinkStore`` in the database of the graph."""

    async def expect_links(self, digests: Mapping[ToolId, str], also: Iterable[ToolId] = ()) -> None:
        tools = sorted({*digests, *also})
        rows: list[dict[str, Any]] = [{"id": tool, "digest": digests.get(tool)} for tool in tools]

        async def write(transaction: Transaction) -> None:
            check_tools_exist(tools, await _find_existing_tools(transaction, tools))
            await run_in_chunks(transaction, cypher.MARK_LINKS_PENDING, rows)

        await self._connection.write(write)

    async def put_links(self, links: Sequence[ToolLinks]) -> None:
        tools, feeds, pairs = neo4j_rows.build_link_rows(links)

        async def write(transaction: Transaction) -> None:
            check_links(links, await _find_existing_tools(transaction, sorted(collect_tool_ids(links))))
            for statement in (cypher.MARK_LINKS_DONE, cypher.DROP_FEEDS, cypher.DROP_SUBSTITUTES):
                await run_in_chunks(transaction, statement, tools)
            await run_in_chunks(transaction, cypher.PUT_FEEDS, feeds)
            await run_in_chunks(transaction, cypher.PUT_SUBSTITUTES, pairs)

        await self._connection.write(write)

    async def get_link_states(self) -> dict[ToolId, LinkState]:
        return {tool: LinkState(*state) async for tool, *state in self._stream(cypher.LINK_STATE_PAGE)}

    async def find_linked_tools(self, tools: Iterable[ToolId]) -> set[ToolId]:
        return {tool for (tool,) in await self._read_in_chunks(cypher.LINKED_TOOLS, tools)}

    async def get_feeds_out(self, tool: ToolId) -> list[FeedLink]:
        return [FeedLink(*row) for row in await self._connection.read(cypher.FEEDS_OUT, {"id": tool})]

    async def get_feeds_into(self, tool: ToolId) -> list[FeedLink]:
        return [FeedLink(*row) for row in await self._connection.read(cypher.FEEDS_INTO, {"id": tool})]

    async def get_substitutes(self, tool: ToolId) -> list[SubstituteLink]:
        rows = await self._connection.read(cypher.SUBSTITUTES, {"id": tool})
        return [neo4j_rows.to_substitute(*row) for row in rows]

    async def count_links(self) -> LinkCounts:
        return LinkCounts(*(await self._connection.read(cypher.LINK_COUNTS))[0])


async def _find_existing_tools(transaction: Transaction, tools: Sequence[ToolId]) -> set[ToolId]:
    """Return which of these tools are nodes."""
    return {tool for (tool,) in await (await transaction.run(cypher.EXISTING_TOOLS, {"rows": tools})).values()}


_SET_LEARNT_RESPONSES: Final = """
UNWIND $rows AS row
MATCH (t:Tool {id: row.id})
SET t.learnt_response = row.learnt, t.link_digest = coalesce(t.link_digest, ''), t.link_pending = true
"""


def _apply_answer_shapes(nodes: Iterable[Properties], seen: Mapping[ToolId, Sequence[JsonShape]]) -> list[ToolDoc]:
    """Return the documents that observed response shapes change, with the changes; ``nodes``: properties of nodes."""
    documents = (to_tool_doc(properties) for properties in nodes)
    return [new for old in documents if (new := update_learnt_response(old, seen[old.id])) is not old]


_CountWork = Callable[[Transaction], Awaitable[None]]

_PAGE_SIZE = 500


class Neo4jGraph(Neo4jEvidence, Neo4jLinks):
    """``GraphStore`` and ``LinkStore`` in one database of a server, for one event loop. :meth:`setup` connects.

    Every write is one transaction, sent in chunks. One that exceeds the server's transaction memory fails as a whole;
    the caller has to split it. Every write is safe to repeat: a key counts once, and documents are replaced.
    """

    def __init__(
        self, url: str, user: str, password: str, database: str = "neo4j", *, retry_seconds: float = 30.0
    ) -> None:
        self._server = GraphServer(url, user, database)
        super().__init__(Neo4jConnection(self._server, password, retry_seconds=retry_seconds))

    async def setup(self) -> None:
        """Connect, and create constraints and indexes in an empty database.

        Raises:
            UnavailableError: the server cannot be used, or the database holds other data.
            StoreVersionError: the graph has another format.
        """
        await self._connection.open()
        nodes, stored_format = (await self._connection.read(cypher.READ_FORMAT))[0]
        if stored_format is None:
            if nodes:
                raise UnavailableError(
                    f"{self._server}: database {self._server.database!r} holds {nodes} nodes that are not Footpath's."
                    " Name an empty database"
                ).set_part("graph")
            await self._create_structure()
        elif stored_format != cypher.FORMAT:
            raise StoreVersionError(
                f"{self._server}: the graph has format {stored_format}, this program reads {cypher.FORMAT}; use the program that"
                " wrote it, or build it anew in an empty database"
            ).set_part("graph")
        await self._derive_live_evidence()

    async def _create_structure(self) -> None:
        for statement in cypher.GRAPH_STRUCTURE:
            # Neo4j allows one schema change in a transaction, and none together with data.
            await self._run_statement(statement)
        await self._run_statement(cypher.WRITE_FORMAT, format=cypher.FORMAT)

    async def _run_statement(self, query: LiteralString, **parameters: object) -> None:
        async def write(transaction: Transaction) -> None:
            await (await transaction.run(query, parameters)).consume()

        await self._connection.write(write)

    async def put_tools(self, tools: Sequence[ToolDoc]) -> None:
        check_documents(tools)
        rows = neo4j_rows.build_document_rows(tools)

        async def write(transaction: Transaction) -> None:
            await run_in_chunks(transaction, cypher.PUT_TOOLS, rows)

        await self._connection.write(write)

    async def apply(self, batch: GraphBatch) -> bool:
        check_batch(batch)
        tools, edges = neo4j_rows.build_imported_rows(batch), neo4j_rows.build_imported_edge_rows(batch.transitions)
        records = sorted(batch.records - {batch.key})

        async def count(transaction: Transaction) -> None:
            if await run_in_chunks(transaction, cypher.CLAIM_RECORDS, records) != len(records):
                raise _AlreadyAppliedError
            await run_in_chunks(transaction, cypher.ADD_IMPORTED_TOOLS, tools)
            await run_in_chunks(transaction, cypher.ADD_IMPORTED_EDGES, edges)

        return await self._apply_once(batch.key, count)

    async def learn(self, batch: LiveBatch) -> bool:
        check_live_batch(batch)
        rows = {"key": batch.key, "token": uuid4().hex, **build_learn_parameters(batch)}
        ((ours,),) = await self._connection.write_query(cypher.LEARN, rows)
        return ours

    async def _apply_once(self, key: str, count_batch: _CountWork) -> bool:
        """Claim the key and run ``count_batch`` in one transaction; return False if the batch was applied before."""
        token = uuid4().hex

        async def write(transaction: Transaction) -> bool:
            result = await transaction.run(cypher.CLAIM_KEY, {"key": key, "token": token})
            ours: bool = (await result.single(strict=True)).value()
            if (await result.consume()).counters.nodes_created:  # not on a retry of a commit that went through
                await count_batch(transaction)
            return ours

        try:
            return await self._connection.write(write)
        except _AlreadyAppliedError:
            return False

    async def find_applied(self, keys: Iterable[str]) -> set[str]:
        return {key for (key,) in await self._read_in_chunks(cypher.APPLIED, keys)}

    async def get_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        documents = [to_tool_doc(row[0]) for row in await self._read_in_chunks(cypher.DOCUMENTS, ids)]
        return {tool.id: tool for tool in documents}

    async def stream_documents(self) -> AsyncIterator[ToolDoc]:
        """Yield all documents; each page is a read of its own, so a slow consumer holds no transaction open."""
        last = ""
        while page := await self._connection.read(cypher.DOCUMENT_PAGE, {"after": last, "limit": _PAGE_SIZE}):
            for (properties,) in page:
                yield to_tool_doc(properties)
            last = page[-1][0]["id"]

    async def stream_nodes(self) -> AsyncIterator[tuple[ToolId, ToolFacts]]:
        async for tool, *facts in self._stream(cypher.NODE_PAGE):
            yield tool, ToolFacts(*facts)

    async def stream_edges(self) -> AsyncIterator[Edge]:
        async for edge in self._stream(cypher.EDGE_PAGE, target=""):
            yield Edge(*edge)

    async def stream_applied_keys(self) -> AsyncIterator[str]:
        async for (key,) in self._stream(cypher.KEY_PAGE):
            yield key

    async def restore(self, state: GraphState) -> None:
        check_state(state)
        tools, edges = neo4j_rows.build_facts_rows(state), neo4j_rows.build_edge_rows(state.edges)

        async def write(transaction: Transaction) -> None:
            await run_in_chunks(transaction, cypher.CLAIM_RECORDS, sorted(state.keys))
            await run_in_chunks(transaction, cypher.SET_TOOLS, tools)
            await run_in_chunks(transaction, cypher.SET_EDGES, edges)
            await write_lessons(transaction, state.lessons)

        await self._connection.write(write)

    async def find_function(self, function: str) -> list[ToolId]:
        return [tool for (tool,) in await self._connection.read(cypher.BY_FUNCTION, {"function": function})]

    async def get_facts(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolFacts]:
        return {tool: ToolFacts(*facts) for tool, *facts in await self._read_in_chunks(cypher.FACTS, ids)}

    async def get_out_edges(self, tool: ToolId) -> list[Neighbour]:
        rows = await self._connection.read(cypher.OUT_EDGES, {"id": tool})
        return [neo4j_rows.to_neighbour(tool, *row) for row in rows]

    async def get_in_edges(self, tool: ToolId) -> list[Edge]:
        rows = await self._connection.read(cypher.IN_EDGES, {"id": tool})
        return [Edge(source, tool, *counts) for source, *counts in rows]

    async def load_neighbourhoods(self, tools: Iterable[ToolId]) -> dict[ToolId, ToolNeighbourhood]:
        return dict(
            neo4j_rows.to_neighbourhood(*row) for row in await self._read_in_chunks(cypher.NEIGHBOURHOODS, tools)
        )

    async def find_adjacent_edges(self, tools: Iterable[ToolId]) -> list[Edge]:
        rows = await self._connection.read(cypher.ADJACENT_EDGES, {"values": list(dict.fromkeys(tools))})
        return [Edge(*row) for row in rows]

    async def compute_statistics(self) -> GraphStatistics:
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
        current_rows = await self._read_in_chunks(cypher.DOCUMENTS, tools)
        if not _apply_answer_shapes((row[0] for row in current_rows), seen):
            return set()  # nearly every run ends here, after one read that locks nothing

        async def write(transaction: Transaction) -> set[ToolId]:
            await (await transaction.run(cypher.LOCK_TOOLS, {"rows": tools})).consume()
            document_rows = await (await transaction.run(cypher.DOCUMENTS, {"values": tools})).values()
            changed = _apply_answer_shapes((properties for (properties,) in document_rows), seen)
            rows = [{"id": changed_tool.id, "learnt": changed_tool.learnt_response} for changed_tool in changed]
            await run_in_chunks(transaction, _SET_LEARNT_RESPONSES, rows)
            return {changed_tool.id for changed_tool in changed}

        return await self._connection.write(write)

    async def remove_tools(self, tools: Iterable[ToolId]) -> None:
        tool_ids = sorted(set(tools))

        async def write(transaction: Transaction) -> None:
            await (await transaction.run(cypher.LOCK_TOOLS, {"rows": tool_ids})).consume()
            document_rows = await (await transaction.run(cypher.DOCUMENTS, {"values": tool_ids})).values()
            existing = sorted(properties["id"] for (properties,) in document_rows)
            await run_in_chunks(transaction, cypher.MARK_LINKED_TOOLS_PENDING, existing, all=existing)
            await run_in_chunks(transaction, cypher.FORGET_LINKS, existing)
            await run_in_chunks(transaction, cypher.REMOVE_TOOLS, existing)

        if tool_ids:
            await self._connection.write(write)

    async def get_removed_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        rows = await self._read_in_chunks(cypher.REMOVED_DOCUMENTS, ids)
        documents = [to_tool_doc({**properties, "function": function}) for properties, function in rows]
        return {tool.id: tool for tool in documents}


class _AlreadyAppliedError(Exception):
    """A record of the batch was applied before; raised to roll the transaction back."""
