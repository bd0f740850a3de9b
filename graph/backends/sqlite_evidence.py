"""What runs taught about a tool, and what an administrator said of an edge, in the embedded graph."""

import sqlite3
from collections.abc import AsyncIterator, Collection, Iterable
from dataclasses import asdict
from datetime import datetime
from typing import cast

from orjson import dumps

from domain.tool import ToolId
from graph.backends import sqlite_evidence_schema as live
from graph.backends import sqlite_schema as sql
from graph.backends.sqlite_database import SqliteReading, json_list
from graph.backends.sqlite_links_schema import NUMBERS
from graph.evidence import calls_of, seconds, walks_of
from graph.facts import LESSONS, Edge, Lesson, LiveBatch, LiveOutcome, Mark
from graph.validation import check_mark, check_word


class SqliteEvidence(SqliteReading):
    """Lessons and marks of a ``GraphStore``."""

    async def mark(self, source: ToolId, target: ToolId, mark: Mark | None) -> None:
        def write(connection: sqlite3.Connection) -> None:
            ends = json_list([source, target])
            check_mark(source, target, mark, {row[0] for row in connection.execute(sql.FACTS, (ends,))})
            if mark:
                connection.execute(sql.BEGIN_EDGE, (source, target))
                connection.execute(sql.SET_MARK, (source, target, mark))
            else:
                connection.execute(sql.CLEAR_MARK, (source, target))
                connection.execute(sql.END_EDGE, (source, target))

        await self._database.write(write)

    async def mark_into(self, tool: ToolId, sources: Iterable[ToolId], mark: Mark | None) -> None:
        check_word(mark)
        asked = json_list(sources)

        def write(connection: sqlite3.Connection) -> None:
            there = [(source, tool) for (source,) in connection.execute(sql.SOURCES_AMONG, (tool, asked))]
            if mark:
                connection.executemany(sql.SET_MARK, [(*edge, mark) for edge in there])
            else:
                connection.executemany(sql.CLEAR_MARK, there)
                connection.executemany(sql.END_EDGE, there)

        await self._database.write(write)

    async def begin_anew(self, tools: Iterable[ToolId]) -> None:
        await self._of_nodes(tools, sql.BEGIN_ANEW)

    async def forget(self, tools: Iterable[ToolId]) -> None:
        await self._of_nodes(tools, live.FORGET_RUNS)

    async def _of_nodes(self, tools: Iterable[ToolId], statements: Iterable[str]) -> None:
        """Run statements over the numbers of those tools that are nodes."""
        asked = json_list(tools)

        def write(connection: sqlite3.Connection) -> None:
            numbers = dumps([number for _, number in connection.execute(NUMBERS, (asked,))]).decode()
            for statement in statements:
                connection.execute(statement, (numbers,))

        await self._database.write(write)

    async def lessons(self, tool: ToolId) -> list[Lesson]:
        return await self._database.read(lambda c: [_lesson(*row) for row in c.execute(sql.LESSONS, (tool,))])

    async def all_lessons(self) -> AsyncIterator[tuple[ToolId, Lesson]]:
        async for tool, *lesson in self._stream(sql.LESSON_PAGE, ("", "", "")):
            yield ToolId(tool), _lesson(*lesson)


def add_calls(connection: sqlite3.Connection, batch: LiveBatch) -> None:
    """Add what a run's calls say of nodes that are there."""
    moment = {"at": seconds(batch.at), "half_life": float(batch.half_life)}
    rows = ({"tool": tool, **asdict(calls), **moment} for tool, calls in calls_of(batch).items())
    connection.executemany(live.ADD_CALLS_OF_RUN, rows)


def add_walks(connection: sqlite3.Connection, batch: LiveBatch) -> None:
    """Add a run's walks between nodes that are there."""
    for source, walks in walks_of(batch).items():
        connection.execute(live.FADE_WALKS, (source, walks.kept))
        gained = ((source, target, count, walks.gained[target]) for target, count in walks.count.items())
        connection.executemany(live.ADD_WALKS, gained)
        lost = ((source, target, gain) for target, gain in walks.gained.items() if gain < 0)
        connection.executemany(live.TAKE_WALKS, lost)


def keep_lessons(connection: sqlite3.Connection, lessons: Collection[tuple[ToolId, Lesson]]) -> None:
    """Keep lessons; of each tool's, the newest stay."""
    tools = [(tool,) for tool in sorted({tool for tool, _ in lessons})]
    connection.executemany(sql.ADD_NODE, tools)
    connection.executemany(
        sql.KEEP_LESSON, ((tool, one.run, one.moment, one.score, ",".join(one.outcomes)) for tool, one in lessons)
    )
    connection.executemany(sql.DROP_LESSONS, ((tool, LESSONS) for (tool,) in tools))


def set_marks(connection: sqlite3.Connection, edges: Iterable[Edge]) -> None:
    """Make the marks of edges that are there these."""
    marked = [edge for edge in edges if edge.mark]
    (any_there,) = connection.execute(sql.ANY_MARK).fetchone()
    if any_there:
        connection.executemany(sql.CLEAR_MARK, ((edge.source, edge.target) for edge in edges if not edge.mark))
    connection.executemany(sql.SET_MARK, ((edge.source, edge.target, edge.mark) for edge in marked))


def _lesson(at: str, run: str, score: float | None, outcomes: str) -> Lesson:
    told = cast("list[LiveOutcome]", outcomes.split(",") if outcomes else [])
    return Lesson(run, datetime.fromisoformat(at), score, tuple(told))
