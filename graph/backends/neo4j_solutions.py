"""Solutions in the graph's Neo4j, for every machine alike."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any
from uuid import uuid4

from domain.solution import Change, Solution, program_of
from domain.tool import ToolId
from graph.backends import cypher_solutions
from graph.backends.bolt import Transaction
from graph.backends.neo4j_work import Neo4jWork, send, structured


class Neo4jSolutions(Neo4jWork):
    """A ``SolutionStore`` on the graph's server. :meth:`setup` connects."""

    async def setup(self) -> None:
        await structured(self._connection, cypher_solutions.STRUCTURE)

    async def put(self, solutions: Sequence[Solution]) -> None:
        async def work(transaction: Transaction) -> None:
            await _put(transaction, solutions, "")

        await self._connection.write(work)

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        wanted = list(ids)
        found = {one.id: one for one in _solutions(await self._by_chunks(cypher_solutions.GET, wanted))}
        return {one: found[one] for one in wanted if one in found}

    async def change(self, ids: Sequence[str], change: Change) -> dict[str, Solution]:
        wanted, token = sorted(set(ids)), uuid4().hex

        async def work(transaction: Transaction) -> dict[str, Solution]:
            rows = await (await transaction.run(cypher_solutions.LOCK, {"rows": wanted})).values()
            there = {one: Solution.model_validate_json(body) for one, body, _ in rows if body is not None}
            # The connection may have broken after a commit: then this is already done.
            done = {one: there[one] for one, _, last in rows if last == token}
            if not done:
                made = {one: change(one, there.get(one)) for one in ids}
                done = {one: solution for one, solution in made.items() if solution is not None}
                await _put(transaction, list(done.values()), token)
            await send(transaction, cypher_solutions.UNLOCK, wanted)
            return done

        return await self._connection.write(work)

    async def of_program(self, program: str) -> list[Solution]:
        return _solutions(await self._connection.read(cypher_solutions.OF_PROGRAM, {"program": program}))

    async def on_path(self, tools: Iterable[ToolId]) -> list[Solution]:
        found = {row[0]: row[1] for row in await self._by_chunks(cypher_solutions.ON_PATH, tools)}
        return [Solution.model_validate_json(found[one]) for one in sorted(found)]

    async def all(self) -> AsyncIterator[Solution]:
        async for _, body in self._stream(cypher_solutions.PAGE):
            yield Solution.model_validate_json(body)

    async def remove(self, solutions: Iterable[str]) -> None:
        gone = sorted(set(solutions))

        async def work(transaction: Transaction) -> None:
            await send(transaction, cypher_solutions.REMOVE, gone)

        await self._connection.write(work)

    async def count(self) -> int:
        ((count,),) = await self._connection.read(cypher_solutions.COUNT)
        return count

    async def close(self) -> None:
        await self._connection.close()


async def _put(transaction: Transaction, solutions: Sequence[Solution], token: str) -> None:
    rows = [
        {"id": one.id, "program": program_of(one.id), "body": one.model_dump_json(exclude_defaults=True)}
        for one in sorted(solutions, key=lambda one: one.id)
    ]
    await send(transaction, cypher_solutions.PUT, rows, token=token)
    await send(transaction, cypher_solutions.DROP_CALLS, rows)
    calls = sorted({(tool, one.id) for one in solutions for tool in one.path})
    await send(transaction, cypher_solutions.ADD_CALLS, [{"tool": tool, "solution": one} for tool, one in calls])


def _solutions(rows: Iterable[Sequence[Any]]) -> list[Solution]:
    return [Solution.model_validate_json(body) for (body,) in rows]
