"""Cypher of what lies beside the graph on the same server, for every machine alike: flows, and kept fields.

``(:Flow {place, target, parameter, source, total, fields})``, its ``place`` a digest of the three, which may be too long for an index;
``(:FlowKey {key})`` of what was counted; ``(:KeptFields {place, kept, known})``. ``fields``, ``kept`` and ``known`` are JSON texts.
"""

from typing import Final, LiteralString

STRUCTURE: Final[tuple[LiteralString, ...]] = (
    "CREATE CONSTRAINT footpath_flow IF NOT EXISTS FOR (n:Flow) REQUIRE n.place IS UNIQUE",
    "CREATE CONSTRAINT footpath_flow_key IF NOT EXISTS FOR (n:FlowKey) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT footpath_kept_fields IF NOT EXISTS FOR (n:KeptFields) REQUIRE n.place IS UNIQUE",
    "CREATE INDEX footpath_flow_target IF NOT EXISTS FOR (n:Flow) ON (n.target)",
)

CLAIM: Final = "MERGE (k:FlowKey {key: $key}) ON CREATE SET k.token = $token RETURN k.token = $token AS ours"

# The total is set first, which locks the node: what its fields are is read behind the lock.
ADD_TOTALS: Final = """
UNWIND $rows AS row
MERGE (f:Flow {place: row.place})
ON CREATE SET f.target = row.target, f.parameter = row.parameter, f.source = row.source, f.total = 0, f.fields = '{}'
SET f.total = f.total + row.total
RETURN f.place AS place, f.fields AS fields
"""
SET_FIELDS: Final = "UNWIND $rows AS row MATCH (f:Flow {place: row.place}) SET f.fields = row.fields"

SET_KEYS: Final = "UNWIND $rows AS key MERGE (k:FlowKey {key: key})"
SET_FLOWS: Final = """
UNWIND $rows AS row
MERGE (f:Flow {place: row.place})
SET f.target = row.target, f.parameter = row.parameter, f.source = row.source, f.total = row.total, f.fields = row.fields
"""
FORGET: Final = "MATCH (f:Flow) WHERE f.target IN $tools OR f.source IN $tools DELETE f"

INTO: Final = """
UNWIND $values AS target MATCH (f:Flow {target: target})
RETURN f.target, f.parameter, f.source, f.total, f.fields
"""
KEYS: Final = "MATCH (k:FlowKey) WHERE k.key > $after RETURN k.key ORDER BY k.key LIMIT $limit"
COUNTS: Final = """
MATCH (f:Flow)
WHERE f.target > $target OR (f.target = $target AND (
    f.parameter > $parameter OR (f.parameter = $parameter AND f.source > $source)))
RETURN f.target, f.parameter, f.source, f.total, f.fields
ORDER BY f.target, f.parameter, f.source LIMIT $limit
"""

RECALL: Final = "MATCH (k:KeptFields {place: $place}) RETURN k.kept, k.known"
KEEP: Final = "MERGE (k:KeptFields {place: $place}) SET k.kept = $kept, k.known = $known"
