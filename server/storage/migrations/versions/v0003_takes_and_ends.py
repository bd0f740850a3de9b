"""Which versions of others' templates users have taken, why runs are ended, in which session they were asked for, and from where users log in."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

USED = """
INSERT INTO template_takes (user_id, template_id, version, taken_at)
SELECT runs.user_id, runs.template_id, runs.template_version, runs.created_at
FROM runs JOIN templates ON templates.id = runs.template_id
WHERE templates.user_id <> runs.user_id AND runs.template_version IS NOT NULL AND runs.id = (
    SELECT MAX(last.id) FROM runs AS last WHERE last.user_id = runs.user_id AND last.template_id = runs.template_id
)
"""


def upgrade() -> None:
    """Who has run another's template has taken the version that they ran last."""
    op.create_table(
        "template_takes",
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("template_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("taken_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["template_id", "version"],
            ["template_versions.template_id", "template_versions.version"],
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("user_id", "template_id"),
    )
    op.execute(USED)
    op.create_table(
        "login_places",
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "place"),
    )
    op.add_column("runs", sa.Column("session_id", sa.Text(), nullable=True))
    op.add_column("runs", sa.Column("cancel_why", sa.Text(), nullable=True))
