"""Workflow templates: good runs with names for what may differ."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, ForeignKeyConstraint, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import Json, Row


class TemplateRow(Row):
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


class TemplateVersionRow(Row):
    """Never changed once written. ``parameters``: name to JSON Schema. ``run_id``: the run it was made from, if it is still there."""

    __tablename__ = "template_versions"

    template_id: Mapped[str] = mapped_column(ForeignKey("templates.id", ondelete="CASCADE"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    parameters: Mapped[dict[str, Any]] = mapped_column(Json)
    plan: Mapped[dict[str, Any]] = mapped_column(Json)
    note: Mapped[str]
    run_id: Mapped[str | None]
    created_at: Mapped[datetime]


class TemplateTakeRow(Row):
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
