"""Links by which other users see what a run answered."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing is shared yet."""
    op.create_table(
        "shared_answers",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.Text(), nullable=False),
        sa.Column("with_calls", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_shared_answers"),
        sa.UniqueConstraint("secret_hash", name="uq_shared_answers_secret_hash"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_shared_answers_run_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_shared_answers_user_id", ondelete="CASCADE"),
    )
    for column in ("run_id", "user_id", "expires_at"):
        op.create_index(f"ix_shared_answers_{column}", "shared_answers", [column])
