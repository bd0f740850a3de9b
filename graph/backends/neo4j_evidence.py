"""What runs taught about a tool, and what an administrator said of an edge, in Neo4j."""

from collections.abc import AsyncIterator, Collection, Iterable
from typing import Any, LiteralString

from domain.tool import ToolId
from graph.backends import cypher, neo4j_rows
from graph.backends import cypher_evidence as live
from graph.backends.bolt import Transaction
from graph.backends.neo4j_work import Neo4jWork, send
from graph.evidence import seconds
from graph.facts import LESSONS, Lesson, LiveBatch, Mark
from graph.validation import check_mark, check_word


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

    async def mark_into(self, tool: ToolId, sources: Iterable[ToolId], mark: Mark | None) -> None:
        check_word(mark)
        rows = sorted(set(sources))

        async def work(transaction: Transaction) -> None:
            await send(transaction, cypher.LOCK_TOOLS, sorted({tool, *rows}))
            await send(transaction, cypher.MARK_EDGES, rows, target=tool, mark=mark)

        await self._connection.write(work)

    async def begin_anew(self, tools: Iterable[ToolId]) -> None:
        await self._of_nodes(tools, (cypher.BEGIN_ANEW, live.FORGET_RUNS, live.FORGET_LESSONS, cypher.FORGET_LINKS))

    async def forget(self, tools: Iterable[ToolId]) -> None:
        await self._of_nodes(tools, (live.FORGET_RUNS, live.FORGET_LESSONS))

    async def _of_nodes(self, tools: Iterable[ToolId], statements: Iterable[LiteralString]) -> None:
        """Run statements over those tools that are nodes."""
        rows = sorted(set(tools))

        async def work(transaction: Transaction) -> None:
            for statement in statements:
                await send(transaction, statement, rows)

        await self._connection.write(work)

    async def _begin_living(self) -> None:
        """Give the tools and edges of an older Footpath their live evidence, once: what their counts come to."""
        if (await self._connection.read(live.READ_LIVING))[0][0]:
            return

        async def work(transaction: Transaction) -> None:
            found = await (await transaction.run(live.LOCK_LIVING)).single(strict=True)
            if not found.value():
                for statement in live.BEGIN_LIVING:
                    await (await transaction.run(statement)).consume()

        await self._connection.write(work)

    async def lessons(self, tool: ToolId) -> list[Lesson]:
        return [neo4j_rows.lesson(*row) for row in await self._connection.read(cypher.LESSONS, {"id": tool})]

    async def all_lessons(self) -> AsyncIterator[tuple[ToolId, Lesson]]:
        async for tool, *lesson in self._stream(cypher.LESSON_PAGE, at="", run=""):
            yield tool, neo4j_rows.lesson(*lesson)


def evidence(batch: LiveBatch) -> dict[str, Any]:
    """The parameters of LEARN: what a run says of tools, and of the edges between them."""
    fading, added, taken = neo4j_rows.walk_rows(batch)
    lessons = batch.lessons().items()
    return {
        "at": seconds(batch.at),
        "half_life": float(batch.half_life),
        "decay": float(batch.decay),
        "tools": neo4j_rows.live_rows(batch),
        "fading": fading,
        "added": added,
        "taken": taken,
        "lessons": neo4j_rows.lesson_rows(lessons),
        "taught": sorted({tool for tool, _ in lessons}),
        "kept": LESSONS,
    }


async def keep_lessons(transaction: Transaction, lessons: Collection[tuple[ToolId, Lesson]]) -> None:
    """Keep lessons about nodes that are there; of each tool's, the newest stay."""
    if lessons:
        await send(transaction, cypher.KEEP_LESSONS, neo4j_rows.lesson_rows(lessons))
        await send(transaction, cypher.DROP_LESSONS, sorted({tool for tool, _ in lessons}), kept=LESSONS)
