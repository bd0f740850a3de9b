"""Tool graph in one SQLite file, the default store. Several processes may read and write it at the same time."""

import sqlite3
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple
from datetime import datetime
from pathlib import Path
from typing import cast

import orjson
from orjson import dumps

from domain.tool import ToolDoc, ToolId
from graph.answer_shapes import update_learnt_response
from graph.backends import sqlite_schema as sql
from graph.backends.sqlite_database import SqliteBackend, SqliteDatabase, to_json_list
from graph.backends.sqlite_schema import NODE_NUMBERS
from graph.evidence import fold_calls, fold_walks, to_timestamp
from graph.facts import (
    MAX_LESSONS,
    Edge,
    GraphBatch,
    GraphState,
    GraphStatistics,
    LiveBatch,
    LiveOutcome,
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


class SqliteEvidence(SqliteBackend):
    """The part of a ``GraphStore`` that holds lessons, marks and live evidence."""

    async def mark(self, source: ToolId, target: ToolId, mark: Mark | None) -> None:
        def write(connection: sqlite3.Connection) -> None:
            ends = to_json_list([source, target])
            check_mark(source, target, mark, {row[0] for row in connection.execute(sql.FACTS, (ends,))})
            if mark:
                connection.execute(sql.ADD_EMPTY_EDGE, (source, target))
                connection.execute(sql.SET_MARK, (source, target, mark))
            else:
                connection.execute(sql.CLEAR_MARK, (source, target))
                connection.execute(sql.DROP_EMPTY_EDGE, (source, target))

        await self._database.write(write)

    async def mark_into(self, tool: ToolId, sources: Iterable[ToolId], mark: Mark | None) -> None:
        check_mark_name(mark)
        source_list = to_json_list(sources)

        def write(connection: sqlite3.Connection) -> None:
            edges = [(source, tool) for (source,) in connection.execute(sql.SOURCES_OF_EDGES, (tool, source_list))]
            if mark:
                connection.executemany(sql.SET_MARK, [(*edge, mark) for edge in edges])
            else:
                connection.executemany(sql.CLEAR_MARK, edges)
                connection.executemany(sql.DROP_EMPTY_EDGE, edges)

        await self._database.write(write)

    async def reset_tools(self, tools: Iterable[ToolId]) -> None:
        await self._run_over_tools(tools, sql.RESET_TOOLS)

    async def forget(self, tools: Iterable[ToolId]) -> None:
        await self._run_over_tools(tools, sql.FORGET_RUNS)

    async def _run_over_tools(self, tools: Iterable[ToolId], statements: Iterable[str]) -> None:
        """Run statements over the node numbers of these tools, in one transaction; others are ignored."""
        tool_list = to_json_list(tools)

        def write(connection: sqlite3.Connection) -> None:
            numbers = dumps([number for _, number in connection.execute(NODE_NUMBERS, (tool_list,))]).decode()
            for statement in statements:
                connection.execute(statement, (numbers,))

        await self._database.write(write)

    async def get_lessons(self, tool: ToolId) -> list[ToolLesson]:
        return await self._database.read(lambda c: [_to_lesson(*row) for row in c.execute(sql.LESSONS, (tool,))])

    async def stream_lessons(self) -> AsyncIterator[tuple[ToolId, ToolLesson]]:
        async for tool, *lesson in self._stream(sql.LESSON_PAGE, ("", "", "")):
            yield ToolId(tool), _to_lesson(*lesson)


def add_call_evidence(connection: sqlite3.Connection, batch: LiveBatch) -> None:
    """Add the evidence of a run's calls to existing nodes."""
    moment = {"at": to_timestamp(batch.at), "half_life": float(batch.half_life)}
    rows = ({"tool": tool, **asdict(calls), **moment} for tool, calls in fold_calls(batch).items())
    connection.executemany(sql.ADD_CALLS_OF_RUN, rows)


def add_live_walks(connection: sqlite3.Connection, batch: LiveBatch) -> None:
    """Add a run's walks to the edges between existing nodes."""
    for source, walks in fold_walks(batch).items():
        connection.execute(sql.FADE_WALKS, (source, walks.retained))
        gained = ((source, target, count, walks.gains[target]) for target, count in walks.counts.items())
        connection.executemany(sql.ADD_WALKS, gained)
        lost = ((source, target, gain) for target, gain in walks.gains.items() if gain < 0)
        connection.executemany(sql.WEAKEN_WALKS, lost)


def store_lessons(connection: sqlite3.Connection, lessons: Collection[tuple[ToolId, ToolLesson]]) -> None:
    """Store lessons, with the nodes that are missing, and drop all but the newest of each tool."""
    tools = [(tool,) for tool in sorted({tool for tool, _ in lessons})]
    connection.executemany(sql.ADD_NODE, tools)
    connection.executemany(
        sql.KEEP_LESSON,
        ((tool, lesson.run, lesson.moment, lesson.score, ",".join(lesson.outcomes)) for tool, lesson in lessons),
    )
    connection.executemany(sql.DROP_LESSONS, ((tool, MAX_LESSONS) for (tool,) in tools))


def set_marks(connection: sqlite3.Connection, edges: Iterable[Edge]) -> None:
    """Set the marks of existing edges to those given, None included."""
    marked = [edge for edge in edges if edge.mark]
    (any_there,) = connection.execute(sql.ANY_MARK).fetchone()  # usually none: saves a statement for each edge
    if any_there:
        connection.executemany(sql.CLEAR_MARK, ((edge.source, edge.target) for edge in edges if not edge.mark))
    connection.executemany(sql.SET_MARK, ((edge.source, edge.target, edge.mark) for edge in marked))


def _to_lesson(at: str, run: str, score: float | None, outcomes: str) -> ToolLesson:
    live_outcomes = cast("list[LiveOutcome]", outcomes.split(",") if outcomes else [])
    return ToolLesson(run, datetime.fromisoformat(at), score, tuple(live_outcomes))


class SqliteLinks(SqliteBackend):
    """``LinkStore`` in the file of the graph."""

    async def expect_links(self, digests: Mapping[ToolId, str], also: Iterable[ToolId] = ()) -> None:
        other_tools = set(also)

        def write(connection: sqlite3.Connection) -> None:
            numbers = _read_node_numbers(connection, {*digests, *other_tools})
            check_tools_exist({*digests, *other_tools}, numbers)
            connection.executemany(sql.KEEP_DIGEST_PENDING, ((numbers[tool],) for tool in other_tools))
            connection.executemany(
                sql.MARK_LINKS_PENDING, ((numbers[tool], digest) for tool, digest in digests.items())
            )

        await self._database.write(write)

    async def put_links(self, links: Sequence[ToolLinks]) -> None:
        def write(connection: sqlite3.Connection) -> None:
            numbers = _read_node_numbers(connection, collect_tool_ids(links))
            check_links(links, numbers)
            for tool_links in links:
                number = numbers[tool_links.tool]
                connection.execute(sql.MARK_LINKS_DONE, (number,))
                connection.execute(sql.DROP_FEEDS, (number,))
                connection.execute(sql.DROP_SUBSTITUTES, (number,))
                connection.executemany(
                    sql.PUT_FEED,
                    (
                        (numbers[feed.source], number, feed.field, feed.parameter, feed.score)
                        for feed in tool_links.feeds
                    ),
                )
                connection.executemany(
                    sql.PUT_SUBSTITUTE,
                    (
                        (number, numbers[pair.other], pair.score, to_json_names(pair.parameters))
                        for pair in tool_links.substitutes
                    ),
                )

        await self._database.write(write)

    async def get_link_states(self) -> dict[ToolId, LinkState]:
        return await self._database.read(
            lambda c: {tool: LinkState(digest, bool(pending)) for tool, digest, pending in c.execute(sql.LINK_STATES)}
        )

    async def find_linked_tools(self, tools: Iterable[ToolId]) -> set[ToolId]:
        tool_list = to_json_list(tools)
        return await self._database.read(lambda c: {row[0] for row in c.execute(sql.LINKED_TOOLS, (tool_list,))})

    async def get_feeds_out(self, tool: ToolId) -> list[FeedLink]:
        return await self._database.read(lambda c: [FeedLink(*row) for row in c.execute(sql.FEEDS_OUT, (tool,))])

    async def get_feeds_into(self, tool: ToolId) -> list[FeedLink]:
        return await self._database.read(lambda connection: read_feeds_into(connection, tool))

    async def get_substitutes(self, tool: ToolId) -> list[SubstituteLink]:
        return await self._database.read(lambda connection: read_substitutes(connection, tool))

    async def count_links(self) -> LinkCounts:
        return await self._database.read(lambda c: LinkCounts(*c.execute(sql.LINK_COUNTS).fetchone()))


def read_feeds_into(connection: sqlite3.Connection, tool: ToolId) -> list[FeedLink]:
    """Return the feeds into a tool's parameters, best first."""
    return [FeedLink(*row) for row in connection.execute(sql.FEEDS_INTO, (tool,))]


def read_substitutes(connection: sqlite3.Connection, tool: ToolId) -> list[SubstituteLink]:
    """Return the substitutes of a tool, best first."""
    rows = connection.execute(sql.SUBSTITUTES, (tool,))
    return [SubstituteLink(substituted, other, score, orjson.loads(names)) for substituted, other, score, names in rows]


def to_json_names(parameters: Mapping[str, str]) -> str:
    """Serialize a mapping of parameter names as JSON."""
    return orjson.dumps(dict(parameters)).decode()


def _read_node_numbers(connection: sqlite3.Connection, tools: set[ToolId]) -> dict[ToolId, int]:
    """Return the node numbers of these tools; those that are not nodes are left out."""
    return dict(connection.execute(sql.NODE_NUMBERS, (to_json_list(tools),)))


class SqliteGraph(SqliteEvidence, SqliteLinks):
    """``GraphStore`` and ``LinkStore`` in the file ``path``, which only :meth:`setup` creates."""

    def __init__(self, path: Path, *, busy_seconds: float = 30.0) -> None:
        super().__init__(SqliteDatabase(path, sql.GRAPH_FORMAT, busy_seconds=busy_seconds))

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
            connection.executemany(sql.FORGET_REMOVED_DOCUMENT, ((tool.id,) for tool in tools))

        await self._database.write(write)

    async def remove_tools(self, tools: Iterable[ToolId]) -> None:
        documents = await self.get_tools(tools)
        if documents:
            await self._run_over_tools(documents, sql.REMOVE_DOCUMENTS)

    async def get_removed_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        id_list = to_json_list(ids)
        return await self._database.read(lambda connection: _read_documents(connection, id_list, sql.REMOVED_DOCUMENTS))

    async def apply(self, batch: GraphBatch) -> bool:
        check_batch(batch)

        def write(connection: sqlite3.Connection) -> bool:
            keys = {batch.key, *batch.records}
            if connection.execute(sql.APPLIED_KEYS, (to_json_list(keys),)).fetchone():
                return False
            connection.executemany(sql.CLAIM_KEY, ((key,) for key in sorted(keys)))
            _add_nodes(connection, {*batch.nodes, *batch.calls, *batch.successes}, batch.transitions)
            walks = ((source, target, count) for (source, target), count in sorted(batch.transitions.items()) if count)
            connection.executemany(sql.ADD_IMPORTED, walks)
            calls = ((tool, batch.calls[tool], batch.successes[tool]) for tool in sorted(batch.calls))
            connection.executemany(sql.ADD_CALLS, calls)
            return True

        return await self._database.write(write)

    async def learn(self, batch: LiveBatch) -> bool:
        check_live_batch(batch)

        def write(connection: sqlite3.Connection) -> bool:
            if not _claim_key(connection, batch.key):
                return False
            tools = {tool for tool, _ in batch.scores} | {tool for tool, _ in batch.outcomes}
            _add_nodes(connection, tools, batch.transitions)
            connection.executemany(sql.ADD_SCORE, ((tool, batch.decay, score) for tool, score in batch.scores))
            signs = ((tool, batch.decay, 1.0 if kind == "ok" else -1.0) for tool, kind in batch.outcomes)
            connection.executemany(sql.ADD_SIGN, signs)
            add_live_walks(connection, batch)
            add_call_evidence(connection, batch)
            store_lessons(connection, batch.build_lessons().items())
            return True

        return await self._database.write(write)

    async def find_applied(self, keys: Iterable[str]) -> set[str]:
        key_list = to_json_list(keys)
        return await self._database.read(lambda c: {row[0] for row in c.execute(sql.APPLIED_KEYS, (key_list,))})

    async def get_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        id_list = to_json_list(ids)
        return await self._database.read(lambda connection: _read_documents(connection, id_list))

    async def stream_documents(self) -> AsyncIterator[ToolDoc]:
        async for _, body in self._stream(sql.DOCUMENT_PAGE, ("",)):
            yield ToolDoc.model_validate_json(body)

    async def stream_nodes(self) -> AsyncIterator[tuple[ToolId, ToolFacts]]:
        async for tool, *facts in self._stream(sql.NODE_PAGE, ("",)):
            yield ToolId(tool), ToolFacts(*facts)

    async def stream_edges(self) -> AsyncIterator[Edge]:
        async for edge in self._stream(sql.EDGE_PAGE, ("", "")):
            yield Edge(*edge)

    async def stream_applied_keys(self) -> AsyncIterator[str]:
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
            store_lessons(connection, state.lessons)
            connection.executemany(sql.CLAIM_KEY, ((key,) for key in state.keys))

        await self._database.write(write)

    async def find_function(self, function: str) -> list[ToolId]:
        return await self._database.read(lambda c: [row[0] for row in c.execute(sql.BY_FUNCTION, (function,))])

    async def get_facts(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolFacts]:
        id_list = to_json_list(ids)
        return await self._database.read(lambda connection: _read_facts(connection, id_list))

    async def get_out_edges(self, tool: ToolId) -> list[Neighbour]:
        return await self._database.read(lambda connection: _read_out_edges(connection, tool))

    def read_out_edges(self, tool: ToolId) -> list[Neighbour]:
        """Return the same as :meth:`get_out_edges`; blocks the calling thread."""
        return self._database.read_now(lambda connection: _read_out_edges(connection, tool))

    async def get_in_edges(self, tool: ToolId) -> list[Edge]:
        return await self._database.read(lambda connection: _read_in_edges(connection, tool))

    async def load_neighbourhoods(self, tools: Iterable[ToolId]) -> dict[ToolId, ToolNeighbourhood]:
        """Load the neighbourhoods with several indexed statements in one call of the reading thread.

        One joint statement would return the cross product of the kinds of edges.
        """
        tool_list = to_json_list(tools)

        def read(connection: sqlite3.Connection) -> dict[ToolId, ToolNeighbourhood]:
            documents = _read_documents(connection, tool_list)
            return {
                tool: ToolNeighbourhood(
                    facts=facts,
                    document=documents.get(tool),
                    out=_read_out_edges(connection, tool),
                    into=_read_in_edges(connection, tool),
                    feeds=read_feeds_into(connection, tool),
                    substitutes=read_substitutes(connection, tool),
                )
                for tool, facts in _read_facts(connection, tool_list).items()
            }

        return await self._database.read(read)

    async def find_adjacent_edges(self, tools: Iterable[ToolId]) -> list[Edge]:
        tool_list = to_json_list(tools)
        adjacent_edges = await self._database.read(
            lambda c: {
                Edge(*row) for query in (sql.EDGES_OUT, sql.EDGES_INTO) for row in c.execute(query, (tool_list,))
            }
        )
        return sorted(adjacent_edges, key=lambda edge: (edge.source, edge.target))

    async def compute_statistics(self) -> GraphStatistics:
        documents, nodes, edges, finish, batches = await self._database.read(
            lambda connection: connection.execute(sql.STATISTICS).fetchone()
        )
        return GraphStatistics(documents, nodes, nodes - documents, edges - finish, finish, batches)

    async def close(self) -> None:
        await self._database.close()

    async def learn_answers(self, seen: Mapping[ToolId, Sequence[JsonShape]]) -> set[ToolId]:
        if not seen:
            return set()
        tool_list = to_json_list(seen)

        def write(connection: sqlite3.Connection) -> set[ToolId]:
            bodies = [body for (body,) in connection.execute(sql.DOCUMENTS, (tool_list,))]
            documents = [ToolDoc.model_validate_json(body) for body in bodies]
            changed = [new for old in documents if (new := update_learnt_response(old, seen[old.id])) is not old]
            rows = ((document.id, document.model_dump_json(exclude_defaults=True)) for document in changed)
            connection.executemany(sql.PUT_DOCUMENT, rows)
            changed_tools = {document.id for document in changed}
            numbers = connection.execute(sql.NODE_NUMBERS, (to_json_list(changed_tools),)).fetchall()
            connection.executemany(sql.KEEP_DIGEST_PENDING, ((number,) for _, number in numbers))
            return changed_tools

        return await self._database.write(write)


def _read_out_edges(connection: sqlite3.Connection, tool: ToolId) -> list[Neighbour]:
    return [
        Neighbour(Edge(tool, target, imported, live, mark, strength), ToolFacts(*facts), bool(resolved))
        for target, imported, live, mark, strength, resolved, *facts in sorted(
            connection.execute(sql.OUT_EDGES, (tool,))
        )
    ]


def _read_in_edges(connection: sqlite3.Connection, tool: ToolId) -> list[Edge]:
    return [Edge(source, tool, *counts) for source, *counts in connection.execute(sql.IN_EDGES, (tool,))]


def _read_documents(
    connection: sqlite3.Connection, tool_list: str, query: str = sql.DOCUMENTS
) -> dict[ToolId, ToolDoc]:
    documents = (ToolDoc.model_validate_json(row[0]) for row in connection.execute(query, (tool_list,)))
    return {document.id: document for document in documents}


def _read_facts(connection: sqlite3.Connection, tool_list: str) -> dict[ToolId, ToolFacts]:
    return {tool: ToolFacts(*facts) for tool, *facts in connection.execute(sql.FACTS, (tool_list,))}


def _claim_key(connection: sqlite3.Connection, key: str) -> bool:
    """Mark a batch key as applied; return False if it was applied before."""
    return connection.execute(sql.CLAIM_KEY, (key,)).rowcount == 1


def _add_nodes(
    connection: sqlite3.Connection, tools: set[ToolId], transitions: Mapping[tuple[ToolId, ToolId], int]
) -> None:
    ends = {tool for pair in transitions for tool in pair}
    connection.executemany(sql.ADD_NODE, ((tool,) for tool in sorted(tools | ends)))
