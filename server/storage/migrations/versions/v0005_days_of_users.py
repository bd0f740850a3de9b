"""What users have used, day by day; whose the queued runs are, and which ended long ago, without looking at the runs themselves."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What was used before today's first run is not counted."""
    op.create_table(
        "user_days",
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger(), nullable=False),
        sa.Column("completion_tokens", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "day"),
    )
    op.create_index(None, "user_days", ["day"])
    op.create_index(None, "runs", ["status", "user_id", "id"])
    op.create_index(None, "runs", ["finished_at"])
