"""Every SQL text of links in the embedded graph. Tools are their numbers in ``node``.

A feed lies with the tool it leads into, whose links are replaced together; another index leads from the tool it comes from.
"""

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
"""By name; added to the tables of the graph."""

NUMBERS = "SELECT id, num FROM node WHERE id IN (SELECT value FROM json_each(?))"
EXPECT = """
    INSERT INTO link (tool, digest, pending) VALUES (?, ?, 1)
    ON CONFLICT (tool) DO UPDATE SET digest = excluded.digest, pending = 1
"""
EXPECT_ALSO = "INSERT INTO link (tool, pending) VALUES (?, 1) ON CONFLICT (tool) DO UPDATE SET pending = 1"
EXPECT_LINKED = (
    """
    INSERT INTO link (tool, pending)
    SELECT tool, 1 FROM (
        SELECT target AS tool FROM feed WHERE source IN (SELECT value FROM json_each(?1))
        UNION SELECT one FROM substitute WHERE other IN (SELECT value FROM json_each(?1))
    ) WHERE tool NOT IN (SELECT value FROM json_each(?1))
    ON CONFLICT (tool) DO UPDATE SET pending = 1
    """,
)
"""The links that rest on tools become pending, by the numbers of these."""
DONE = "INSERT INTO link (tool) VALUES (?) ON CONFLICT (tool) DO UPDATE SET pending = 0"
DROP_FEEDS = "DELETE FROM feed WHERE target = ?"
DROP_SUBSTITUTES = "DELETE FROM substitute WHERE one = ?"
DROP_LINKS = (
    "DELETE FROM link WHERE tool IN (SELECT value FROM json_each(?))",
    "DELETE FROM feed WHERE target IN (SELECT value FROM json_each(?1)) OR source IN (SELECT value FROM json_each(?1))",
    "DELETE FROM substitute WHERE one IN (SELECT value FROM json_each(?1)) OR other IN (SELECT value FROM json_each(?1))",
)
"""All links of tools, and that there were any, by their numbers."""
PUT_FEED = """
    INSERT INTO feed (source, target, field, parameter, score) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (target, source, parameter, field) DO UPDATE SET score = excluded.score
"""
PUT_SUBSTITUTE = """
    INSERT INTO substitute (one, other, score, parameters) VALUES (?, ?, ?, ?)
    ON CONFLICT (one, other) DO UPDATE SET score = excluded.score, parameters = excluded.parameters
"""
STATES = "SELECT n.id, l.digest, l.pending FROM link l CROSS JOIN node n ON n.num = l.tool"
LINKED_TO = """
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
COUNTS = """
    SELECT (SELECT count(*) FROM feed), (SELECT count(*) FROM substitute), (SELECT count(*) FROM link WHERE pending)
"""
