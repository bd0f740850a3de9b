"""Which operations of its document a source takes."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Sources that were added before take all of them."""
    op.add_column("sources", sa.Column("operations", sa.Text(), nullable=False, server_default="{}"))
