"""What a caller names a tried call by, so that one that is sent again is not made again."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Calls that were tried before have no name."""
    op.add_column("tool_tries", sa.Column("key", sa.Text(), nullable=True))
    op.create_index("ix_tool_tries_user_id_key", "tool_tries", ["user_id", "key"], unique=True)
