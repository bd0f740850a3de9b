"""The graph in one SQLite file: the embedded default. Several processes may read and write it at once."""

import sqlite3
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

from domain.tool import ToolDoc, ToolId
from graph.backends import sqlite_schema as sql
from graph.backends.sqlite_answers import SqliteAnswers
from graph.backends.sqlite_database import Database, json_list
from graph.backends.sqlite_evidence import SqliteEvidence, add_calls, add_walks, keep_lessons, set_marks
from graph.backends.sqlite_links import SqliteLinks, read_feeds_into, read_substitutes
from graph.facts import Edge, GraphBatch, GraphState, GraphStatistics, LiveBatch, Neighbour, ToolFacts
from graph.links import Neighbourhood
from graph.validation import check_batch, check_documents, check_live, check_state


class SqliteGraph(SqliteEvidence, SqliteLinks, SqliteAnswers):
    """A ``GraphStore`` and a ``LinkStore`` at ``path``. Only :meth:`setup` creates the file; everything else fails where there is none."""

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        super().__init__(Database(path, sql.GRAPH_FORMAT, busy_seconds=busy_seconds))

    async def setup(self) -> None:
        await self._database.setup()

    async def put_tools(self, tools: Sequence[ToolDoc]) -> None:
        check_documents(tools)

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(sql.PUT_NODE, ((tool.id, tool.function) for tool in tools))
            # pydantic's own JSON keeps integers of any size; leaving defaults out saves a quarter of the file.
            connection.executemany(
                sql.PUT_DOCUMENT, ((tool.id, tool.model_dump_json(exclude_defaults=True)) for tool in tools)
            )
            connection.executemany(sql.PUT_BACK, ((tool.id,) for tool in tools))

        await self._database.write(write)

    async def remove_tools(self, tools: Iterable[ToolId]) -> None:
        going = await self.get_tools(tools)
        if going:
            await self._of_nodes(going, sql.REMOVE_DOCUMENTS)

    async def removed_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        wanted = json_list(ids)
        return await self._database.read(lambda connection: _documents(connection, wanted, sql.REMOVED))

    async def apply(self, batch: GraphBatch) -> bool:
        check_batch(batch)

        def write(connection: sqlite3.Connection) -> bool:
            keys = {batch.key, *batch.records}
            if connection.execute(sql.APPLIED, (json_list(keys),)).fetchone():
                return False
            connection.executemany(sql.CLAIM_KEY, ((key,) for key in sorted(keys)))
            _add_nodes(connection, {*batch.nodes, *batch.calls, *batch.successes}, batch.transitions)
            walks = ((source, target, n) for (source, target), n in sorted(batch.transitions.items()) if n)
            connection.executemany(sql.ADD_IMPORTED, walks)
            calls = ((tool, batch.calls[tool], batch.successes[tool]) for tool in sorted(batch.calls))
            connection.executemany(sql.ADD_CALLS, calls)
            return True

        return await self._database.write(write)

    async def learn(self, batch: LiveBatch) -> bool:
        check_live(batch)

        def write(connection: sqlite3.Connection) -> bool:
            if not _claim(connection, batch.key):
                return False
            tools = {tool for tool, _ in batch.scores} | {tool for tool, _ in batch.outcomes}
            _add_nodes(connection, tools, batch.transitions)
            connection.executemany(sql.ADD_SCORE, ((tool, batch.decay, score) for tool, score in batch.scores))
            signs = ((tool, batch.decay, 1.0 if kind == "ok" else -1.0) for tool, kind in batch.outcomes)
            connection.executemany(sql.ADD_SIGN, signs)
            add_walks(connection, batch)
            add_calls(connection, batch)
            keep_lessons(connection, batch.lessons().items())
            return True

        return await self._database.write(write)

    async def applied(self, keys: Iterable[str]) -> set[str]:
        wanted = json_list(keys)
        return await self._database.read(lambda c: {row[0] for row in c.execute(sql.APPLIED, (wanted,))})

    async def get_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        wanted = json_list(ids)
        return await self._database.read(lambda connection: _documents(connection, wanted))

    async def documents(self) -> AsyncIterator[ToolDoc]:
        async for _, body in self._stream(sql.DOCUMENT_PAGE, ("",)):
            yield ToolDoc.model_validate_json(body)

    async def nodes(self) -> AsyncIterator[tuple[ToolId, ToolFacts]]:
        async for tool, *facts in self._stream(sql.NODE_PAGE, ("",)):
            yield ToolId(tool), ToolFacts(*facts)

    async def edges(self) -> AsyncIterator[Edge]:
        async for edge in self._stream(sql.EDGE_PAGE, ("", "")):
            yield Edge(*edge)

    async def applied_keys(self) -> AsyncIterator[str]:
        async for (key,) in self._stream(sql.KEY_PAGE, ("",)):
            yield key

    async def restore(self, state: GraphState) -> None:
        check_state(state)

        def write(connection: sqlite3.Connection) -> None:
            nodes = ((tool, *astuple(facts)) for tool, facts in sorted(state.nodes.items()))
            connection.executemany(sql.SET_NODE, nodes)
            ends = {end for edge in state.edges for end in (edge.source, edge.target)}
            connection.executemany(sql.ADD_NODE, ((tool,) for tool in sorted(ends.difference(state.nodes))))
            edges = {(e.source, e.target): e for e in state.edges}.values()
            connection.executemany(sql.SET_EDGE, ((e.source, e.target, e.imported, e.live, e.strength) for e in edges))
            set_marks(connection, edges)
            keep_lessons(connection, state.lessons)
            connection.executemany(sql.CLAIM_KEY, ((key,) for key in state.keys))

        await self._database.write(write)

    async def find_function(self, function: str) -> list[ToolId]:
        return await self._database.read(lambda c: [row[0] for row in c.execute(sql.BY_FUNCTION, (function,))])

    async def facts(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolFacts]:
        wanted = json_list(ids)
        return await self._database.read(lambda connection: _facts(connection, wanted))

    async def out_edges(self, tool: ToolId) -> list[Neighbour]:
        return await self._database.read(lambda connection: _out_edges(connection, tool))

    def read_out_edges(self, tool: ToolId) -> list[Neighbour]:
        """What :meth:`out_edges` does, in this very thread: for threads of one's own, and for timing. It blocks."""
        return self._database.read_now(lambda connection: _out_edges(connection, tool))

    async def in_edges(self, tool: ToolId) -> list[Edge]:
        return await self._database.read(lambda connection: _in_edges(connection, tool))

    async def around(self, tools: Iterable[ToolId]) -> dict[ToolId, Neighbourhood]:
        """Small statements by index in one visit of the reading thread: joined into one, they would multiply each other's rows."""
        wanted = json_list(tools)

        def read(connection: sqlite3.Connection) -> dict[ToolId, Neighbourhood]:
            documents = _documents(connection, wanted)
            return {
                tool: Neighbourhood(
                    facts=facts,
                    document=documents.get(tool),
                    out=_out_edges(connection, tool),
                    into=_in_edges(connection, tool),
                    feeds=read_feeds_into(connection, tool),
                    substitutes=read_substitutes(connection, tool),
                )
                for tool, facts in _facts(connection, wanted).items()
            }

        return await self._database.read(read)

    async def edges_beside(self, tools: Iterable[ToolId]) -> list[Edge]:
        wanted = json_list(tools)
        found = await self._database.read(
            lambda c: {Edge(*row) for query in (sql.EDGES_OUT, sql.EDGES_INTO) for row in c.execute(query, (wanted,))}
        )
        return sorted(found, key=lambda edge: (edge.source, edge.target))

    async def statistics(self) -> GraphStatistics:
        documents, nodes, edges, finish, batches = await self._database.read(
            lambda connection: connection.execute(sql.STATISTICS).fetchone()
        )
        return GraphStatistics(documents, nodes, nodes - documents, edges - finish, finish, batches)

    async def close(self) -> None:
        await self._database.close()


def _out_edges(connection: sqlite3.Connection, tool: ToolId) -> list[Neighbour]:
    return [
        Neighbour(Edge(tool, target, imported, live, mark, strength), ToolFacts(*facts), bool(resolved))
        for target, imported, live, mark, strength, resolved, *facts in sorted(
            connection.execute(sql.OUT_EDGES, (tool,))
        )
    ]


def _in_edges(connection: sqlite3.Connection, tool: ToolId) -> list[Edge]:
    return [Edge(source, tool, *counts) for source, *counts in connection.execute(sql.IN_EDGES, (tool,))]


def _documents(connection: sqlite3.Connection, wanted: str, query: str = sql.DOCUMENTS) -> dict[ToolId, ToolDoc]:
    documents = (ToolDoc.model_validate_json(row[0]) for row in connection.execute(query, (wanted,)))
    return {document.id: document for document in documents}


def _facts(connection: sqlite3.Connection, wanted: str) -> dict[ToolId, ToolFacts]:
    return {tool: ToolFacts(*facts) for tool, *facts in connection.execute(sql.FACTS, (wanted,))}


def _claim(connection: sqlite3.Connection, key: str) -> bool:
    """Enter the key. False where it was there already."""
    return connection.execute(sql.CLAIM_KEY, (key,)).rowcount == 1


def _add_nodes(
    connection: sqlite3.Connection, tools: set[ToolId], transitions: Mapping[tuple[ToolId, ToolId], int]
) -> None:
    ends = {tool for pair in transitions for tool in pair}
    connection.executemany(sql.ADD_NODE, ((tool,) for tool in sorted(tools | ends)))
