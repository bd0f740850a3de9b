"""What users' tokens cost, day by day, at the prices of the models that took them."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What was taken before is told at the settings' prices, as it was."""
    op.add_column("user_days", sa.Column("cost", sa.Double[float](), nullable=True))
