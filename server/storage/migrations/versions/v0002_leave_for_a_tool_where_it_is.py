"""Leave belongs to a tool with its address and the origins of its values; what may go from one host to another is kept.

Leave that was given before says nothing of either: it stays on the list, holds for no call, and is asked for anew.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns, and the table."""
    for name, before in (("address", ""), ("method", ""), ("source", ""), ("origins", "[]")):
        op.add_column("allowed_tools", sa.Column(name, sa.Text(), nullable=False, server_default=before))
    op.create_table(
        "flows",
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("allowed", sa.Boolean(), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "source", "target"),
    )
