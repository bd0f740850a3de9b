"""Solutions in the graph's Neo4j, for every machine alike.

``(:Solution {id, program, body, token})-[:CALLS]->(:SolutionTool {id})``: ``body`` is the whole of it as JSON, and absent only while a change
is being made; ``token`` is that of the last change, by which the next one sees that nothing came between, and one that is repeated knows itself.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Final, LiteralString
from uuid import uuid4

from domain.solution import Solution, SolutionChange, get_program_id
from domain.tool import ToolId
from graph.backends.bolt import Neo4jWork, Transaction, send, structured

STRUCTURE: Final[tuple[LiteralString, ...]] = (
    "CREATE CONSTRAINT footpath_solution IF NOT EXISTS FOR (n:Solution) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT footpath_solution_tool IF NOT EXISTS FOR (n:SolutionTool) REQUIRE n.id IS UNIQUE",
    "CREATE INDEX footpath_solution_program IF NOT EXISTS FOR (n:Solution) ON (n.program)",
)

PUT: Final = """
UNWIND $rows AS row
MERGE (s:Solution {id: row.id})
SET s.program = row.program, s.body = row.body, s.token = $token
"""
DROP_CALLS: Final = "UNWIND $rows AS row MATCH (:Solution {id: row.id})-[c:CALLS]->() DELETE c"
ADD_CALLS: Final = """
UNWIND $rows AS row
MATCH (s:Solution {id: row.solution})
MERGE (t:SolutionTool {id: row.tool})
MERGE (s)-[:CALLS]->(t)
"""

# Setting something locks the node: what its body is is read behind the lock, in one order, so that no two wait for each other.
LOCK: Final = """
UNWIND $rows AS id
MERGE (s:Solution {id: id})
SET s.changing = true
RETURN s.id, s.body, s.token
"""
UNLOCK: Final = """
UNWIND $rows AS id MATCH (s:Solution {id: id})
REMOVE s.changing
WITH s WHERE s.body IS NULL
DETACH DELETE s
"""

# Changes of what was read with READ, in one query. Setting something locks a node, and they are locked in one order, so that no two wait for each
# other; the tokens are looked at behind the locks. Nothing is written where another change came between, which it says.
READ: Final = "UNWIND $values AS id MATCH (s:Solution {id: id}) WHERE s.body IS NOT NULL RETURN s.id, s.body, s.token"
CHANGE: Final = f"""
UNWIND $rows AS row
MERGE (s:Solution {{id: row.id}})
SET s.changing = true
WITH collect({{node: s, row: row}}) AS held
WITH held,
    all(one IN held WHERE one.node.token = $token) AS done,
    all(one IN held WHERE coalesce(one.node.token, '') = one.row.before
        AND (one.node.body IS NOT NULL) = one.row.known) AS fits
WITH held, done, CASE WHEN fits THEN $rows ELSE [] END AS rows, CASE WHEN fits THEN $calls ELSE [] END AS calls, fits
CALL (rows) {{{PUT.replace("$rows", "rows")}}}
CALL (rows) {{{DROP_CALLS.replace("$rows", "rows")}}}
CALL (calls) {{{ADD_CALLS.replace("$rows", "calls")}}}
CALL (held) {{
    UNWIND held AS one
    WITH one.node AS s
    REMOVE s.changing
    WITH s WHERE s.body IS NULL
    DETACH DELETE s
}}
RETURN done OR fits
"""
REMOVE: Final = "UNWIND $rows AS id MATCH (s:Solution {id: id}) DETACH DELETE s"

GET: Final = "UNWIND $values AS id MATCH (s:Solution {id: id}) WHERE s.body IS NOT NULL RETURN s.body"
OF_PROGRAM: Final = "MATCH (s:Solution {program: $program}) WHERE s.body IS NOT NULL RETURN s.body ORDER BY s.id"
ON_PATH: Final = """
UNWIND $values AS tool
MATCH (s:Solution)-[:CALLS]->(:SolutionTool {id: tool}) WHERE s.body IS NOT NULL
RETURN DISTINCT s.id, s.body
"""
PAGE: Final = """
MATCH (s:Solution) WHERE s.id > $after AND s.body IS NOT NULL RETURN s.id, s.body ORDER BY s.id LIMIT $limit
"""
COUNT: Final = "MATCH (s:Solution) WHERE s.body IS NOT NULL RETURN count(s)"


class Neo4jSolutions(Neo4jWork):
    """A ``SolutionStore`` on the graph's server. :meth:`setup` connects."""

    async def setup(self) -> None:
        await structured(self._connection, STRUCTURE)

    async def put(self, solutions: Sequence[Solution]) -> None:
        async def work(transaction: Transaction) -> None:
            await _put(transaction, solutions, uuid4().hex)

        await self._connection.write(work)

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        wanted = list(ids)
        found = {one.id: one for one in _solutions(await self._by_chunks(GET, wanted))}
        return {one: found[one] for one in wanted if one in found}

    async def change(self, ids: Sequence[str], change: SolutionChange) -> dict[str, Solution]:
        """Two round trips: read, and written where nobody changed them meanwhile. Else once more behind locks, lest many wait for many."""
        found = await self._by_chunks(READ, ids)
        there = {one: Solution.model_validate_json(body) for one, body, _ in found}
        changed = _changed(ids, there, change)
        before = {one: token or "" for one, _, token in found}
        if not changed or await self._write_changes(changed, before):
            return changed
        return await self._change_locked(ids, change)

    async def _change_locked(self, ids: Sequence[str], change: SolutionChange) -> dict[str, Solution]:
        wanted, token = sorted(set(ids)), uuid4().hex

        async def work(transaction: Transaction) -> dict[str, Solution]:
            rows = await (await transaction.run(LOCK, {"rows": wanted})).values()
            there = {one: Solution.model_validate_json(body) for one, body, _ in rows if body is not None}
            # The connection may have broken after a commit: then this is already done.
            done = {one: there[one] for one, _, last in rows if last == token}
            if not done:
                done = _changed(ids, there, change)
                await _put(transaction, list(done.values()), token)
            await send(transaction, UNLOCK, wanted)
            return done

        return await self._connection.write(work)

    async def _write_changes(self, changed: Mapping[str, Solution], before: Mapping[str, str]) -> bool:
        """Whether they were written: not where one of them has another token than before."""
        solutions = list(changed.values())
        rows = [row | {"before": before.get(row["id"], ""), "known": row["id"] in before} for row in _rows(solutions)]
        parameters = {"rows": rows, "calls": _calls(solutions), "token": uuid4().hex}
        ((written,),) = await self._connection.write_query(CHANGE, parameters)
        return written

    async def list_by_program(self, program: str) -> list[Solution]:
        return _solutions(await self._connection.read(OF_PROGRAM, {"program": program}))

    async def list_by_tools(self, tools: Iterable[ToolId]) -> list[Solution]:
        found = {row[0]: row[1] for row in await self._by_chunks(ON_PATH, tools)}
        return [Solution.model_validate_json(found[one]) for one in sorted(found)]

    async def all(self) -> AsyncIterator[Solution]:
        async for _, body in self._stream(PAGE):
            yield Solution.model_validate_json(body)

    async def remove(self, solutions: Iterable[str]) -> None:
        gone = sorted(set(solutions))

        async def work(transaction: Transaction) -> None:
            await send(transaction, REMOVE, gone)

        await self._connection.write(work)

    async def count(self) -> int:
        ((count,),) = await self._connection.read(COUNT)
        return count

    async def close(self) -> None:
        await self._connection.close()


def _changed(ids: Iterable[str], there: Mapping[str, Solution], change: SolutionChange) -> dict[str, Solution]:
    """Those that a change makes anything of."""
    made = {one: change(one, there.get(one)) for one in ids}
    return {one: solution for one, solution in made.items() if solution is not None}


async def _put(transaction: Transaction, solutions: Sequence[Solution], token: str) -> None:
    rows = _rows(solutions)
    await send(transaction, PUT, rows, token=token)
    await send(transaction, DROP_CALLS, rows)
    await send(transaction, ADD_CALLS, _calls(solutions))


def _rows(solutions: Iterable[Solution]) -> list[dict[str, Any]]:
    """Rows of PUT and DROP_CALLS, ordered by id."""
    return [
        {"id": one.id, "program": get_program_id(one.id), "body": one.model_dump_json(exclude_defaults=True)}
        for one in sorted(solutions, key=lambda one: one.id)
    ]


def _calls(solutions: Iterable[Solution]) -> list[dict[str, Any]]:
    """Rows of ADD_CALLS, ordered by tool and solution."""
    calls = sorted({(tool, one.id) for one in solutions for tool in one.path})
    return [{"tool": tool, "solution": one} for tool, one in calls]


def _solutions(rows: Iterable[Sequence[Any]]) -> list[Solution]:
    return [Solution.model_validate_json(body) for (body,) in rows]
