"""What runs taught about a tool, and what an administrator said of an edge, in Neo4j."""

from collections.abc import AsyncIterator, Collection, Iterable

from domain.tool import ToolId
from graph.backends import cypher, neo4j_rows
from graph.backends.bolt import Transaction
from graph.backends.neo4j_work import Neo4jWork, send
from graph.facts import LESSONS, Lesson, Mark
from graph.validation import check_mark


class Neo4jEvidence(Neo4jWork):
    """Lessons and marks of a ``GraphStore``."""

    async def mark(self, source: ToolId, target: ToolId, mark: Mark | None) -> None:
        ends = sorted({source, target})

        async def work(transaction: Transaction) -> None:
            found = await (await transaction.run(cypher.LOCK_TOOLS, {"rows": ends})).values()
            check_mark(source, target, mark, {tool for (tool,) in found})
            edge = {"source": source, "target": target, "mark": mark}
            await (await transaction.run(cypher.MARK_EDGE, edge)).consume()

        await self._connection.write(work)

    async def begin_anew(self, tools: Iterable[ToolId]) -> None:
        rows = sorted(set(tools))

        async def work(transaction: Transaction) -> None:
            for statement in (cypher.BEGIN_ANEW, cypher.FORGET_LESSONS, cypher.FORGET_LINKS):
                await send(transaction, statement, rows)

        await self._connection.write(work)

    async def lessons(self, tool: ToolId) -> list[Lesson]:
        return [neo4j_rows.lesson(*row) for row in await self._connection.read(cypher.LESSONS, {"id": tool})]

    async def all_lessons(self) -> AsyncIterator[tuple[ToolId, Lesson]]:
        async for tool, *lesson in self._stream(cypher.LESSON_PAGE, at="", run=""):
            yield tool, neo4j_rows.lesson(*lesson)


async def keep_lessons(transaction: Transaction, lessons: Collection[tuple[ToolId, Lesson]]) -> None:
    """Keep lessons about nodes that are there; of each tool's, the newest stay."""
    if lessons:
        await send(transaction, cypher.KEEP_LESSONS, neo4j_rows.lesson_rows(lessons))
        await send(transaction, cypher.DROP_LESSONS, sorted({tool for tool, _ in lessons}), kept=LESSONS)
