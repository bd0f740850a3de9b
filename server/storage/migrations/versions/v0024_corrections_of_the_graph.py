"""What administrators say of parameters, fields and feeds, and what a mark put aside."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Marks that were made before speak of no parameter or field, and put nothing aside."""
    for name in ("place", "field", "entity"):
        op.add_column("tool_marks", sa.Column(name, sa.Text(), nullable=False, server_default=""))
    op.add_column("tool_marks", sa.Column("kept", sa.Text(), nullable=False, server_default="{}"))
