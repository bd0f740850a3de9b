"""Links by which users set a new password."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nobody has been given one."""
    op.create_table(
        "password_resets",
        sa.Column("secret_hash", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("secret_hash", name="pk_password_resets"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_password_resets_user_id", ondelete="CASCADE"),
    )
    op.create_index("ix_password_resets_user_id", "password_resets", ["user_id"])
