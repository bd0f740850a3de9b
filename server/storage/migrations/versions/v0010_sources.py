"""Sources of tools, their readings and tools, what was done with them, and their keys."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_TEXTS = (
    "name", "kind", "category", "toolset", "address", "command", "base_url", "visibility", "roles", "users", "keys_of",
    "trouble", "notes", "credentials", "changes", "check_trouble",
)  # fmt: skip


def upgrade() -> None:
    """All new: nobody has any yet."""
    _sources()
    _tools()
    _steps()
    op.create_table(
        "source_keys",
        _of_source(),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hosts", sa.Text(), nullable=False),
        sa.Column("key_version", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        _moment("updated_at"),
        sa.PrimaryKeyConstraint("source_id", "name", name="pk_source_keys"),
        _source_key("source_keys"),
    )
    op.create_index("ix_source_keys_key_version", "source_keys", ["key_version"])


def _sources() -> None:
    op.create_table(
        "sources",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("author_id", sa.Text(), nullable=True),
        *[sa.Column(name, sa.Text(), nullable=False) for name in _TEXTS],
        *[
            sa.Column(name, sa.Integer(), nullable=False)
            for name in ("watch_minutes", "version", "checked", "to_check")
        ],
        _moment("created_at"),
        *[_moment(name, nullable=True) for name in ("read_at", "checked_at", "removed_at", "check_until", "watch_at")],
        sa.Column("check_worker", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_sources"),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name="fk_sources_author_id", ondelete="SET NULL"),
    )
    for column in ("author_id", "check_worker", "watch_at"):
        op.create_index(f"ix_sources_{column}", "sources", [column])
    op.create_table(
        "source_readings",
        _of_source(),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=True),
        sa.Column("documents", sa.Text(), nullable=False),
        sa.Column("skipped", sa.Text(), nullable=False),
        _moment("at"),
        sa.PrimaryKeyConstraint("source_id", "version", name="pk_source_readings"),
        _source_key("source_readings"),
    )


def _tools() -> None:
    texts = ("tool", "state", "reason", "original", "corrections", "learnt", "findings", "looked_at")
    op.create_table(
        "source_tools",
        _of_source(),
        *[sa.Column(name, sa.Text(), nullable=False) for name in texts],
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("offer", sa.Text(), nullable=True),
        sa.Column("offered_as", sa.Text(), nullable=True),
        sa.Column("held", sa.Boolean(), nullable=False),
        sa.Column("gone", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("source_id", "tool", name="pk_source_tools"),
        _source_key("source_tools"),
    )
    op.create_index("ix_source_tools_offered_as", "source_tools", ["offered_as"], unique=True)


def _steps() -> None:
    op.create_table(
        "source_steps",
        sa.Column("id", sa.Text(), nullable=False),
        _of_source(),
        _moment("at"),
        sa.Column("user_id", sa.Text(), nullable=True),
        *[sa.Column(name, sa.Text(), nullable=False) for name in ("who", "what", "tools", "reason")],
        sa.Column("by_admin", sa.Boolean(), nullable=False),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("undone", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_source_steps"),
        _source_key("source_steps"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_source_steps_user_id", ondelete="SET NULL"),
    )
    for column in ("source_id", "user_id"):
        op.create_index(f"ix_source_steps_{column}", "source_steps", [column])


def _of_source() -> "sa.Column[str]":
    return sa.Column("source_id", sa.Text(), nullable=False)


def _moment(name: str, *, nullable: bool = False) -> "sa.Column[object]":
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _source_key(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=f"fk_{table}_source_id", ondelete="CASCADE")
