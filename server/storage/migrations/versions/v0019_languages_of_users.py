"""In which language users read pages."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nobody has said."""
    op.add_column("users", sa.Column("language", sa.Text(), nullable=True))
