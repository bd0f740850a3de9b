"""Runs that are put back because a store is out of reach: when they may be taken again, and until when they are tried."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Two moments that most runs do not have."""
    op.add_column("runs", sa.Column("not_before", sa.DateTime(timezone=True), nullable=True))
    op.add_column("runs", sa.Column("tried_until", sa.DateTime(timezone=True), nullable=True))
