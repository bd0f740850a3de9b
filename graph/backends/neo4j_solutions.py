"""Solutions in the graph's Neo4j, for every machine alike.

``(:Solution {id, program, body, token})-[:CALLS]->(:SolutionTool {id})``: ``body`` is the whole solution as JSON, absent only
while a change is being made. ``token`` identifies the last write (optimistic locking): a writer compares it with the token that it read, and a
retried transaction recognises its own token and does nothing. If the token has changed, the change is made again behind node locks.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Final, LiteralString
from uuid import uuid4

from domain.solution import Solution, SolutionChange, get_program_id
from domain.tool import ToolId
from graph.backends.neo4j_connection import Neo4jBackend, Transaction, ensure_structure, run_in_chunks

SOLUTION_STRUCTURE: Final[tuple[LiteralString, ...]] = (
    "CREATE CONSTRAINT footpath_solution IF NOT EXISTS FOR (n:Solution) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT footpath_solution_tool IF NOT EXISTS FOR (n:SolutionTool) REQUIRE n.id IS UNIQUE",
    "CREATE INDEX footpath_solution_program IF NOT EXISTS FOR (n:Solution) ON (n.program)",
)

PUT_SOLUTIONS: Final = """
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

# Setting a property locks the node, so the body is read behind the lock. Nodes are locked in one order, which rules deadlocks out.
LOCK_SOLUTIONS: Final = """
UNWIND $rows AS id
MERGE (s:Solution {id: id})
SET s.changing = true
RETURN s.id, s.body, s.token
"""
UNLOCK_SOLUTIONS: Final = """
UNWIND $rows AS id MATCH (s:Solution {id: id})
REMOVE s.changing
WITH s WHERE s.body IS NULL
DETACH DELETE s
"""

# Changes of what was read with READ, in one query. Setting something locks a node, and they are locked in one order, so that no two wait for each
# other; the tokens are looked at behind the locks. Nothing is written where another change came between, which it says.
READ_WITH_TOKENS: Final = (
    "UNWIND $values AS id MATCH (s:Solution {id: id}) WHERE s.body IS NOT NULL RETURN s.id, s.body, s.token"
)
CHANGE_UNLESS_CHANGED: Final = f"""
UNWIND $rows AS row
MERGE (s:Solution {{id: row.id}})
SET s.changing = true
WITH collect({{node: s, row: row}}) AS held
WITH held,
    all(one IN held WHERE one.node.token = $token) AS done,
    all(one IN held WHERE coalesce(one.node.token, '') = one.row.before
        AND (one.node.body IS NOT NULL) = one.row.known) AS fits
WITH held, done, CASE WHEN fits THEN $rows ELSE [] END AS rows, CASE WHEN fits THEN $calls ELSE [] END AS calls, fits
CALL (rows) {{{PUT_SOLUTIONS.replace("$rows", "rows")}}}
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
REMOVE_SOLUTIONS: Final = "UNWIND $rows AS id MATCH (s:Solution {id: id}) DETACH DELETE s"

GET_SOLUTIONS: Final = "UNWIND $values AS id MATCH (s:Solution {id: id}) WHERE s.body IS NOT NULL RETURN s.body"
SOLUTIONS_OF_PROGRAM: Final = (
    "MATCH (s:Solution {program: $program}) WHERE s.body IS NOT NULL RETURN s.body ORDER BY s.id"
)
SOLUTIONS_CALLING: Final = """
UNWIND $values AS tool
MATCH (s:Solution)-[:CALLS]->(:SolutionTool {id: tool}) WHERE s.body IS NOT NULL
RETURN DISTINCT s.id, s.body
"""
SOLUTION_PAGE: Final = """
MATCH (s:Solution) WHERE s.id > $after AND s.body IS NOT NULL RETURN s.id, s.body ORDER BY s.id LIMIT $limit
"""
COUNT_SOLUTIONS: Final = "MATCH (s:Solution) WHERE s.body IS NOT NULL RETURN count(s)"


class Neo4jSolutions(Neo4jBackend):
    """A ``SolutionStore`` on the graph's server. :meth:`setup` connects."""

    async def setup(self) -> None:
        await ensure_structure(self._connection, SOLUTION_STRUCTURE)

    async def put(self, solutions: Sequence[Solution]) -> None:
        async def write(transaction: Transaction) -> None:
            await _put(transaction, solutions, uuid4().hex)

        await self._connection.write(write)

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        wanted_ids = list(ids)
        solutions_by_id = {
            solution.id: solution
            for solution in _parse_solutions(await self._read_in_chunks(GET_SOLUTIONS, wanted_ids))
        }
        return {solution: solutions_by_id[solution] for solution in wanted_ids if solution in solutions_by_id}

    async def change(self, ids: Sequence[str], change: SolutionChange) -> dict[str, Solution]:
        """Change solutions in two round trips; again behind locks if somebody else changed one meanwhile, so that many writers end."""
        rows = await self._read_in_chunks(READ_WITH_TOKENS, ids)
        stored = {solution_id: Solution.model_validate_json(body) for solution_id, body, _ in rows}
        changed = _apply_change(ids, stored, change)
        tokens = {solution_id: token or "" for solution_id, _, token in rows}
        if not changed or await self._write_changes(changed, tokens):
            return changed
        return await self._change_locked(ids, change)

    async def _change_locked(self, ids: Sequence[str], change: SolutionChange) -> dict[str, Solution]:
        sorted_ids, token = sorted(set(ids)), uuid4().hex

        async def write(transaction: Transaction) -> dict[str, Solution]:
            rows = await (await transaction.run(LOCK_SOLUTIONS, {"rows": sorted_ids})).values()
            stored = {
                solution_id: Solution.model_validate_json(body) for solution_id, body, _ in rows if body is not None
            }
            # The connection may have broken after a commit: then this is already done.
            written = {solution_id: stored[solution_id] for solution_id, _, last_token in rows if last_token == token}
            if not written:
                written = _apply_change(ids, stored, change)
                await _put(transaction, list(written.values()), token)
            await run_in_chunks(transaction, UNLOCK_SOLUTIONS, sorted_ids)
            return written

        return await self._connection.write(write)

    async def _write_changes(self, changed: Mapping[str, Solution], tokens: Mapping[str, str]) -> bool:
        """Whether they were written: not where one of them has another token than before."""
        solutions = list(changed.values())
        rows = [
            row | {"before": tokens.get(row["id"], ""), "known": row["id"] in tokens}
            for row in _build_solution_rows(solutions)
        ]
        parameters = {"rows": rows, "calls": _build_call_rows(solutions), "token": uuid4().hex}
        ((written,),) = await self._connection.write_query(CHANGE_UNLESS_CHANGED, parameters)
        return written

    async def list_by_program(self, program: str) -> list[Solution]:
        return _parse_solutions(await self._connection.read(SOLUTIONS_OF_PROGRAM, {"program": program}))

    async def list_by_tools(self, tools: Iterable[ToolId]) -> list[Solution]:
        bodies = {row[0]: row[1] for row in await self._read_in_chunks(SOLUTIONS_CALLING, tools)}
        return [Solution.model_validate_json(bodies[solution_id]) for solution_id in sorted(bodies)]

    async def stream_all(self) -> AsyncIterator[Solution]:
        async for _, body in self._stream(SOLUTION_PAGE):
            yield Solution.model_validate_json(body)

    async def remove(self, solutions: Iterable[str]) -> None:
        removed_ids = sorted(set(solutions))

        async def write(transaction: Transaction) -> None:
            await run_in_chunks(transaction, REMOVE_SOLUTIONS, removed_ids)

        await self._connection.write(write)

    async def count(self) -> int:
        ((count,),) = await self._connection.read(COUNT_SOLUTIONS)
        return count

    async def close(self) -> None:
        await self._connection.close()


def _apply_change(ids: Iterable[str], stored: Mapping[str, Solution], change: SolutionChange) -> dict[str, Solution]:
    """Return the changed solutions; unchanged ones are omitted."""
    results = {solution_id: change(solution_id, stored.get(solution_id)) for solution_id in ids}
    return {solution_id: solution for solution_id, solution in results.items() if solution is not None}


async def _put(transaction: Transaction, solutions: Sequence[Solution], token: str) -> None:
    rows = _build_solution_rows(solutions)
    await run_in_chunks(transaction, PUT_SOLUTIONS, rows, token=token)
    await run_in_chunks(transaction, DROP_CALLS, rows)
    await run_in_chunks(transaction, ADD_CALLS, _build_call_rows(solutions))


def _build_solution_rows(solutions: Iterable[Solution]) -> list[dict[str, Any]]:
    """Rows of PUT and DROP_CALLS, ordered by id."""
    return [
        {
            "id": solution.id,
            "program": get_program_id(solution.id),
            "body": solution.model_dump_json(exclude_defaults=True),
        }
        for solution in sorted(solutions, key=lambda one: one.id)
    ]


def _build_call_rows(solutions: Iterable[Solution]) -> list[dict[str, Any]]:
    """Rows of ADD_CALLS, ordered by tool and solution."""
    calls = sorted({(tool, solution.id) for solution in solutions for tool in solution.path})
    return [{"tool": tool, "solution": solution} for tool, solution in calls]


def _parse_solutions(rows: Iterable[Sequence[Any]]) -> list[Solution]:
    return [Solution.model_validate_json(body) for (body,) in rows]
