"""Conversations, what was said in them, and the files that were given with it."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import Json, Row


class ConversationRow(Row):
    """``title_key``: the title as it is searched."""

    __tablename__ = "conversations"
    __table_args__ = (Index(None, "user_id", "updated_at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    title: Mapped[str]
    title_key: Mapped[str]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class MessageRow(Row):
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


class FileRow(Row):
    """``variable``: as programs call it, each of its own in a conversation. ``file``: what programs find of it, with its columns; ``bytes``: as it was sent."""

    __tablename__ = "conversation_files"
    __table_args__ = (UniqueConstraint("conversation_id", "variable"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id", ondelete="CASCADE"))
    variable: Mapped[str]
    bytes: Mapped[int]
    file: Mapped[dict[str, Any]] = mapped_column(Json)
    created_at: Mapped[datetime]
