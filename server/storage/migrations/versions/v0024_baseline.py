"""Every table as of version 0024, the oldest that is brought up to date.

The steps that led here are gone: a database of an earlier version is upgraded by a program that has them first.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, those that others refer to first."""
    _create_accounts()
    _create_keys_and_permissions()
    _create_model_services()
    _create_sources_and_library()
    _create_templates()
    _create_conversations_and_runs()
    _create_administration()


def _create_accounts() -> None:
    op.create_table(
        "users",
        *_text("id", "name", "name_key", "password_hash", "role"),
        *_time("created_at"),
        *_time("disabled_at", nullable=True),
        *_text("language", nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name_key"),
    )
    op.create_table(
        "invitations",
        *_text("id", "secret_hash", "role", "note"),
        *_text("created_by", nullable=True),
        *_time("created_at", "expires_at"),
        *_time("used_at", nullable=True),
        *_text("used_by", nullable=True),
        _refers_to("created_by", "users.id"),
        _refers_to("used_by", "users.id"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("secret_hash"),
    )
    op.create_index(None, "invitations", ["created_by"])
    op.create_index(None, "invitations", ["used_by"])
    op.create_table(
        "password_resets",
        *_text("secret_hash", "user_id"),
        *_time("created_at", "expires_at"),
        _belongs_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("secret_hash"),
    )
    op.create_index(None, "password_resets", ["user_id"])
    op.create_table(
        "sessions",
        *_text("id", "user_id", "label"),
        *_time("created_at", "expires_at"),
        *_time("revoked_at", nullable=True),
        *_text("revoked_why", nullable=True),
        sa.Column("program", sa.Boolean(), nullable=False, server_default=sa.false()),
        _belongs_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(None, "sessions", ["expires_at"])
    op.create_index(None, "sessions", ["user_id"])
    op.create_table(
        "tokens",
        *_text("hash", "session_id", "kind"),
        *_time("created_at", "expires_at"),
        *_time("used_at", nullable=True),
        _belongs_to("session_id", "sessions.id"),
        sa.PrimaryKeyConstraint("hash"),
    )
    op.create_index(None, "tokens", ["expires_at"])
    op.create_index(None, "tokens", ["session_id"])
    op.create_table(
        "login_attempts",
        *_text("key"),
        *_integer("failures"),
        *_time("last_at"),
        *_time("locked_until", nullable=True),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index(None, "login_attempts", ["last_at"])
    op.create_table(
        "login_places",
        *_text("user_id", "place"),
        *_time("last_at"),
        _belongs_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("user_id", "place"),
    )
    op.create_table(
        "user_limits",
        *_text("user_id"),
        *_integer("runs", nullable=True),
        *_bigint("tokens", nullable=True),
        *_double("cost", nullable=True),
        _belongs_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("user_id"),
    )
    op.create_table(
        "user_days",
        *_text("user_id"),
        *_date("day"),
        *_integer("runs"),
        *_bigint("prompt_tokens", "completion_tokens"),
        *_integer("model_calls", default="0"),
        *_double("cost", nullable=True),
        _belongs_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("user_id", "day"),
    )
    op.create_index(None, "user_days", ["day"])


def _create_keys_and_permissions() -> None:
    op.create_table(
        "vault_keys",
        # Numbered by the vault; PostgreSQL would count on its own otherwise.
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        *_text("fingerprint"),
        *_time("noted_at"),
        sa.PrimaryKeyConstraint("version"),
    )
    op.create_table(
        "tool_keys",
        *_text("user_id", "name", "hosts"),
        *_integer("key_version"),
        *_binary("sealed"),
        *_time("updated_at"),
        *_text("grant", nullable=True),
        *_text("lapsed", "turn", default=""),
        *_time("fresh_until", "turn_until", nullable=True),
        _belongs_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("user_id", "name"),
    )
    op.create_index(None, "tool_keys", ["key_version"])
    op.create_table(
        "key_consents",
        *_text("state_hash", "user_id", "shelf", "owner_id", "name"),
        *_integer("key_version"),
        *_binary("sealed"),
        *_time("expires_at"),
        _belongs_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("state_hash"),
    )
    op.create_index(None, "key_consents", ["expires_at"])
    op.create_index(None, "key_consents", ["owner_id"])
    op.create_index(None, "key_consents", ["user_id"])
    op.create_table(
        "allowed_tools",
        *_text("user_id", "tool"),
        *_time("created_at"),
        *_text("address", "method", "source", default=""),
        *_text("origins", default="[]"),
        _belongs_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("user_id", "tool"),
    )
    op.create_table(
        "flows",
        *_text("user_id", "source", "target"),
        *_boolean("allowed"),
        *_time("decided_at"),
        _belongs_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("user_id", "source", "target"),
    )


def _create_model_services() -> None:
    op.create_table(
        "model_services",
        *_text("id", "kind", "name", "name_key", "provider", "address"),
        *_boolean("own_network"),
        *_text("model", "parameters"),
        *_double("price_prompt", "price_completion", nullable=True),
        *_boolean("online"),
        *_text("tested", nullable=True),
        *_time("tested_at", nullable=True),
        *_integer("version"),
        *_time("created_at"),
        *_text("created_by"),
        *_time("changed_at"),
        *_text("changed_by"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name_key"),
    )
    op.create_table(
        "model_keys",
        *_text("service_id", "name", "hosts"),
        *_integer("key_version"),
        *_binary("sealed"),
        *_time("updated_at"),
        *_text("grant", nullable=True),
        *_time("fresh_until", nullable=True),
        *_text("lapsed", "turn", default=""),
        *_time("turn_until", nullable=True),
        _belongs_to("service_id", "model_services.id"),
        sa.PrimaryKeyConstraint("service_id", "name"),
    )
    op.create_index(None, "model_keys", ["key_version"])
    op.create_table(
        "model_purposes",
        *_text("purpose", "service_id"),
        _belongs_to("service_id", "model_services.id"),
        sa.PrimaryKeyConstraint("purpose"),
    )
    op.create_index(None, "model_purposes", ["service_id"])


def _create_sources_and_library() -> None:
    op.create_table(
        "sources",
        *_text("id"),
        *_text("author_id", nullable=True),
        *_text(
            "name",
            "kind",
            "category",
            "toolset",
            "address",
            "command",
            "base_url",
            "visibility",
            "roles",
            "users",
            "keys_of",
            "trouble",
            "notes",
            "credentials",
            "changes",
            "check_trouble",
        ),
        *_integer("watch_minutes", "version", "checked", "to_check"),
        *_time("created_at"),
        *_time("read_at", "checked_at", "removed_at", "check_until", "watch_at", nullable=True),
        *_text("check_worker", nullable=True),
        _refers_to("author_id", "users.id"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(None, "sources", ["author_id"])
    op.create_index(None, "sources", ["check_worker"])
    op.create_index(None, "sources", ["watch_at"])
    op.create_table(
        "source_keys",
        *_text("source_id", "name", "hosts"),
        *_integer("key_version"),
        *_binary("sealed"),
        *_time("updated_at"),
        *_text("grant", nullable=True),
        *_text("lapsed", "turn", default=""),
        *_time("fresh_until", "turn_until", nullable=True),
        _belongs_to("source_id", "sources.id"),
        sa.PrimaryKeyConstraint("source_id", "name"),
    )
    op.create_index(None, "source_keys", ["key_version"])
    op.create_table(
        "source_readings",
        *_text("source_id"),
        *_integer("version"),
        *_text("digest"),
        *_binary("raw", nullable=True),
        *_text("documents", "skipped"),
        *_time("at"),
        _belongs_to("source_id", "sources.id"),
        sa.PrimaryKeyConstraint("source_id", "version"),
    )
    op.create_table(
        "source_steps",
        *_text("id", "source_id"),
        *_time("at"),
        *_text("user_id", nullable=True),
        *_text("who", "what", "tools", "reason"),
        *_boolean("by_admin"),
        *_text("before", nullable=True),
        *_boolean("undone"),
        _belongs_to("source_id", "sources.id"),
        _refers_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(None, "source_steps", ["source_id"])
    op.create_index(None, "source_steps", ["user_id"])
    op.create_table(
        "source_tools",
        *_text("source_id", "tool", "state", "reason", "original", "corrections", "learnt", "findings", "looked_at"),
        *_integer("version"),
        *_text("offer", "offered_as", nullable=True),
        *_boolean("held", "gone"),
        _belongs_to("source_id", "sources.id"),
        sa.PrimaryKeyConstraint("source_id", "tool"),
    )
    op.create_index(None, "source_tools", ["offered_as"], unique=True)
    op.create_table(
        "tool_marks",
        *_text("id", "tool", "kind", "target", "mark", "reason", "sources"),
        *_text("by_id", nullable=True),
        *_text("by"),
        *_time("at"),
        *_text("place", "field", "entity", default=""),
        *_text("kept", default="{}"),
        _refers_to("by_id", "users.id"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(None, "tool_marks", ["by_id"])
    op.create_index(None, "tool_marks", ["kind", "tool"])
    op.create_index(None, "tool_marks", ["tool"])
    op.create_table(
        "tool_tries",
        *_text("id", "user_id", "tool", "arguments"),
        *_boolean("changes"),
        *_time("started_at"),
        *_time("finished_at", nullable=True),
        *_text("outcome", nullable=True),
        *_integer("http_status", nullable=True),
        *_text("response"),
        *_integer("whole"),
        *_text("note"),
        *_integer("milliseconds"),
        *_text("key", nullable=True),
        _belongs_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(None, "tool_tries", ["user_id", "key"], unique=True)
    op.create_index(None, "tool_tries", ["user_id", "tool"])


def _create_templates() -> None:
    op.create_table(
        "templates",
        *_text("id", "user_id", "name", "description"),
        *_boolean("shared"),
        *_integer("version"),
        *_time("created_at", "updated_at"),
        _belongs_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("user_id", "name"),
    )
    op.create_table(
        "template_versions",
        *_text("template_id"),
        *_integer("version"),
        *_text("parameters", "plan", "note"),
        *_text("run_id", nullable=True),
        *_time("created_at"),
        _belongs_to("template_id", "templates.id"),
        sa.PrimaryKeyConstraint("template_id", "version"),
    )
    op.create_table(
        "template_takes",
        *_text("user_id", "template_id"),
        *_integer("version"),
        *_time("taken_at"),
        sa.ForeignKeyConstraint(
            ["template_id", "version"],
            ["template_versions.template_id", "template_versions.version"],
            name="fk_template_takes_template_id",
            ondelete="CASCADE",
        ),
        _belongs_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("user_id", "template_id"),
    )


def _create_conversations_and_runs() -> None:
    op.create_table(
        "conversations",
        *_text("id", "user_id", "title", "title_key"),
        *_time("created_at", "updated_at"),
        _belongs_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(None, "conversations", ["user_id", "updated_at"])
    op.create_table(
        "conversation_files",
        *_text("id", "conversation_id", "variable"),
        *_integer("bytes"),
        *_text("file"),
        *_time("created_at"),
        _belongs_to("conversation_id", "conversations.id"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("conversation_id", "variable"),
    )
    op.create_table(
        "runs",
        *_text("id", "user_id", "conversation_id", "request", "status"),
        *_text("outcome", nullable=True),
        *_text("policy", "planner", "model", "settings"),
        *_text("plan", nullable=True),
        *_integer("plan_version"),
        *_text("usage", "rerun_of", "template_id", nullable=True),
        *_integer("template_version", nullable=True),
        *_time("created_at"),
        *_time("started_at", "finished_at", "cancel_at", nullable=True),
        *_text("worker", nullable=True),
        *_time("lease_until", nullable=True),
        *_text("session_id", "cancel_why", nullable=True),
        *_time("not_before", "tried_until", nullable=True),
        *_text("verdict", nullable=True),
        *_text("verdict_note", default=""),
        *_integer("verdict_changes", default="0"),
        _belongs_to("conversation_id", "conversations.id"),
        _refers_to("rerun_of", "runs.id"),
        sa.ForeignKeyConstraint(
            ["template_id", "template_version"],
            ["template_versions.template_id", "template_versions.version"],
            name="fk_runs_template",
            ondelete="SET NULL",
        ),
        _belongs_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(None, "runs", ["conversation_id"])
    op.create_index(None, "runs", ["finished_at"])
    op.create_index(None, "runs", ["rerun_of"])
    op.create_index(None, "runs", ["status", "lease_until"])
    op.create_index(None, "runs", ["status", "user_id", "id"])
    op.create_index(None, "runs", ["user_id", "created_at"])
    op.create_index(None, "runs", ["user_id", "id"])
    op.create_table(
        "run_events",
        *_text("run_id"),
        *_integer("seq"),
        *_text("kind", "body"),
        _belongs_to("run_id", "runs.id"),
        sa.PrimaryKeyConstraint("run_id", "seq"),
    )
    op.create_table(
        "run_inputs",
        *_text("run_id", "key", "kind", "question"),
        *_time("asked_at"),
        *_text("answer", nullable=True),
        *_time("answered_at", nullable=True),
        _belongs_to("run_id", "runs.id"),
        sa.PrimaryKeyConstraint("run_id", "key"),
    )
    op.create_table(
        "run_tools",
        *_text("run_id", "tool"),
        *_integer("calls"),
        _belongs_to("run_id", "runs.id"),
        sa.PrimaryKeyConstraint("run_id", "tool"),
    )
    op.create_table(
        "effects",
        *_text("run_id", "call_key", "tool", "method"),
        *_boolean("idempotent"),
        *_text("arguments"),
        *_time("started_at"),
        *_time("finished_at", nullable=True),
        *_text("outcome", "result", nullable=True),
        _belongs_to("run_id", "runs.id"),
        sa.PrimaryKeyConstraint("run_id", "call_key"),
    )
    op.create_table(
        "messages",
        *_text("id", "conversation_id", "speaker", "text", "text_key"),
        *_text("run_id", nullable=True),
        *_time("created_at"),
        _belongs_to("conversation_id", "conversations.id"),
        _refers_to("run_id", "runs.id"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(None, "messages", ["conversation_id", "id"])
    op.create_index(None, "messages", ["run_id"])
    op.create_table(
        "shared_answers",
        *_text("id", "run_id", "user_id", "secret_hash"),
        *_boolean("with_calls"),
        *_time("created_at", "expires_at"),
        _belongs_to("run_id", "runs.id"),
        _belongs_to("user_id", "users.id"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("secret_hash"),
    )
    op.create_index(None, "shared_answers", ["expires_at"])
    op.create_index(None, "shared_answers", ["run_id"])
    op.create_index(None, "shared_answers", ["user_id"])


def _create_administration() -> None:
    op.create_table(
        "jobs",
        *_text("id", "kind", "home", "state", "wanted", "what", "lines", "trouble", "by"),
        *_text("slot", "result", "by_id", "worker", nullable=True),
        *_integer("done"),
        *_integer("total", nullable=True),
        *_integer("tries"),
        *_time("created_at"),
        *_time("started_at", "finished_at", "cancel_at", "lease_until", nullable=True),
        _refers_to("by_id", "users.id"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(None, "jobs", ["by_id"])
    op.create_index(None, "jobs", ["finished_at"])
    op.create_index(None, "jobs", ["kind", "id"])
    op.create_index(None, "jobs", ["slot"], unique=True)
    op.create_index(None, "jobs", ["state", "lease_until"])
    op.create_table(
        "audit_entries",
        *_text("id"),
        *_time("at"),
        *_text("user_id", "name", "name_key", "role", "via", "label", "operation", "about", "path", "said"),
        *_integer("status", nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(None, "audit_entries", ["at"])
    op.create_index(None, "audit_entries", ["name_key", "id"])
    op.create_index(None, "audit_entries", ["operation", "id"])


def _text(*names: str, nullable: bool = False, default: str | None = None) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Text(), nullable=nullable, server_default=default) for name in names]


def _integer(*names: str, nullable: bool = False, default: str | None = None) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Integer(), nullable=nullable, server_default=default) for name in names]


def _bigint(*names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.BigInteger(), nullable=nullable) for name in names]


def _double(*names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Double(), nullable=nullable) for name in names]


def _boolean(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Boolean(), nullable=False) for name in names]


def _date(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Date(), nullable=False) for name in names]


def _time(*names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.DateTime(timezone=True), nullable=nullable) for name in names]


def _binary(*names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.LargeBinary(), nullable=nullable) for name in names]


def _belongs_to(column: str, owned_by: str) -> sa.ForeignKeyConstraint:
    """Return a reference whose row goes with the row that it refers to."""
    return sa.ForeignKeyConstraint([column], [owned_by], ondelete="CASCADE")


def _refers_to(column: str, target: str) -> sa.ForeignKeyConstraint:
    """Return a reference that becomes empty when the row that it refers to goes."""
    return sa.ForeignKeyConstraint([column], [target], ondelete="SET NULL")
