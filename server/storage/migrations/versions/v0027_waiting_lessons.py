"""Lessons of runs that an outage prevented, to be learnt when the stores are back."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """None waits yet: what was lost before stays lost."""
    op.create_table(
        "waiting_lessons",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("kept_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("turn_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("run_id", name="pk_waiting_lessons"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_waiting_lessons_run_id", ondelete="CASCADE"),
    )
    op.create_index("ix_waiting_lessons_turn_at_run_id", "waiting_lessons", ["turn_at", "run_id"])
