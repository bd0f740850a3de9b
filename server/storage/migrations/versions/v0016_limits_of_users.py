"""Limits of single users, and calls of language models by user and day."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Everybody has the limits of the settings; what was called before is not known."""
    op.add_column("user_days", sa.Column("model_calls", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "user_limits",
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=True),
        sa.Column("tokens", sa.BigInteger(), nullable=True),
        sa.Column("cost", sa.Double[float](), nullable=True),
        sa.PrimaryKeyConstraint("user_id", name="pk_user_limits"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_user_limits_user_id", ondelete="CASCADE"),
    )
