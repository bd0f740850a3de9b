"""What the tokens of programs may do."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Tokens that were made before keep asking, reading and making changes; none of them administers any more."""
    op.add_column("sessions", sa.Column("scopes", sa.Text(), nullable=False, server_default="[]"))
    op.execute("""UPDATE sessions SET scopes = '["ask","read","run_changes"]' WHERE program""")
