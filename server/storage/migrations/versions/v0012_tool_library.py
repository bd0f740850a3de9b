"""Calls that users try, and what administrators say of tools and why."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nobody has tried or said anything yet: marks that were set by a command stay in the graph, without a reason."""
    op.create_table(
        "tool_tries",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("changes", sa.Boolean(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("http_status", sa.Integer(), nullable=True),
        sa.Column("response", sa.Text(), nullable=False),
        sa.Column("whole", sa.Integer(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tool_tries"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_tool_tries_user_id", ondelete="CASCADE"),
    )
    op.create_index("ix_tool_tries_user_id_tool", "tool_tries", ["user_id", "tool"])
    op.create_table(
        "tool_marks",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("mark", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("sources", sa.Text(), nullable=False),
        sa.Column("by_id", sa.Text(), nullable=True),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tool_marks"),
        sa.ForeignKeyConstraint(["by_id"], ["users.id"], name="fk_tool_marks_by_id", ondelete="SET NULL"),
    )
    op.create_index("ix_tool_marks_tool", "tool_marks", ["tool"])
    op.create_index("ix_tool_marks_kind_tool", "tool_marks", ["kind", "tool"])
    op.create_index("ix_tool_marks_by_id", "tool_marks", ["by_id"])
