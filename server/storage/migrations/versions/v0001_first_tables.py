"""The first tables: users and what is theirs, conversations, runs, workflow templates."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create them all, what others refer to first."""
    _accounts()
    _workflows()
    _talks()
    _run_records()


def _accounts() -> None:
    op.create_table(
        "users",
        *_words("id", "name", "name_key", "password_hash", "role"),
        *_moment("created_at"),
        *_moment("disabled_at", null=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name_key"),
    )
    op.create_table(
        "invitations",
        *_words("id", "secret_hash", "role", "note"),
        *_words("created_by", null=True),
        *_moment("created_at", "expires_at"),
        *_moment("used_at", null=True),
        *_words("used_by", null=True),
        _points_to("users.id", "created_by"),
        _points_to("users.id", "used_by"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("secret_hash"),
    )
    op.create_index(None, "invitations", ["created_by"])
    op.create_index(None, "invitations", ["used_by"])
    op.create_table(
        "sessions",
        *_words("id", "user_id", "label"),
        *_moment("created_at", "expires_at"),
        *_moment("revoked_at", null=True),
        *_words("revoked_why", null=True),
        _part_of("users.id", "user_id"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(None, "sessions", ["expires_at"])
    op.create_index(None, "sessions", ["user_id"])
    op.create_table(
        "tokens",
        *_words("hash", "session_id", "kind"),
        *_moment("created_at", "expires_at"),
        *_moment("used_at", null=True),
        _part_of("sessions.id", "session_id"),
        sa.PrimaryKeyConstraint("hash"),
    )
    op.create_index(None, "tokens", ["expires_at"])
    op.create_index(None, "tokens", ["session_id"])
    op.create_table(
        "login_attempts",
        *_words("key"),
        *_number("failures"),
        *_moment("last_at"),
        *_moment("locked_until", null=True),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index(None, "login_attempts", ["last_at"])
    op.create_table(
        "tool_keys",
        *_words("user_id", "name", "hosts"),
        *_number("key_version"),
        *_data("sealed"),
        *_moment("updated_at"),
        _part_of("users.id", "user_id"),
        sa.PrimaryKeyConstraint("user_id", "name"),
    )
    op.create_index(None, "tool_keys", ["key_version"])
    op.create_table(
        "allowed_tools",
        *_words("user_id", "tool"),
        *_moment("created_at"),
        _part_of("users.id", "user_id"),
        sa.PrimaryKeyConstraint("user_id", "tool"),
    )


def _workflows() -> None:
    op.create_table(
        "templates",
        *_words("id", "user_id", "name", "description"),
        *_flag("shared"),
        *_number("version"),
        *_moment("created_at", "updated_at"),
        _part_of("users.id", "user_id"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("user_id", "name"),
    )
    op.create_table(
        "template_versions",
        *_words("template_id"),
        *_number("version"),
        *_words("parameters", "plan", "note"),
        *_words("run_id", null=True),
        *_moment("created_at"),
        _part_of("templates.id", "template_id"),
        sa.PrimaryKeyConstraint("template_id", "version"),
    )


def _talks() -> None:
    op.create_table(
        "conversations",
        *_words("id", "user_id", "title", "title_key"),
        *_moment("created_at", "updated_at"),
        _part_of("users.id", "user_id"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(None, "conversations", ["user_id", "updated_at"])
    op.create_table(
        "runs",
        *_words("id", "user_id", "conversation_id", "request", "status"),
        *_words("outcome", null=True),
        *_words("policy", "planner", "model", "settings"),
        *_words("plan", null=True),
        *_number("plan_version"),
        *_words("usage", "rerun_of", "template_id", null=True),
        *_number("template_version", null=True),
        *_moment("created_at"),
        *_moment("started_at", "finished_at", "cancel_at", null=True),
        *_words("worker", null=True),
        *_moment("lease_until", null=True),
        _part_of("conversations.id", "conversation_id"),
        _points_to("runs.id", "rerun_of"),
        sa.ForeignKeyConstraint(
            ["template_id", "template_version"],
            ["template_versions.template_id", "template_versions.version"],
            name="fk_runs_template",
            ondelete="SET NULL",
        ),
        _part_of("users.id", "user_id"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(None, "runs", ["conversation_id"])
    op.create_index(None, "runs", ["rerun_of"])
    op.create_index(None, "runs", ["status", "lease_until"])
    op.create_index(None, "runs", ["user_id", "created_at"])
    op.create_table(
        "messages",
        *_words("id", "conversation_id", "speaker", "text", "text_key"),
        *_words("run_id", null=True),
        *_moment("created_at"),
        _part_of("conversations.id", "conversation_id"),
        _points_to("runs.id", "run_id"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(None, "messages", ["conversation_id", "id"])
    op.create_index(None, "messages", ["run_id"])


def _run_records() -> None:
    op.create_table(
        "run_events",
        *_words("run_id"),
        *_number("seq"),
        *_words("kind", "body"),
        _part_of("runs.id", "run_id"),
        sa.PrimaryKeyConstraint("run_id", "seq"),
    )
    op.create_table(
        "run_inputs",
        *_words("run_id", "key", "kind", "question"),
        *_moment("asked_at"),
        *_words("answer", null=True),
        *_moment("answered_at", null=True),
        _part_of("runs.id", "run_id"),
        sa.PrimaryKeyConstraint("run_id", "key"),
    )
    op.create_table(
        "effects",
        *_words("run_id", "call_key", "tool", "method"),
        *_flag("idempotent"),
        *_words("arguments"),
        *_moment("started_at"),
        *_moment("finished_at", null=True),
        *_words("outcome", "result", null=True),
        _part_of("runs.id", "run_id"),
        sa.PrimaryKeyConstraint("run_id", "call_key"),
    )


def _words(*names: str, null: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Text(), nullable=null) for name in names]


def _moment(*names: str, null: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.DateTime(timezone=True), nullable=null) for name in names]


def _number(*names: str, null: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Integer(), nullable=null) for name in names]


def _flag(*names: str, null: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Boolean(), nullable=null) for name in names]


def _data(*names: str, null: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.LargeBinary(), nullable=null) for name in names]


def _part_of(what: str, column: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [what], ondelete="CASCADE")


def _points_to(what: str, column: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [what], ondelete="SET NULL")
