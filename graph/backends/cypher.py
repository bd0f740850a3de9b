"""All Cypher of the Neo4j back end: constants with ``$parameters``, nothing is ever put together from data.

    (:Category {name})-[:HAS]->(:ToolSet {id, name})-[:HAS]->(:Tool {id, name, …})-[:NEXT {imported, live}]->(:Tool)

Every node of the tool graph is a ``Tool``. One without a document is also ``Unresolved``; the end of every path is
``(:Tool:Finish)``. A ``NEXT`` may carry an administrator's ``mark``. What a run taught about a tool is a ``Lesson``:
``(:Tool)-[:LEARNT]->(:Lesson {run, at, score, outcomes})``. Links, in ``cypher_links``, join tools as well. ``Applied`` holds the key of a batch or record that was counted, ``Footpath`` the version of all this.
"""

from typing import Final, LiteralString

FORMAT: Final = 1
"""Version of what is stored. A change of it needs a migration or a rebuild."""

# --- structure -------------------------------------------------------------------------------------------------------

SERVER: Final = "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version"

# The nodes are counted first: where another process sets up between the two counts, its mark is seen.
READ_FORMAT: Final = """
MATCH (n) WITH count(n) AS nodes
OPTIONAL MATCH (mark:Footpath {name: 'graph'})
RETURN nodes, mark.format AS format
"""

STRUCTURE: Final[tuple[LiteralString, ...]] = (
    "CREATE CONSTRAINT footpath_mark IF NOT EXISTS FOR (n:Footpath) REQUIRE n.name IS UNIQUE",
    "CREATE CONSTRAINT footpath_category IF NOT EXISTS FOR (n:Category) REQUIRE n.name IS UNIQUE",
    "CREATE CONSTRAINT footpath_toolset IF NOT EXISTS FOR (n:ToolSet) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT footpath_tool IF NOT EXISTS FOR (n:Tool) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT footpath_applied IF NOT EXISTS FOR (n:Applied) REQUIRE n.key IS UNIQUE",
    "CREATE INDEX footpath_function IF NOT EXISTS FOR (n:Tool) ON (n.function)",
)

# Last, when the structure stands: who finds the mark finds all of it.
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

# What a document says stays with its node, which has none without a function. `removed` keeps that name.
REMOVE_TOOLS: Final = """
UNWIND $rows AS id
MATCH (t:Tool {id: id}) WHERE t.function IS NOT NULL
SET t.removed = t.function, t:Unresolved
REMOVE t.function, t.link_digest, t.link_pending
WITH t
MATCH (:ToolSet)-[r:HAS]->(t) DELETE r
"""
REMOVED: Final = """
UNWIND $values AS id
MATCH (t:Tool {id: id}) WHERE t.function IS NULL AND t.removed IS NOT NULL
RETURN properties(t), t.removed
"""

# The uniqueness constraint makes a second writer of the same key wait here until the first has ended. The token tells a
# repetition of this very call, whose commit went through although its answer was lost, from a key of somebody else's
# (the key of a record has no token).
CLAIM_KEY: Final = """
MERGE (k:Applied {key: $key}) ON CREATE SET k.token = $token
RETURN coalesce(k.token = $token, false) AS ours
"""
CLAIM_RECORDS: Final = "UNWIND $rows AS key MERGE (:Applied {key: key})"

# Both add to every node of the batch, if only zero: so the nodes are locked in the order of their ids before any edge
# is touched, and two writers cannot wait for each other. `SET t.x = t.x + …` reads under the lock that it takes.
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

# Facts and counts as they are, for a store that is moved here.
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

# In the order of their ids, so that whoever learns meanwhile waits for the same node first.
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

# A tool was locked before its lessons are touched, and a lesson is one tool's: no two writers meet here.
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

BEGIN_ANEW: Final = """
UNWIND $rows AS id
MATCH (t:Tool {id: id})
SET t.calls = 0, t.successes = 0
REMOVE t.link_digest, t.link_pending
"""
FORGET_LINKS: Final = "UNWIND $rows AS id MATCH (:Tool {id: id})-[r:FEEDS|SUBSTITUTES]-() DELETE r"

# --- reads -----------------------------------------------------------------------------------------------------------

# A node or an edge that an older Footpath made beside this one has no live evidence.
_FACTS: Final = """t.calls, t.successes, t.ok, t.transient, t.gone, t.quality, t.reliability,
    coalesce(t.good, 0.0), coalesce(t.bad, 0.0), coalesce(t.trouble, 0.0), coalesce(t.heard, 0.0)"""
_COUNTS: Final = "r.imported, r.live, r.mark, coalesce(r.strength, 0.0)"

APPLIED: Final = "UNWIND $values AS key MATCH (k:Applied {key: key}) RETURN k.key"

# A tool has a document where it has a function.
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

# Collected apart, side by side: joined, the edges of one kind would multiply those of another.
AROUND: Final = f"""
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

EDGES_BESIDE: Final = f"""
UNWIND $values AS id MATCH (here:Tool {{id: id}})
CALL (here) {{
  MATCH (here)-[r:NEXT]->(t:Tool) RETURN here AS s, r, t
  UNION ALL
  MATCH (s:Tool)-[r:NEXT]->(here) RETURN s, r, here AS t
}}
WITH DISTINCT s, r, t RETURN s.id, t.id, {_COUNTS} ORDER BY s.id, t.id
"""

# Each of them is answered by Neo4j's own counters, whatever the size of the graph.
STATISTICS: Final = """
CALL () { MATCH (t:Tool) RETURN count(t) AS tools }
CALL () { MATCH (t:Unresolved) RETURN count(t) AS unresolved }
CALL () { MATCH (t:Finish) RETURN count(t) AS finish }
CALL () { MATCH ()-[r:NEXT]->() RETURN count(r) AS edges }
CALL () { MATCH ()-[r:NEXT]->(:Finish) RETURN count(r) AS finish_edges }
CALL () { MATCH (k:Applied) RETURN count(k) AS batches }
RETURN tools, unresolved, finish, edges, finish_edges, batches
"""
