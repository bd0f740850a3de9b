"""What users say of answers."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Of the runs that there are nobody has said anything."""
    op.add_column("runs", sa.Column("verdict", sa.Text(), nullable=True))
    op.add_column("runs", sa.Column("verdict_note", sa.Text(), nullable=False, server_default=""))
    op.add_column("runs", sa.Column("verdict_changes", sa.Integer(), nullable=False, server_default="0"))
