"""The audit log, and which sessions are of programs."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """What was done before is not told; sessions of before count as log-ins, but for those that no refresh token belongs to."""
    op.add_column("sessions", sa.Column("program", sa.Boolean(), nullable=False, server_default=sa.false()))
    renewable = sa.text("SELECT session_id FROM tokens WHERE kind = 'refresh'")
    op.execute(sa.text(f"UPDATE sessions SET program = true WHERE id NOT IN ({renewable.text})"))  # noqa: S608  # no value is in it
    texts = ("user_id", "name", "name_key", "role", "via", "label", "operation", "about", "path", "said")
    op.create_table(
        "audit_entries",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in texts),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_audit_entries"),
    )
    op.create_index("ix_audit_entries_at", "audit_entries", ["at"])
    op.create_index("ix_audit_entries_name_key_id", "audit_entries", ["name_key", "id"])
    op.create_index("ix_audit_entries_operation_id", "audit_entries", ["operation", "id"])
