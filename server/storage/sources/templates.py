"""Templates that call a tool."""

from collections.abc import Sequence

from sqlalchemy import Text, select, type_coerce
from sqlalchemy.orm import Session

from domain.model import Model
from domain.tool import ToolId
from server.storage.database import Database
from server.storage.rows.workflows import TemplateRow, TemplateVersionRow


class TemplateUse(Model):
    """``seen``: whoever asks may know of it."""

    name: str
    seen: bool


async def templates_with(
    database: Database, tools: Sequence[ToolId], user_id: str, *, admin: bool
) -> dict[ToolId, list[TemplateUse]]:
    """By tool: those whose latest version names it. An administrator sees what is shared, and everybody their own."""
    latest = (TemplateVersionRow.template_id == TemplateRow.id) & (TemplateVersionRow.version == TemplateRow.version)
    plan = type_coerce(TemplateVersionRow.plan, Text)
    columns = select(TemplateRow.name, TemplateRow.user_id, TemplateRow.shared).join(TemplateVersionRow, latest)

    def found(session: Session) -> dict[ToolId, list[TemplateUse]]:
        uses: dict[ToolId, list[TemplateUse]] = {}
        for tool in tools:
            naming = columns.where(plan.contains(f'"{tool}"', autoescape=True)).order_by(TemplateRow.name)
            uses[tool] = [
                TemplateUse(name=name, seen=owner == user_id or (admin and shared))
                for name, owner, shared in session.execute(naming)
            ]
        return uses

    return await database.read(found)
