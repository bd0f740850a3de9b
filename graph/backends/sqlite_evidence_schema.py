"""The SQL texts of live evidence: columns that came later, and what a run adds to them (``graph.evidence`` says why)."""

from graph.backends.sqlite_database import Column

EVIDENCE_COLUMNS = (
    Column(
        "node",
        "good",
        "REAL NOT NULL DEFAULT 0",
        "UPDATE node SET good = ok * min(1.0, 50.0 / (ok + transient + 4 * gone)) WHERE ok > 0",
    ),
    Column(
        "node",
        "bad",
        "REAL NOT NULL DEFAULT 0",
        """
        UPDATE node SET bad = (transient + 4 * gone) * min(1.0, 50.0 / (ok + transient + 4 * gone)) WHERE transient + gone > 0
        """,
    ),
    Column(
        "node",
        "trouble",
        "REAL NOT NULL DEFAULT 0",
        "UPDATE node SET trouble = min(-reliability, 5) WHERE reliability < 0",
    ),
    Column(
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
    Column(
        "edge",
        "strength",
        "REAL NOT NULL DEFAULT 0",
        """
        UPDATE edge SET strength = live * min(1.0, 50.0 / (SELECT sum(out.live) FROM edge out WHERE out.source = edge.source))
        WHERE live > 0
        """,
    ),
)
"""What a file of an older Footpath gets when it is opened, with the counts that it has for a beginning."""

_LEFT = "CASE WHEN heard THEN pow(0.5, max(0, CAST((:at - heard) / 86400 AS INTEGER)) / :half_life) ELSE 1 END"

ADD_CALLS_OF_RUN = f"""
    UPDATE node SET ok = ok + :ok, transient = transient + :transient, gone = gone + :gone,
        good = :kept * good + :good,
        bad = :kept * (bad * {_LEFT}) + :bad,
        trouble = max(:least, min(:worst, :slope * (trouble * {_LEFT}) + :rise)),
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
TAKE_WALKS = """
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
"""What is forgotten of runs about nodes, by their numbers."""
