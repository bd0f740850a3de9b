"""Format and SQL statements of the tool graph in SQLite.

Nodes are numbered, so that an edge is two integers and reads follow it by row number. ``node`` holds all that a query
for neighbours needs; the bodies of documents, a hundred times larger, are in a table of their own. A node has a
document if and only if its ``function`` is not null. ``Finish`` is a row like any other.

``feed`` is clustered by the tool that a feed leads into, since links of a tool are replaced together; an index leads
from the tool that it comes from. Columns of live evidence were added in a later version (see :mod:`graph.evidence`).
"""

from graph.backends.sqlite_database import AddedColumn, SqliteFormat

LINK_TABLES = {
    "link": """
    CREATE TABLE link (
        tool INTEGER PRIMARY KEY REFERENCES node,
        digest TEXT NOT NULL DEFAULT '',
        pending INTEGER NOT NULL DEFAULT 0
    )
    """,
    "feed": """
    CREATE TABLE feed (
        target INTEGER NOT NULL REFERENCES node,
        source INTEGER NOT NULL REFERENCES node,
        parameter TEXT NOT NULL,
        field TEXT NOT NULL,
        score REAL NOT NULL,
        PRIMARY KEY (target, source, parameter, field)
    ) WITHOUT ROWID
    """,
    "feed_source": "CREATE INDEX feed_source ON feed (source, target)",
    "substitute": """
    CREATE TABLE substitute (
        one INTEGER NOT NULL REFERENCES node,
        other INTEGER NOT NULL REFERENCES node,
        score REAL NOT NULL,
        parameters TEXT NOT NULL,
        PRIMARY KEY (one, other)
    ) WITHOUT ROWID
    """,
    "substitute_other": "CREATE INDEX substitute_other ON substitute (other, one)",
}
"""Statements for the tables and indexes of links, by name."""

NODE_NUMBERS = "SELECT id, num FROM node WHERE id IN (SELECT value FROM json_each(?))"
MARK_LINKS_PENDING = """
    INSERT INTO link (tool, digest, pending) VALUES (?, ?, 1)
    ON CONFLICT (tool) DO UPDATE SET digest = excluded.digest, pending = 1
"""
KEEP_DIGEST_PENDING = "INSERT INTO link (tool, pending) VALUES (?, 1) ON CONFLICT (tool) DO UPDATE SET pending = 1"
MARK_LINKED_TOOLS_PENDING = (
    """
    INSERT INTO link (tool, pending)
    SELECT tool, 1 FROM (
        SELECT target AS tool FROM feed WHERE source IN (SELECT value FROM json_each(?1))
        UNION SELECT one FROM substitute WHERE other IN (SELECT value FROM json_each(?1))
    ) WHERE tool NOT IN (SELECT value FROM json_each(?1))
    ON CONFLICT (tool) DO UPDATE SET pending = 1
    """,
)
"""Marks links of other tools that depend on these as pending. Takes a JSON list of node numbers."""
MARK_LINKS_DONE = "INSERT INTO link (tool) VALUES (?) ON CONFLICT (tool) DO UPDATE SET pending = 0"
DROP_FEEDS = "DELETE FROM feed WHERE target = ?"
DROP_SUBSTITUTES = "DELETE FROM substitute WHERE one = ?"
DROP_LINKS = (
    "DELETE FROM link WHERE tool IN (SELECT value FROM json_each(?))",
    "DELETE FROM feed WHERE target IN (SELECT value FROM json_each(?1)) OR source IN (SELECT value FROM json_each(?1))",
    "DELETE FROM substitute WHERE one IN (SELECT value FROM json_each(?1)) OR other IN (SELECT value FROM json_each(?1))",
)
"""Deletes all links of these tools and their link states. Takes a JSON list of node numbers."""
PUT_FEED = """
    INSERT INTO feed (source, target, field, parameter, score) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (target, source, parameter, field) DO UPDATE SET score = excluded.score
"""
PUT_SUBSTITUTE = """
    INSERT INTO substitute (one, other, score, parameters) VALUES (?, ?, ?, ?)
    ON CONFLICT (one, other) DO UPDATE SET score = excluded.score, parameters = excluded.parameters
"""
LINK_STATES = "SELECT n.id, l.digest, l.pending FROM link l CROSS JOIN node n ON n.num = l.tool"
LINKED_TOOLS = """
    WITH wanted (num) AS (SELECT num FROM node WHERE id IN (SELECT value FROM json_each(?)))
    SELECT id FROM node WHERE num IN (
        SELECT f.target FROM wanted w CROSS JOIN feed f ON f.source = w.num
        UNION SELECT s.one FROM wanted w CROSS JOIN substitute s ON s.other = w.num
    )
"""
FEEDS_OUT = """
    SELECT n.id, t.id, f.field, f.parameter, f.score
    FROM node n CROSS JOIN feed f ON f.source = n.num CROSS JOIN node t ON t.num = f.target
    WHERE n.id = ? ORDER BY f.score DESC, t.id, f.parameter, f.field
"""
FEEDS_INTO = """
    SELECT s.id, n.id, f.field, f.parameter, f.score
    FROM node n CROSS JOIN feed f ON f.target = n.num CROSS JOIN node s ON s.num = f.source
    WHERE n.id = ? ORDER BY f.score DESC, s.id, f.parameter, f.field
"""
SUBSTITUTES = """
    SELECT n.id, o.id, s.score, s.parameters
    FROM node n CROSS JOIN substitute s ON s.one = n.num CROSS JOIN node o ON o.num = s.other
    WHERE n.id = ? ORDER BY s.score DESC, o.id
"""
LINK_COUNTS = """
    SELECT (SELECT count(*) FROM feed), (SELECT count(*) FROM substitute), (SELECT count(*) FROM link WHERE pending)
"""


EVIDENCE_COLUMNS = (
    AddedColumn(
        "node",
        "good",
        "REAL NOT NULL DEFAULT 0",
        "UPDATE node SET good = ok * min(1.0, 50.0 / (ok + transient + 4 * gone)) WHERE ok > 0",
    ),
    AddedColumn(
        "node",
        "bad",
        "REAL NOT NULL DEFAULT 0",
        """
        UPDATE node SET bad = (transient + 4 * gone) * min(1.0, 50.0 / (ok + transient + 4 * gone)) WHERE transient + gone > 0
        """,
    ),
    AddedColumn(
        "node",
        "trouble",
        "REAL NOT NULL DEFAULT 0",
        "UPDATE node SET trouble = min(-reliability, 5) WHERE reliability < 0",
    ),
    AddedColumn(
        "node",
        "heard",
        "REAL NOT NULL DEFAULT 0",
        """
        UPDATE node SET heard = coalesce(
            (SELECT CAST(strftime('%s', max(l.at)) AS REAL) FROM lesson l WHERE l.tool = node.num), CAST(strftime('%s', 'now') AS REAL)
        )
        WHERE ok + transient + gone > 0
        """,
    ),
    AddedColumn(
        "edge",
        "strength",
        "REAL NOT NULL DEFAULT 0",
        """
        UPDATE edge SET strength = live * min(1.0, 50.0 / (SELECT sum(out.live) FROM edge out WHERE out.source = edge.source))
        WHERE live > 0
        """,
    ),
)
"""Columns of live evidence, which a file of an earlier version gets when it is opened, filled from its counts."""

# The share of a tool's troubles that remains after the whole days since it was last called: 0.5 ^ (days / half-life).
_REMAINING_SHARE = (
    "CASE WHEN heard THEN pow(0.5, max(0, CAST((:at - heard) / 86400 AS INTEGER)) / :half_life) ELSE 1 END"
)

ADD_CALLS_OF_RUN = f"""
    UPDATE node SET ok = ok + :ok, transient = transient + :transient, gone = gone + :gone,
        good = :kept * good + :good,
        bad = :kept * (bad * {_REMAINING_SHARE}) + :bad,
        trouble = max(:least, min(:worst, :slope * (trouble * {_REMAINING_SHARE}) + :rise)),
        heard = max(heard, :at)
    WHERE id = :tool
"""  # noqa: S608

FADE_WALKS = (
    "UPDATE edge SET strength = ?2 * strength WHERE source = (SELECT num FROM node WHERE id = ?1) AND strength > 0"
)
ADD_WALKS = """
    INSERT INTO edge (source, target, live, strength)
    SELECT s.num, t.num, ?3, ?4 FROM node s, node t WHERE s.id = ?1 AND t.id = ?2
    ON CONFLICT (source, target) DO UPDATE SET live = live + excluded.live, strength = strength + excluded.strength
"""
WEAKEN_WALKS = """
    UPDATE edge SET strength = max(0, strength + ?3)
    WHERE (source, target) = (SELECT s.num, t.num FROM node s, node t WHERE s.id = ?1 AND t.id = ?2)
"""

FORGET_RUNS = (
    """
    UPDATE node SET ok = 0, transient = 0, gone = 0, quality = 0, reliability = 0, good = 0, bad = 0, trouble = 0, heard = 0
    WHERE num IN (SELECT value FROM json_each(?))
    """,
    "DELETE FROM lesson WHERE tool IN (SELECT value FROM json_each(?))",
)
"""Deletes what runs taught about these tools. Takes a JSON list of node numbers."""


GRAPH_FORMAT = SqliteFormat(
    content_name="graph",
    application_id=0x46504752,  # "FPGR"
    version=1,
    tables=(
        """
        CREATE TABLE node (
            num INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            function TEXT,
            calls INTEGER NOT NULL DEFAULT 0,
            successes INTEGER NOT NULL DEFAULT 0,
            ok INTEGER NOT NULL DEFAULT 0,
            transient INTEGER NOT NULL DEFAULT 0,
            gone INTEGER NOT NULL DEFAULT 0,
            quality REAL NOT NULL DEFAULT 0,
            reliability REAL NOT NULL DEFAULT 0
        )
        """,
        "CREATE INDEX node_function ON node (function, id) WHERE function IS NOT NULL",
        "CREATE TABLE document (num INTEGER PRIMARY KEY REFERENCES node, body TEXT NOT NULL)",
        """
        CREATE TABLE edge (
            source INTEGER NOT NULL REFERENCES node,
            target INTEGER NOT NULL REFERENCES node,
            imported INTEGER NOT NULL DEFAULT 0,
            live INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (source, target)
        ) WITHOUT ROWID
        """,
        "CREATE INDEX edge_target ON edge (target)",
        "CREATE TABLE batch (key TEXT PRIMARY KEY) WITHOUT ROWID",
    ),
    # FULL: acknowledged writes survive a power cut, since what a run taught cannot be learnt again. Each commit then
    # costs one fsync (about 3 ms), and there is one commit for each run or imported batch.
    synchronous="FULL",
    added_tables={
        "mark": """
        CREATE TABLE mark (
            source INTEGER NOT NULL,
            target INTEGER NOT NULL,
            mark TEXT NOT NULL,
            PRIMARY KEY (source, target),
            FOREIGN KEY (source, target) REFERENCES edge
        ) WITHOUT ROWID
        """,
        "lesson": """
        CREATE TABLE lesson (
            tool INTEGER NOT NULL REFERENCES node,
            run TEXT NOT NULL,
            at TEXT NOT NULL,
            score REAL,
            outcomes TEXT NOT NULL,
            PRIMARY KEY (tool, run)
        ) WITHOUT ROWID
        """,
        "removed": "CREATE TABLE removed (num INTEGER PRIMARY KEY REFERENCES node, body TEXT NOT NULL)",
        **LINK_TABLES,
    },
    added_columns=EVIDENCE_COLUMNS,
)

CLAIM_KEY = "INSERT INTO batch (key) VALUES (?) ON CONFLICT DO NOTHING"
ADD_NODE = "INSERT INTO node (id) VALUES (?) ON CONFLICT DO NOTHING"
PUT_NODE = "INSERT INTO node (id, function) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET function = excluded.function"
PUT_DOCUMENT = """
    INSERT INTO document (num, body) SELECT num, ?2 FROM node WHERE id = ?1
    ON CONFLICT (num) DO UPDATE SET body = excluded.body
"""

FORGET_REMOVED_DOCUMENT = "DELETE FROM removed WHERE num = (SELECT num FROM node WHERE id = ?)"
REMOVE_DOCUMENTS = (
    """
    INSERT INTO removed (num, body) SELECT num, body FROM document WHERE num IN (SELECT value FROM json_each(?))
    ON CONFLICT (num) DO UPDATE SET body = excluded.body
    """,
    "DELETE FROM document WHERE num IN (SELECT value FROM json_each(?))",
    "UPDATE node SET function = NULL WHERE num IN (SELECT value FROM json_each(?))",
    *MARK_LINKED_TOOLS_PENDING,
    *DROP_LINKS,
)
"""Removes the documents of these tools with their links. Takes a JSON list of node numbers."""
REMOVED_DOCUMENTS = """
    SELECT r.body FROM node n JOIN removed r ON r.num = n.num WHERE n.id IN (SELECT value FROM json_each(?))
"""

_ADD_EDGE = """
    INSERT INTO edge (source, target, {count}) SELECT s.num, t.num, ?3 FROM node s, node t WHERE s.id = ?1 AND t.id = ?2
    ON CONFLICT (source, target) DO UPDATE SET {count} = {count} + excluded.{count}
"""
ADD_IMPORTED = _ADD_EDGE.format(count="imported")
ADD_CALLS = "UPDATE node SET calls = calls + ?2, successes = successes + ?3 WHERE id = ?1"
ADD_SCORE = "UPDATE node SET quality = ?2 * quality + ?3 WHERE id = ?1"
ADD_SIGN = "UPDATE node SET reliability = ?2 * reliability + ?3 WHERE id = ?1"

SET_NODE = """
    INSERT INTO node (id, calls, successes, ok, transient, gone, quality, reliability, good, bad, trouble, heard)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET calls = excluded.calls, successes = excluded.successes, ok = excluded.ok,
        transient = excluded.transient, gone = excluded.gone, quality = excluded.quality,
        reliability = excluded.reliability, good = excluded.good, bad = excluded.bad, trouble = excluded.trouble,
        heard = excluded.heard
"""
SET_EDGE = """
    INSERT INTO edge (source, target, imported, live, strength)
    SELECT s.num, t.num, ?3, ?4, ?5 FROM node s, node t WHERE s.id = ?1 AND t.id = ?2
    ON CONFLICT (source, target) DO UPDATE SET imported = excluded.imported, live = excluded.live,
        strength = excluded.strength
"""

SET_MARK = """
    INSERT INTO mark (source, target, mark) SELECT s.num, t.num, ?3 FROM node s, node t WHERE s.id = ?1 AND t.id = ?2
    ON CONFLICT (source, target) DO UPDATE SET mark = excluded.mark
"""
SOURCES_OF_EDGES = """
    SELECT s.id FROM edge e JOIN node s ON s.num = e.source WHERE e.target = (SELECT num FROM node WHERE id = ?1)
    AND s.id IN (SELECT value FROM json_each(?2))
"""
ANY_MARK = "SELECT EXISTS (SELECT 1 FROM mark)"
_ENDS = "(SELECT s.num, t.num FROM node s, node t WHERE s.id = ?1 AND t.id = ?2)"
CLEAR_MARK = f"DELETE FROM mark WHERE (source, target) = {_ENDS}"  # noqa: S608
ADD_EMPTY_EDGE = """
    INSERT INTO edge (source, target) SELECT s.num, t.num FROM node s, node t WHERE s.id = ?1 AND t.id = ?2
    ON CONFLICT DO NOTHING
"""
DROP_EMPTY_EDGE = f"DELETE FROM edge WHERE (source, target) = {_ENDS} AND imported = 0 AND live = 0"  # noqa: S608
KEEP_LESSON = """
    INSERT INTO lesson (tool, run, at, score, outcomes) SELECT num, ?2, ?3, ?4, ?5 FROM node WHERE id = ?1
    ON CONFLICT (tool, run) DO UPDATE SET at = excluded.at, score = excluded.score, outcomes = excluded.outcomes
"""
DROP_LESSONS = """
    DELETE FROM lesson WHERE tool = (SELECT num FROM node WHERE id = ?1) AND run IN (
        SELECT run FROM lesson WHERE tool = (SELECT num FROM node WHERE id = ?1)
        ORDER BY at DESC, run DESC LIMIT -1 OFFSET ?2
    )
"""

RESET_TOOLS = (
    """
    UPDATE node SET calls = 0, successes = 0 WHERE num IN (SELECT value FROM json_each(?))
    """,
    *FORGET_RUNS,
    *DROP_LINKS,
)
"""Deletes everything that calls and runs taught about these tools. Takes a JSON list of node numbers."""

_FACTS = """t.calls, t.successes, t.ok, t.transient, t.gone, t.quality, t.reliability,
    t.good, t.bad, t.trouble, t.heard"""

# CROSS JOIN fixes the order of the tables: one lookup by id, then only row numbers. The few rows of a node are sorted
# in Python, since SQLite's sorter would take a third of the query's time.
OUT_EDGES = f"""
    SELECT t.id, e.imported, e.live, m.mark, e.strength, t.function IS NOT NULL, {_FACTS}
    FROM node s CROSS JOIN edge e ON e.source = s.num CROSS JOIN node t ON t.num = e.target
    LEFT JOIN mark m ON m.source = e.source AND m.target = e.target
    WHERE s.id = ?
"""  # noqa: S608
IN_EDGES = """
    SELECT s.id, e.imported, e.live, m.mark, e.strength
    FROM node t CROSS JOIN edge e ON e.target = t.num CROSS JOIN node s ON s.num = e.source
    LEFT JOIN mark m ON m.source = e.source AND m.target = e.target
    WHERE t.id = ? ORDER BY s.id
"""
_ADJACENT_EDGES = """
    SELECT s.id, t.id, e.imported, e.live, m.mark, e.strength
    FROM json_each(?) asked CROSS JOIN node {here} ON {here}.id = asked.value
    CROSS JOIN edge e ON e.{end} = {here}.num CROSS JOIN node {there} ON {there}.num = e.{other}
    LEFT JOIN mark m ON m.source = e.source AND m.target = e.target
"""
EDGES_OUT = _ADJACENT_EDGES.format(here="s", there="t", end="source", other="target")
EDGES_INTO = _ADJACENT_EDGES.format(here="t", there="s", end="target", other="source")
FACTS = f"SELECT t.id, {_FACTS} FROM node t WHERE t.id IN (SELECT value FROM json_each(?))"  # noqa: S608
APPLIED_KEYS = "SELECT key FROM batch WHERE key IN (SELECT value FROM json_each(?))"
DOCUMENTS = """
    SELECT d.body FROM node n JOIN document d ON d.num = n.num WHERE n.id IN (SELECT value FROM json_each(?))
"""
DOCUMENT_PAGE = """
    SELECT n.id, d.body FROM node n CROSS JOIN document d ON d.num = n.num WHERE n.id > ? ORDER BY n.id LIMIT ?
"""
NODE_PAGE = f"SELECT t.id, {_FACTS} FROM node t WHERE t.id > ? ORDER BY t.id LIMIT ?"  # noqa: S608
KEY_PAGE = "SELECT key FROM batch WHERE key > ? ORDER BY key LIMIT ?"
# Follows the index of ids, so that only the edges out of one node are sorted at a time.
EDGE_PAGE = """
    SELECT s.id, t.id, e.imported, e.live, m.mark, e.strength
    FROM node s CROSS JOIN edge e ON e.source = s.num CROSS JOIN node t ON t.num = e.target
    LEFT JOIN mark m ON m.source = e.source AND m.target = e.target
    WHERE s.id >= ?1 AND (s.id > ?1 OR t.id > ?2) ORDER BY s.id, t.id LIMIT ?3
"""
LESSONS = """
    SELECT l.at, l.run, l.score, l.outcomes FROM node t CROSS JOIN lesson l ON l.tool = t.num WHERE t.id = ? ORDER BY l.at DESC, l.run DESC
"""
LESSON_PAGE = """
    SELECT t.id, l.at, l.run, l.score, l.outcomes FROM node t CROSS JOIN lesson l ON l.tool = t.num
    WHERE t.id >= ?1 AND (t.id > ?1 OR (l.at, l.run) > (?2, ?3)) ORDER BY t.id, l.at, l.run LIMIT ?4
"""
BY_FUNCTION = "SELECT id FROM node WHERE function = ? ORDER BY id"
STATISTICS = """
    SELECT (SELECT count(*) FROM document),
        (SELECT count(*) FROM node WHERE id <> 'Finish'),
        (SELECT count(*) FROM edge),
        (SELECT count(*) FROM edge WHERE target = (SELECT num FROM node WHERE id = 'Finish')),
        (SELECT count(*) FROM batch)
"""
