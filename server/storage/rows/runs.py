"""Tables of conversations, their runs, and the templates that are made from runs."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.table_base import JsonText, TableRow


class ConversationRow(TableRow):
    """A conversation of one user."""

    __tablename__ = "conversations"
    __table_args__ = (Index(None, "user_id", "updated_at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    title: Mapped[str]
    title_key: Mapped[str]
    """The title as it is searched."""
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class MessageRow(TableRow):
    """A message of a conversation. Ids rise and give the order."""

    __tablename__ = "messages"
    __table_args__ = (Index(None, "conversation_id", "id"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"))
    speaker: Mapped[str]
    """user or assistant."""
    text: Mapped[str]
    text_key: Mapped[str]
    """The text as it is searched."""
    run_id: Mapped[str | None] = mapped_column(ForeignKey("runs.id", ondelete="SET NULL"), index=True)
    created_at: Mapped[datetime]


class FileRow(TableRow):
    """A file that was given with a question."""

    __tablename__ = "conversation_files"
    __table_args__ = (UniqueConstraint("conversation_id", "variable"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"))
    variable: Mapped[str]
    """Its name in programs, unique in the conversation."""
    bytes: Mapped[int]
    """The size of the file as it was sent."""
    file: Mapped[dict[str, Any]] = mapped_column(JsonText)
    """The file as programs read it, with its columns."""
    created_at: Mapped[datetime]


class RunRow(TableRow):
    """One turn of a conversation."""

    __tablename__ = "runs"
    __table_args__ = (
        Index(None, "status", "lease_until"),
        Index(None, "status", "user_id", "id"),
        Index(None, "finished_at"),
        Index(None, "user_id", "created_at"),
        Index(None, "user_id", "id"),
        ForeignKeyConstraint(
            ["template_id", "template_version"],
            ["template_versions.template_id", "template_versions.version"],
            name="fk_runs_template",
            ondelete="SET NULL",
        ),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"), index=True)
    request: Mapped[str]
    status: Mapped[str]
    outcome: Mapped[str | None]
    policy: Mapped[str]
    planner: Mapped[str]
    model: Mapped[str]
    settings: Mapped[dict[str, Any]] = mapped_column(JsonText)
    """Choices besides planner, policy and model."""
    plan: Mapped[dict[str, Any] | None] = mapped_column(JsonText)
    """The plan as it was last edited."""
    plan_version: Mapped[int]
    """Counts edits of the plan."""
    usage: Mapped[dict[str, Any] | None] = mapped_column(JsonText)
    """Tokens, calls and cost; until now, while the run waits."""
    rerun_of: Mapped[str | None] = mapped_column(ForeignKey("runs.id", ondelete="SET NULL"), index=True)
    template_id: Mapped[str | None]
    template_version: Mapped[int | None]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    cancel_at: Mapped[datetime | None]
    cancel_why: Mapped[str | None]
    """Why it is to end, where its user did not ask for that."""
    session_id: Mapped[str | None]
    """The session in which it was started. No foreign key: old sessions are deleted."""
    worker: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    """Until when ``worker`` holds it."""
    not_before: Mapped[datetime | None]
    """Postponed until then, since a store was not reachable."""
    tried_until: Mapped[datetime | None]
    """When a postponed run is given up."""
    verdict: Mapped[str | None]
    """The user's verdict on the answer."""
    verdict_note: Mapped[str] = mapped_column(default="", server_default="")
    verdict_changes: Mapped[int] = mapped_column(default=0, server_default="0")
    """How often the verdict was set."""


class EventRow(TableRow):
    """An event of a run."""

    __tablename__ = "run_events"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    """Counts from 1 without gaps."""
    kind: Mapped[str]
    body: Mapped[str]
    """The event's record as JSON text, exactly as it was sent."""


class RunToolRow(TableRow):
    """How often a run has called a tool; written when the run ends, and kept when its events are deleted."""

    __tablename__ = "run_tools"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    tool: Mapped[str] = mapped_column(primary_key=True)
    calls: Mapped[int]


class LessonRow(TableRow):
    """A run that has ended and whose lesson could not be learned, since a store was not reachable.

    Its events hold the lesson. Deleted when it has been learned.
    """

    __tablename__ = "waiting_lessons"
    __table_args__ = (Index(None, "turn_at", "run_id"),)

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    kept_at: Mapped[datetime]
    turn_at: Mapped[datetime]
    """The earliest is learned first; later than ``kept_at`` where a lesson has failed and lets others go first."""
    tries: Mapped[int] = mapped_column(default=0, server_default="0")
    worker: Mapped[str | None]
    lease_until: Mapped[datetime | None]


class SharedAnswerRow(TableRow):
    """A link by which other users see the answer of a run."""

    __tablename__ = "shared_answers"

    id: Mapped[str] = mapped_column(primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), index=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    secret_hash: Mapped[str] = mapped_column(unique=True)
    """SHA-256 of the secret in the link."""
    with_calls: Mapped[bool]
    """The calls of the run are visible, too."""
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class InputRow(TableRow):
    """A question that a run waits with: a plan or a call to approve, an unknown effect to judge, or a question.

    Answered once.
    """

    __tablename__ = "run_inputs"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    question: Mapped[Any] = mapped_column(JsonText)
    asked_at: Mapped[datetime]
    answer: Mapped[Any | None] = mapped_column(JsonText)
    answered_at: Mapped[datetime | None]


class EffectRow(TableRow):
    """A call, recorded before it is made. Without ``finished_at`` its effect is unknown."""

    __tablename__ = "effects"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    call_key: Mapped[str] = mapped_column(primary_key=True)
    """Identifies the call within its run; the same when the run is resumed."""
    tool: Mapped[str]
    method: Mapped[str]
    idempotent: Mapped[bool]
    arguments: Mapped[dict[str, Any]] = mapped_column(JsonText)
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    outcome: Mapped[str | None]
    result: Mapped[dict[str, Any] | None] = mapped_column(JsonText)


class TemplateRow(TableRow):
    """A workflow template."""

    __tablename__ = "templates"
    __table_args__ = (UniqueConstraint("user_id", "name"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str]
    description: Mapped[str]
    shared: Mapped[bool]
    """Everyone who is logged in may run it."""
    version: Mapped[int]
    """The latest version."""
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class TemplateVersionRow(TableRow):
    """A version of a template. Never changed once written."""

    __tablename__ = "template_versions"

    template_id: Mapped[str] = mapped_column(ForeignKey("templates.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    parameters: Mapped[dict[str, Any]] = mapped_column(JsonText)
    """Name to JSON Schema."""
    plan: Mapped[dict[str, Any]] = mapped_column(JsonText)
    note: Mapped[str]
    run_id: Mapped[str | None]
    """The run that it was made from. No foreign key: the run may be deleted."""
    created_at: Mapped[datetime]


class TemplatePinRow(TableRow):
    """The version of another user's template that a user has reviewed and runs."""

    __tablename__ = "template_takes"
    __table_args__ = (
        ForeignKeyConstraint(
            ["template_id", "version"],
            ["template_versions.template_id", "template_versions.version"],
            ondelete="CASCADE",
        ),
    )

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    template_id: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int]
    taken_at: Mapped[datetime]
