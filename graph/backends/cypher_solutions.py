"""Cypher of the solutions that lie beside the graph on the same server.

``(:Solution {id, program, body, token})-[:CALLS]->(:SolutionTool {id})``: the whole of it as JSON in ``body``, which is not there only while
a change is being made; ``token`` of the last change, by which the next one sees that nothing came between, and one that is repeated knows itself.
"""

from typing import Final, LiteralString

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
