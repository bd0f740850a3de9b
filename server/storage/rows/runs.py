"""Tables of conversations, their runs, and the templates that are made from runs."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import JsonText, TableRow


class ConversationRow(TableRow):
    """``title_key``: the title as it is searched."""

    __tablename__ = "conversations"
    __table_args__ = (Index(None, "user_id", "updated_at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    title: Mapped[str]
    title_key: Mapped[str]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class MessageRow(TableRow):
    """``speaker``: user or assistant. Ids rise, and give the order. ``text_key``: the text as it is searched."""

    __tablename__ = "messages"
    __table_args__ = (Index(None, "conversation_id", "id"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"))
    speaker: Mapped[str]
    text: Mapped[str]
    text_key: Mapped[str]
    run_id: Mapped[str | None] = mapped_column(ForeignKey("runs.id", ondelete="SET NULL"), index=True)
    created_at: Mapped[datetime]


class FileRow(TableRow):
    """``variable``: as programs call it, each of its own in a conversation. ``file``: what programs find of it, with its columns; ``bytes``: as it was sent."""

    __tablename__ = "conversation_files"
    __table_args__ = (UniqueConstraint("conversation_id", "variable"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"))
    variable: Mapped[str]
    bytes: Mapped[int]
    file: Mapped[dict[str, Any]] = mapped_column(JsonText)
    created_at: Mapped[datetime]


class RunRow(TableRow):
    """One turn. ``worker`` holds it until ``lease_until``; ``plan``: as it was last edited, its ``plan_version`` counting edits.

    ``not_before``: put back because a store was out of reach, it is not taken until then; ``tried_until``: when it is given up.
    ``session_id``: in which it was asked for; ``cancel_why``: why it is to be ended, where its user did not ask for that.
    ``verdict``: what its user says of the answer, with ``verdict_note``; ``verdict_changes`` counts how often that was said.
    ``settings``: what was chosen for this run beside planner, policy and model. ``usage``: tokens, calls, cost; while it waits, until then.
    """

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
    plan: Mapped[dict[str, Any] | None] = mapped_column(JsonText)
    plan_version: Mapped[int]
    usage: Mapped[dict[str, Any] | None] = mapped_column(JsonText)
    rerun_of: Mapped[str | None] = mapped_column(ForeignKey("runs.id", ondelete="SET NULL"), index=True)
    template_id: Mapped[str | None]
    template_version: Mapped[int | None]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    cancel_at: Mapped[datetime | None]
    cancel_why: Mapped[str | None]
    session_id: Mapped[str | None]
    worker: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    not_before: Mapped[datetime | None]
    tried_until: Mapped[datetime | None]
    verdict: Mapped[str | None]
    verdict_note: Mapped[str] = mapped_column(default="", server_default="")
    verdict_changes: Mapped[int] = mapped_column(default=0, server_default="0")


class EventRow(TableRow):
    """``body``: the event's record as JSON text, kept as it was sent. ``seq`` counts from 1."""

    __tablename__ = "run_events"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str]
    body: Mapped[str]


class RunToolRow(TableRow):
    """A tool that a run has called, and how often; written with the run's end, and kept when its events are removed."""

    __tablename__ = "run_tools"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    tool: Mapped[str] = mapped_column(primary_key=True)
    calls: Mapped[int]


class LessonRow(TableRow):
    """What an ended run would have taught, had a store not been out of reach; its events say what. Removed when it has been learnt."""

    __tablename__ = "waiting_lessons"
    __table_args__ = (Index(None, "turn_at", "run_id"),)

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    kept_at: Mapped[datetime]
    turn_at: Mapped[datetime]
    """Those with the earliest are learnt first; later than ``kept_at`` for one that has failed and let others go first."""
    tries: Mapped[int] = mapped_column(default=0, server_default="0")
    worker: Mapped[str | None]
    lease_until: Mapped[datetime | None]


class SharedAnswerRow(TableRow):
    """A link by which other users see what a run answered. ``secret_hash``: SHA-256 of what stands in the link; ``with_calls``: what its calls sent and
    got is seen, too.
    """

    __tablename__ = "shared_answers"

    id: Mapped[str] = mapped_column(primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), index=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    secret_hash: Mapped[str] = mapped_column(unique=True)
    with_calls: Mapped[bool]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class InputRow(TableRow):
    """A question that a run waits with: a plan to approve, a call to allow, an unknown outcome to judge. Answered once."""

    __tablename__ = "run_inputs"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    question: Mapped[Any] = mapped_column(JsonText)
    asked_at: Mapped[datetime]
    answer: Mapped[Any | None] = mapped_column(JsonText)
    answered_at: Mapped[datetime | None]


class EffectRow(TableRow):
    """A call that is about to be made, written before it; ``finished_at`` and ``outcome`` after. Without them: nobody knows."""

    __tablename__ = "effects"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    call_key: Mapped[str] = mapped_column(primary_key=True)
    tool: Mapped[str]
    method: Mapped[str]
    idempotent: Mapped[bool]
    arguments: Mapped[dict[str, Any]] = mapped_column(JsonText)
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    outcome: Mapped[str | None]
    result: Mapped[dict[str, Any] | None] = mapped_column(JsonText)


class TemplateRow(TableRow):
    """``shared``: everyone who is logged in may run it. ``version``: the latest."""

    __tablename__ = "templates"
    __table_args__ = (UniqueConstraint("user_id", "name"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str]
    description: Mapped[str]
    shared: Mapped[bool]
    version: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class TemplateVersionRow(TableRow):
    """Never changed once written. ``parameters``: name to JSON Schema. ``run_id``: the run it was made from, if it is still there."""

    __tablename__ = "template_versions"

    template_id: Mapped[str] = mapped_column(ForeignKey("templates.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    parameters: Mapped[dict[str, Any]] = mapped_column(JsonText)
    plan: Mapped[dict[str, Any]] = mapped_column(JsonText)
    note: Mapped[str]
    run_id: Mapped[str | None]
    created_at: Mapped[datetime]


class TemplatePinRow(TableRow):
    """The version of another's template that a user has looked at and runs, until they take another."""

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
