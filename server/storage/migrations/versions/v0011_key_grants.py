"""Keys that are obtained from authorization servers, and consents to them that are waited for."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """The keys that there are were given as they are."""
    _add_grants("tool_keys")
    _add_grants("source_keys")
    op.create_table(
        "key_consents",
        sa.Column("state_hash", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("shelf", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("key_version", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("state_hash", name="pk_key_consents"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_key_consents_user_id", ondelete="CASCADE"),
    )
    for column in ("user_id", "owner_id", "expires_at"):
        op.create_index(f"ix_key_consents_{column}", "key_consents", [column])


def _add_grants(table: str) -> None:
    op.add_column(table, sa.Column("grant", sa.Text(), nullable=True))
    op.add_column(table, sa.Column("lapsed", sa.Text(), nullable=False, server_default=""))
    op.add_column(table, sa.Column("turn", sa.Text(), nullable=False, server_default=""))
    for column in ("fresh_until", "turn_until"):
        op.add_column(table, sa.Column(column, _MOMENT, nullable=True))
