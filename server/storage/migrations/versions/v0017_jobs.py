"""Long work that administrators ask for."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """There was none."""
    texts = ("id", "kind", "home", "state", "wanted", "what", "lines", "trouble", "by")
    or_none = ("slot", "result", "by_id", "worker")
    moments = ("started_at", "finished_at", "cancel_at", "lease_until")
    op.create_table(
        "jobs",
        *(sa.Column(name, sa.Text(), nullable=False) for name in texts),
        *(sa.Column(name, sa.Text(), nullable=True) for name in or_none),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        *(sa.Column(name, sa.DateTime(timezone=True), nullable=True) for name in moments),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
        sa.ForeignKeyConstraint(["by_id"], ["users.id"], name="fk_jobs_by_id", ondelete="SET NULL"),
    )
    for columns in (("state", "lease_until"), ("kind", "id"), ("by_id",), ("finished_at",)):
        op.create_index(f"ix_jobs_{'_'.join(columns)}", "jobs", list(columns))
    op.create_index("ix_jobs_slot", "jobs", ["slot"], unique=True)
