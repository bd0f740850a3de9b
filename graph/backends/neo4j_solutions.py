"""Solutions in the graph's Neo4j, for every machine alike."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
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
            await _put(transaction, solutions, uuid4().hex)

        await self._connection.write(work)

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        wanted = list(ids)
        found = {one.id: one for one in _solutions(await self._by_chunks(cypher_solutions.GET, wanted))}
        return {one: found[one] for one in wanted if one in found}

    async def change(self, ids: Sequence[str], change: Change) -> dict[str, Solution]:
        """Two round trips: read, and written where nobody changed them meanwhile. Else once more behind locks, lest many wait for many."""
        found = await self._by_chunks(cypher_solutions.READ, ids)
        there = {one: Solution.model_validate_json(body) for one, body, _ in found}
        changed = _changed(ids, there, change)
        before = {one: token or "" for one, _, token in found}
        if not changed or await self._write_changes(changed, before):
            return changed
        return await self._change_locked(ids, change)

    async def _change_locked(self, ids: Sequence[str], change: Change) -> dict[str, Solution]:
        wanted, token = sorted(set(ids)), uuid4().hex

        async def work(transaction: Transaction) -> dict[str, Solution]:
            rows = await (await transaction.run(cypher_solutions.LOCK, {"rows": wanted})).values()
            there = {one: Solution.model_validate_json(body) for one, body, _ in rows if body is not None}
            # The connection may have broken after a commit: then this is already done.
            done = {one: there[one] for one, _, last in rows if last == token}
            if not done:
                done = _changed(ids, there, change)
                await _put(transaction, list(done.values()), token)
            await send(transaction, cypher_solutions.UNLOCK, wanted)
            return done

        return await self._connection.write(work)

    async def _write_changes(self, changed: Mapping[str, Solution], before: Mapping[str, str]) -> bool:
        """Whether they were written: not where one of them has another token than before."""
        solutions = list(changed.values())
        rows = [row | {"before": before.get(row["id"], ""), "known": row["id"] in before} for row in _rows(solutions)]
        parameters = {"rows": rows, "calls": _calls(solutions), "token": uuid4().hex}
        ((written,),) = await self._connection.write_query(cypher_solutions.CHANGE, parameters)
        return written

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


def _changed(ids: Iterable[str], there: Mapping[str, Solution], change: Change) -> dict[str, Solution]:
    """Those that a change makes anything of."""
    made = {one: change(one, there.get(one)) for one in ids}
    return {one: solution for one, solution in made.items() if solution is not None}


async def _put(transaction: Transaction, solutions: Sequence[Solution], token: str) -> None:
    rows = _rows(solutions)
    await send(transaction, cypher_solutions.PUT, rows, token=token)
    await send(transaction, cypher_solutions.DROP_CALLS, rows)
    await send(transaction, cypher_solutions.ADD_CALLS, _calls(solutions))


def _rows(solutions: Iterable[Solution]) -> list[dict[str, Any]]:
    """Rows of PUT and DROP_CALLS, ordered by id."""
    return [
        {"id": one.id, "program": program_of(one.id), "body": one.model_dump_json(exclude_defaults=True)}
        for one in sorted(solutions, key=lambda one: one.id)
    ]


def _calls(solutions: Iterable[Solution]) -> list[dict[str, Any]]:
    """Rows of ADD_CALLS, ordered by tool and solution."""
    calls = sorted({(tool, one.id) for one in solutions for tool in one.path})
    return [{"tool": tool, "solution": one} for tool, one in calls]


def _solutions(rows: Iterable[Sequence[Any]]) -> list[Solution]:
    return [Solution.model_validate_json(body) for (body,) in rows]
