"""Cypher statements of the tool graph. All values are ``$parameters``: no statement is built from data.

    (:Category {name})-[:HAS]->(:ToolSet {id, name})-[:HAS]->(:Tool {id, name, …})-[:NEXT {imported, live}]->(:Tool)

Every node of the tool graph is a ``Tool``. One without a document is also ``Unresolved``; every path ends at
``(:Tool:Finish)``. A ``NEXT`` may carry an administrator's ``mark``. A ``ToolLesson`` is stored as
``(:Tool)-[:LEARNT]->(:Lesson {run, at, score, outcomes})``. ``Applied`` holds the key of a batch or record that was
counted, ``Footpath`` the format version.

Links are ``(:Tool)-[:FEEDS {field, parameter, score}]->(:Tool)`` and
``(:Tool)-[:SUBSTITUTES {score, parameters}]->(:Tool)``, whose ``parameters`` are a JSON object from the second tool's
parameter names to the first's.

Graphs of earlier versions lack some properties: ``coalesce`` gives their defaults.
"""

from typing import Final, LiteralString

FORMAT: Final = 1
"""Version of the stored format. Changing it needs a migration or a rebuild of the graph."""

# --- structure -------------------------------------------------------------------------------------------------------

READ_SERVER_VERSION: Final = (
    "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version"
)

# Nodes are counted first: if another process creates the graph between the two reads, its version mark is seen.
READ_FORMAT: Final = """
MATCH (n) WITH count(n) AS nodes
OPTIONAL MATCH (mark:Footpath {name: 'graph'})
RETURN nodes, mark.format AS format
"""

GRAPH_STRUCTURE: Final[tuple[LiteralString, ...]] = (
    "CREATE CONSTRAINT footpath_mark IF NOT EXISTS FOR (n:Footpath) REQUIRE n.name IS UNIQUE",
    "CREATE CONSTRAINT footpath_category IF NOT EXISTS FOR (n:Category) REQUIRE n.name IS UNIQUE",
    "CREATE CONSTRAINT footpath_toolset IF NOT EXISTS FOR (n:ToolSet) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT footpath_tool IF NOT EXISTS FOR (n:Tool) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT footpath_applied IF NOT EXISTS FOR (n:Applied) REQUIRE n.key IS UNIQUE",
    "CREATE INDEX footpath_function IF NOT EXISTS FOR (n:Tool) ON (n.function)",
)

# Written last: a graph with the version mark has its whole structure.
WRITE_FORMAT: Final = "MERGE (mark:Footpath {name: 'graph'}) ON CREATE SET mark.format = $format"

# --- writes ----------------------------------------------------------------------------------------------------------

NEW_TOOL: Final = """
ON CREATE SET t.name = row.name, t.calls = 0, t.successes = 0, t.ok = 0, t.transient = 0, t.gone = 0,
    t.quality = 0.0, t.reliability = 0.0, t.good = 0.0, t.bad = 0.0, t.trouble = 0.0, t.heard = 0.0"""

PUT_TOOLS: Final = f"""
UNWIND $rows AS row
MERGE (c:Category {{name: row.category}})
MERGE (s:ToolSet {{id: row.toolset}}) ON CREATE SET s.name = row.toolset_name
MERGE (t:Tool {{id: row.id}}){NEW_TOOL}
SET t += row.document
REMOVE t:Unresolved, t.removed
MERGE (c)-[:HAS]->(s)
MERGE (s)-[:HAS]->(t)
"""

# The document's properties stay on the node, but a node without `function` counts as one without a document.
# `removed` keeps the function name, so that the document can be restored.
REMOVE_TOOLS: Final = """
UNWIND $rows AS id
MATCH (t:Tool {id: id}) WHERE t.function IS NOT NULL
SET t.removed = t.function, t:Unresolved
REMOVE t.function, t.link_digest, t.link_pending
WITH t
MATCH (:ToolSet)-[r:HAS]->(t) DELETE r
"""
REMOVED_DOCUMENTS: Final = """
UNWIND $values AS id
MATCH (t:Tool {id: id}) WHERE t.function IS NULL AND t.removed IS NOT NULL
RETURN properties(t), t.removed
"""

# The uniqueness constraint makes a second writer of the same key wait until the first has ended. The token tells a
# retry of the same call, whose commit succeeded although its response was lost, from a key of another writer (keys of
# records have no token).
CLAIM_KEY: Final = """
MERGE (k:Applied {key: $key}) ON CREATE SET k.token = $token
RETURN coalesce(k.token = $token, false) AS ours
"""
CLAIM_RECORDS: Final = "UNWIND $rows AS key MERGE (:Applied {key: key})"

# Every node of the batch is written, even if only zero is added: so nodes are locked in the order of their ids before
# any edge is touched, and two writers cannot deadlock. `SET t.x = t.x + …` reads under the lock that it takes.
ADD_IMPORTED_TOOLS: Final = f"""
UNWIND $rows AS row
MERGE (t:Tool {{id: row.id}}){NEW_TOOL}, t:$(row.label)
SET t.calls = t.calls + row.calls, t.successes = t.successes + row.successes
"""

ADD_IMPORTED_EDGES: Final = """
UNWIND $rows AS row
MATCH (a:Tool {id: row.source})
MATCH (b:Tool {id: row.target})
MERGE (a)-[r:NEXT]->(b) ON CREATE SET r.imported = 0, r.live = 0, r.strength = 0.0
SET r.imported = r.imported + row.count
"""

# For restoring an export: sets facts and counts instead of adding to them.
SET_TOOLS: Final = f"""
UNWIND $rows AS row
MERGE (t:Tool {{id: row.id}}){NEW_TOOL}, t:$(row.label)
SET t += row.facts
"""

SET_EDGES: Final = """
UNWIND $rows AS row
MATCH (a:Tool {id: row.source})
MATCH (b:Tool {id: row.target})
MERGE (a)-[r:NEXT]->(b)
SET r.imported = row.imported, r.live = row.live, r.mark = row.mark, r.strength = row.strength
"""

# Rows are ordered by id, the order in which LEARN locks nodes too, so that the two cannot deadlock.
LOCK_TOOLS: Final = "UNWIND $rows AS id MATCH (t:Tool {id: id}) SET t.calls = t.calls RETURN t.id"

MARK_EDGE: Final = """
MATCH (a:Tool {id: $source})
MATCH (b:Tool {id: $target})
MERGE (a)-[r:NEXT]->(b) ON CREATE SET r.imported = 0, r.live = 0, r.strength = 0.0
SET r.mark = $mark
WITH r WHERE r.mark IS NULL AND r.imported = 0 AND r.live = 0
DELETE r
"""

MARK_EDGES: Final = """
UNWIND $rows AS source
MATCH (:Tool {id: source})-[r:NEXT]->(:Tool {id: $target})
SET r.mark = $mark
WITH r WHERE r.mark IS NULL AND r.imported = 0 AND r.live = 0
DELETE r
"""

# The tool is already locked, and each lesson belongs to one tool: no two writers conflict here.
KEEP_LESSONS: Final = """
UNWIND $rows AS row
MATCH (t:Tool {id: row.id})
MERGE (t)-[:LEARNT]->(l:Lesson {run: row.run})
SET l.at = row.at, l.score = row.score, l.outcomes = row.outcomes
"""

DROP_LESSONS: Final = """
UNWIND $rows AS id
MATCH (t:Tool {id: id})
CALL (t) {
    MATCH (t)-[:LEARNT]->(l:Lesson)
    WITH l ORDER BY l.at DESC, l.run DESC SKIP $kept
    DETACH DELETE l
}
"""

RESET_TOOLS: Final = """
UNWIND $rows AS id
MATCH (t:Tool {id: id})
SET t.calls = 0, t.successes = 0
REMOVE t.link_digest, t.link_pending
"""
FORGET_LINKS: Final = "UNWIND $rows AS id MATCH (:Tool {id: id})-[r:FEEDS|SUBSTITUTES]-() DELETE r"

# --- reads -----------------------------------------------------------------------------------------------------------

# Nodes and edges that an earlier version wrote to the same graph have no live evidence.
_FACTS: Final = """t.calls, t.successes, t.ok, t.transient, t.gone, t.quality, t.reliability,
    coalesce(t.good, 0.0), coalesce(t.bad, 0.0), coalesce(t.trouble, 0.0), coalesce(t.heard, 0.0)"""
_COUNTS: Final = "r.imported, r.live, r.mark, coalesce(r.strength, 0.0)"

APPLIED: Final = "UNWIND $values AS key MATCH (k:Applied {key: key}) RETURN k.key"

# A tool has a document if and only if it has a function.
DOCUMENTS: Final = "UNWIND $values AS id MATCH (t:Tool {id: id}) WHERE t.function IS NOT NULL RETURN properties(t)"

DOCUMENT_PAGE: Final = """
MATCH (t:Tool) WHERE t.id > $after AND t.function IS NOT NULL
RETURN properties(t) ORDER BY t.id LIMIT $limit
"""

NODE_PAGE: Final = f"MATCH (t:Tool) WHERE t.id > $after RETURN t.id, {_FACTS} ORDER BY t.id LIMIT $limit"

KEY_PAGE: Final = "MATCH (k:Applied) WHERE k.key > $after RETURN k.key ORDER BY k.key LIMIT $limit"

# Walks the index of ids: only the edges out of one node are sorted at a time.
EDGE_PAGE: Final = f"""
MATCH (s:Tool) WHERE s.id >= $after
MATCH (s)-[r:NEXT]->(t:Tool) WHERE s.id > $after OR t.id > $target
RETURN s.id, t.id, {_COUNTS} ORDER BY s.id, t.id LIMIT $limit
"""

_LESSON: Final = "l.at, l.run, l.score, l.outcomes"

LESSONS: Final = f"""
MATCH (:Tool {{id: $id}})-[:LEARNT]->(l:Lesson) RETURN {_LESSON} ORDER BY l.at DESC, l.run DESC
"""

LESSON_PAGE: Final = f"""
MATCH (t:Tool) WHERE t.id >= $after
MATCH (t)-[:LEARNT]->(l:Lesson) WHERE t.id > $after OR l.at > $at OR (l.at = $at AND l.run > $run)
RETURN t.id, {_LESSON} ORDER BY t.id, l.at, l.run LIMIT $limit
"""

BY_FUNCTION: Final = "MATCH (t:Tool {function: $function}) RETURN t.id ORDER BY t.id"

FACTS: Final = f"UNWIND $values AS id MATCH (t:Tool {{id: id}}) RETURN t.id, {_FACTS}"

OUT_EDGES: Final = f"""
MATCH (:Tool {{id: $id}})-[r:NEXT]->(t:Tool)
RETURN t.id, {_COUNTS}, t.function IS NOT NULL, {_FACTS} ORDER BY t.id
"""

IN_EDGES: Final = f"MATCH (:Tool {{id: $id}})<-[r:NEXT]-(t:Tool) RETURN t.id, {_COUNTS} ORDER BY t.id"

# Each kind of edge is collected in a subquery of its own: one joint MATCH would return their cross product.
NEIGHBOURHOODS: Final = f"""
UNWIND $values AS id
MATCH (here:Tool {{id: id}})
RETURN here.id, {_FACTS.replace("t.", "here.")}, CASE WHEN here.function IS NOT NULL THEN properties(here) END,
    COLLECT {{
        MATCH (here)-[r:NEXT]->(t:Tool)
        RETURN [t.id, {_COUNTS}, t.function IS NOT NULL, {_FACTS}] ORDER BY t.id
    }},
    COLLECT {{ MATCH (here)<-[r:NEXT]-(t:Tool) RETURN [t.id, {_COUNTS}] ORDER BY t.id }},
    COLLECT {{
        MATCH (s:Tool)-[r:FEEDS]->(here)
        RETURN [s.id, here.id, r.field, r.parameter, r.score] ORDER BY r.score DESC, s.id, r.parameter, r.field
    }},
    COLLECT {{
        MATCH (other:Tool)-[r:SUBSTITUTES]->(here)
        RETURN [here.id, other.id, r.score, r.parameters] ORDER BY r.score DESC, other.id
    }}
"""

ADJACENT_EDGES: Final = f"""
UNWIND $values AS id MATCH (here:Tool {{id: id}})
CALL (here) {{
  MATCH (here)-[r:NEXT]->(t:Tool) RETURN here AS s, r, t
  UNION ALL
  MATCH (s:Tool)-[r:NEXT]->(here) RETURN s, r, here AS t
}}
WITH DISTINCT s, r, t RETURN s.id, t.id, {_COUNTS} ORDER BY s.id, t.id
"""

# Each part is answered from Neo4j's own counters, in constant time.
STATISTICS: Final = """
CALL () { MATCH (t:Tool) RETURN count(t) AS tools }
CALL () { MATCH (t:Unresolved) RETURN count(t) AS unresolved }
CALL () { MATCH (t:Finish) RETURN count(t) AS finish }
CALL () { MATCH ()-[r:NEXT]->() RETURN count(r) AS edges }
CALL () { MATCH ()-[r:NEXT]->(:Finish) RETURN count(r) AS finish_edges }
CALL () { MATCH (k:Applied) RETURN count(k) AS batches }
RETURN tools, unresolved, finish, edges, finish_edges, batches
"""


# Marks the links of tools as pending; the digest of the document that they are for is kept where none is given.
MARK_LINKS_PENDING: Final = """
UNWIND $rows AS row
MATCH (t:Tool {id: row.id})
SET t.link_digest = coalesce(row.digest, t.link_digest, ''), t.link_pending = true
RETURN t.id
"""

# Marks the links of tools that depend on removed ones as pending.
MARK_LINKED_TOOLS_PENDING: Final = """
UNWIND $rows AS id
MATCH (t:Tool {id: id})-[:FEEDS|SUBSTITUTES]->(linked:Tool) WHERE NOT linked.id IN $all
SET linked.link_digest = coalesce(linked.link_digest, ''), linked.link_pending = true
"""

# Locks the tools in the order of their ids.
MARK_LINKS_DONE: Final = """
UNWIND $rows AS id
MATCH (t:Tool {id: id})
SET t.link_digest = coalesce(t.link_digest, '') REMOVE t.link_pending
"""
DROP_FEEDS: Final = "UNWIND $rows AS id MATCH (:Tool {id: id})<-[r:FEEDS]-() DELETE r"
DROP_SUBSTITUTES: Final = "UNWIND $rows AS id MATCH (:Tool {id: id})<-[r:SUBSTITUTES]-() DELETE r"
PUT_FEEDS: Final = """
UNWIND $rows AS row
MATCH (a:Tool {id: row.source})
MATCH (b:Tool {id: row.target})
CREATE (a)-[:FEEDS {field: row.field, parameter: row.parameter, score: row.score}]->(b)
"""
PUT_SUBSTITUTES: Final = """
UNWIND $rows AS row
MATCH (a:Tool {id: row.other})
MATCH (b:Tool {id: row.one})
CREATE (a)-[:SUBSTITUTES {score: row.score, parameters: row.parameters}]->(b)
"""

EXISTING_TOOLS: Final = "UNWIND $rows AS id MATCH (t:Tool {id: id}) RETURN t.id"
LINK_STATE_PAGE: Final = """
MATCH (t:Tool) WHERE t.id > $after AND t.link_digest IS NOT NULL
RETURN t.id, t.link_digest, t.link_pending IS NOT NULL ORDER BY t.id LIMIT $limit
"""
LINKED_TOOLS: Final = """
UNWIND $values AS id
MATCH (t:Tool {id: id})-[:FEEDS|SUBSTITUTES]->(linked:Tool)
RETURN DISTINCT linked.id
"""
FEEDS_OUT: Final = """
MATCH (s:Tool {id: $id})-[r:FEEDS]->(t:Tool)
RETURN s.id, t.id, r.field, r.parameter, r.score ORDER BY r.score DESC, t.id, r.parameter, r.field
"""
FEEDS_INTO: Final = """
MATCH (s:Tool)-[r:FEEDS]->(t:Tool {id: $id})
RETURN s.id, t.id, r.field, r.parameter, r.score ORDER BY r.score DESC, s.id, r.parameter, r.field
"""
SUBSTITUTES: Final = """
MATCH (other:Tool)-[r:SUBSTITUTES]->(one:Tool {id: $id})
RETURN one.id, other.id, r.score, r.parameters ORDER BY r.score DESC, other.id
"""
LINK_COUNTS: Final = """
CALL () { MATCH ()-[r:FEEDS]->() RETURN count(r) AS feeds }
CALL () { MATCH ()-[r:SUBSTITUTES]->() RETURN count(r) AS substitutes }
CALL () { MATCH (t:Tool) WHERE t.link_pending IS NOT NULL RETURN count(t) AS pending }
RETURN feeds, substitutes, pending
"""


# The share of a tool's troubles that remains after the whole days since it was last called: 0.5 ^ (days / half-life).
_REMAINING_SHARE: Final = """CASE WHEN NOT row.called OR coalesce(t.heard, 0.0) = 0.0 OR $at < t.heard THEN 1.0
    ELSE 0.5 ^ (floor(($at - t.heard) / 86400) / $half_life) END"""

# Scores and signs are folded in the order in which they came: q <- decay * q + score. One SET clause, so that the first
# change locks the node before anything of it is read. `heard` is set last: the decay before it needs the old value.
ADD_LIVE_TOOLS: Final = f"""
UNWIND $rows AS row
MERGE (t:Tool {{id: row.id}}){NEW_TOOL}, t:$(row.label)
SET t.ok = t.ok + row.ok, t.transient = t.transient + row.transient, t.gone = t.gone + row.gone,
    t.quality = reduce(q = t.quality, score IN row.scores | $decay * q + score),
    t.reliability = reduce(a = t.reliability, sign IN row.signs | $decay * a + sign),
    t.good = row.kept * coalesce(t.good, 0.0) + row.good,
    t.bad = row.kept * (coalesce(t.bad, 0.0) * {_REMAINING_SHARE}) + row.bad,
    t.trouble = head([x IN [row.slope * (coalesce(t.trouble, 0.0) * {_REMAINING_SHARE}) + row.rise] |
        CASE WHEN x < row.least THEN row.least WHEN x > row.worst THEN row.worst ELSE x END]),
    t.heard = CASE WHEN row.called AND coalesce(t.heard, 0.0) < $at THEN $at ELSE coalesce(t.heard, 0.0) END
"""

# The nodes are locked by now, in the order of their ids; a writer of an edge always holds the lock of its source.
FADE_WALKS: Final = """
UNWIND $rows AS row
MATCH (:Tool {id: row.source})-[r:NEXT]->() WHERE r.strength > 0
SET r.strength = row.kept * r.strength
"""

ADD_WALKS: Final = """
UNWIND $rows AS row
MATCH (a:Tool {id: row.source})
MATCH (b:Tool {id: row.target})
MERGE (a)-[r:NEXT]->(b) ON CREATE SET r.imported = 0, r.live = 0, r.strength = 0.0
SET r.live = r.live + row.count, r.strength = coalesce(r.strength, 0.0) + row.gained
"""

WEAKEN_WALKS: Final = """
UNWIND $rows AS row
MATCH (:Tool {id: row.source})-[r:NEXT]->(:Tool {id: row.target})
SET r.strength = CASE WHEN coalesce(r.strength, 0.0) + row.gained > 0 THEN r.strength + row.gained ELSE 0.0 END
"""


def _build_step_of_learn(statement: LiteralString, rows: LiteralString) -> LiteralString:
    """Turn a statement over ``$rows`` into a step of :data:`LEARN` over ``rows``, skipped if the key existed before."""
    return f"CALL (new) {{{statement.replace('UNWIND $rows', f'UNWIND CASE WHEN new THEN {rows} ELSE [] END')}}}"


# Everything that a run teaches, in one query, since each statement of a transaction costs a round trip. The parts run
# one after the other, so that they take locks in the same order as separate statements would. `new` is true only for
# the call that created the key.
LEARN: Final[LiteralString] = "\n".join(
    (
        "MERGE (k:Applied {key: $key}) ON CREATE SET k.token = $token, k.new = true",
        "WITH k, coalesce(k.token = $token, false) AS ours, coalesce(k.new, false) AS new",
        "REMOVE k.new",
        "WITH ours, new",
        _build_step_of_learn(ADD_LIVE_TOOLS, "$tools"),
        _build_step_of_learn(FADE_WALKS, "$fading"),
        _build_step_of_learn(ADD_WALKS, "$added"),
        _build_step_of_learn(WEAKEN_WALKS, "$taken"),
        _build_step_of_learn(KEEP_LESSONS, "$lessons"),
        _build_step_of_learn(DROP_LESSONS, "$taught"),
        "RETURN ours",
    )
)

FORGET_RUNS: Final = """
UNWIND $rows AS id
MATCH (t:Tool {id: id})
SET t.ok = 0, t.transient = 0, t.gone = 0, t.quality = 0.0, t.reliability = 0.0,
    t.good = 0.0, t.bad = 0.0, t.trouble = 0.0, t.heard = 0.0
"""
FORGET_LESSONS: Final = "UNWIND $rows AS id MATCH (:Tool {id: id})-[:LEARNT]->(l:Lesson) DETACH DELETE l"

# --- upgrade of graphs of earlier versions ---------------------------------------------------------------------------

READ_EVIDENCE_MARK: Final = "MATCH (mark:Footpath {name: 'graph'}) RETURN coalesce(mark.living, false)"

# Locks the version mark: of two processes that open the graph at the same time, the second finds the upgrade done.
LOCK_EVIDENCE_MARK: Final = (
    "MATCH (mark:Footpath {name: 'graph'}) SET mark.name = mark.name RETURN coalesce(mark.living, false) AS living"
)

DERIVE_LIVE_EVIDENCE: Final = (
    """
MATCH (t:Tool) WHERE t.good IS NULL AND t.ok + t.transient + t.gone > 0
OPTIONAL MATCH (t)-[:LEARNT]->(l:Lesson)
WITH t, max(l.at) AS at, t.ok + t.transient + 4 * t.gone AS counted
WITH t, at, CASE WHEN counted > 50 THEN 50.0 / counted ELSE 1.0 END AS part
SET t.good = part * t.ok, t.bad = part * (t.transient + 4 * t.gone),
    t.trouble = CASE WHEN t.reliability > 0 THEN 0.0 WHEN t.reliability < -5 THEN 5.0 ELSE -t.reliability END,
    t.heard = CASE WHEN at IS NULL THEN timestamp() / 1000.0 ELSE toFloat(datetime(at).epochSeconds) END
""",
    """
MATCH (a:Tool)-[r:NEXT]->(:Tool) WHERE r.strength IS NULL AND r.live > 0
WITH a, sum(r.live) AS walked, collect(r) AS ways
UNWIND ways AS r
SET r.strength = r.live * CASE WHEN walked > 50 THEN 50.0 / walked ELSE 1.0 END
""",
    "MATCH (mark:Footpath {name: 'graph'}) SET mark.living = true",
)
