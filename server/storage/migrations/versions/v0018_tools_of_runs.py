"""Which tools runs have called, and a user's runs in the order of their ids."""

import json
from collections import Counter

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_AT_ONCE = 200
"""Events that are read at a time: one may hold a megabyte."""
_ENDED = sa.text(
    "SELECT run_events.run_id, run_events.seq, run_events.body FROM run_events JOIN runs ON runs.id = run_events.run_id"
    " WHERE runs.status = 'finished' AND run_events.kind = 'call.finished'"
    " AND (run_events.run_id > :run OR (run_events.run_id = :run AND run_events.seq > :seq))"
    " ORDER BY run_events.run_id, run_events.seq LIMIT :most"
)


def upgrade() -> None:
    """Of runs that have ended, as far as their events are kept; the others are counted with their ends."""
    op.create_table(
        "run_tools",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "tool", name="pk_run_tools"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_run_tools_run_id", ondelete="CASCADE"),
    )
    op.create_index("ix_runs_user_id_id", "runs", ["user_id", "id"])
    counted = _counted()
    if counted:
        table = sa.table("run_tools", sa.column("run_id"), sa.column("tool"), sa.column("calls"))
        op.bulk_insert(table, [{"run_id": run, "tool": tool, "calls": n} for (run, tool), n in counted.items()])


def _counted() -> Counter[tuple[str, str]]:
    """How often which run called which tool."""
    counted = Counter[tuple[str, str]]()
    run, seq = "", 0
    while rows := op.get_bind().execute(_ENDED, {"run": run, "seq": seq, "most": _AT_ONCE}).all():
        run, seq = rows[-1][:2]
        for of, _, body in rows:
            result = json.loads(body)["event"]["result"]
            if result.get("outcome") is not None:
                counted[of, result["tool"]] += 1
    return counted
