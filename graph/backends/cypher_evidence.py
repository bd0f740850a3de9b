"""The Cypher of live evidence: what a run adds to tools and edges (``graph.evidence`` says why), and what is forgotten of runs.

Properties of an older Footpath's graph that are not there count as nothing: hence the ``coalesce``.
"""

from typing import Final, LiteralString

from graph.backends.cypher import DROP_LESSONS, KEEP_LESSONS, NEW_TOOL

_LEFT: Final = """CASE WHEN NOT row.called OR coalesce(t.heard, 0.0) = 0.0 OR $at < t.heard THEN 1.0
    ELSE 0.5 ^ (floor(($at - t.heard) / 86400) / $half_life) END"""

# Scores and signs are folded in the order in which they came: q <- decay * q + score. One clause, so that each node is locked by the
# first of its changes before anything of it is read. The moment is set last: what fades until then fades from the one before.
ADD_LIVE_TOOLS: Final = f"""
UNWIND $rows AS row
MERGE (t:Tool {{id: row.id}}){NEW_TOOL}, t:$(row.label)
SET t.ok = t.ok + row.ok, t.transient = t.transient + row.transient, t.gone = t.gone + row.gone,
    t.quality = reduce(q = t.quality, score IN row.scores | $decay * q + score),
    t.reliability = reduce(a = t.reliability, sign IN row.signs | $decay * a + sign),
    t.good = row.kept * coalesce(t.good, 0.0) + row.good,
    t.bad = row.kept * (coalesce(t.bad, 0.0) * {_LEFT}) + row.bad,
    t.trouble = head([x IN [row.slope * (coalesce(t.trouble, 0.0) * {_LEFT}) + row.rise] |
        CASE WHEN x < row.least THEN row.least WHEN x > row.worst THEN row.worst ELSE x END]),
    t.heard = CASE WHEN row.called AND coalesce(t.heard, 0.0) < $at THEN $at ELSE coalesce(t.heard, 0.0) END
"""

# The nodes are locked by now, in the order of their ids: whoever changes an edge holds the node that it leaves.
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

TAKE_WALKS: Final = """
UNWIND $rows AS row
MATCH (:Tool {id: row.source})-[r:NEXT]->(:Tool {id: row.target})
SET r.strength = CASE WHEN coalesce(r.strength, 0.0) + row.gained > 0 THEN r.strength + row.gained ELSE 0.0 END
"""


def _of_new(statement: LiteralString, rows: LiteralString) -> LiteralString:
    """A statement over ``$rows`` as a part of :data:`LEARN`, over rows of another name, and over none where the key was there before."""
    return f"CALL (new) {{{statement.replace('UNWIND $rows', f'UNWIND CASE WHEN new THEN {rows} ELSE [] END')}}}"


# All that a run teaches, in one query, since each statement of a transaction is a round trip. Its parts are carried out one after the other,
# so that they lock in the order in which they would as statements. `new` is true only for whoever made the key.
LEARN: Final[LiteralString] = "\n".join(
    (
        "MERGE (k:Applied {key: $key}) ON CREATE SET k.token = $token, k.new = true",
        "WITH k, coalesce(k.token = $token, false) AS ours, coalesce(k.new, false) AS new",
        "REMOVE k.new",
        "WITH ours, new",
        _of_new(ADD_LIVE_TOOLS, "$tools"),
        _of_new(FADE_WALKS, "$fading"),
        _of_new(ADD_WALKS, "$added"),
        _of_new(TAKE_WALKS, "$taken"),
        _of_new(KEEP_LESSONS, "$lessons"),
        _of_new(DROP_LESSONS, "$taught"),
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

# --- what an older Footpath left -------------------------------------------------------------------------------------

READ_LIVING: Final = "MATCH (mark:Footpath {name: 'graph'}) RETURN coalesce(mark.living, false)"

# The mark is locked first: of two processes that open the graph at once, the second finds it done.
LOCK_LIVING: Final = (
    "MATCH (mark:Footpath {name: 'graph'}) SET mark.name = mark.name RETURN coalesce(mark.living, false) AS living"
)

BEGIN_LIVING: Final = (
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
