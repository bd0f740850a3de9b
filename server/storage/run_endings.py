"""Runs that end because of what becomes of their user: asked for within the transaction that decides on it."""

from datetime import datetime

from sqlalchemy import ColumnElement, case, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from server.storage.rows.runs import RunRow
from server.storage.rows.workflows import TemplateRow


async def end_runs(session: AsyncSession, chosen: ColumnElement[bool], why: str, at: datetime) -> None:
    """Ask for the end of those that have not ended. Waiting ones are queued for it; ``why`` is told as their error."""
    still_open = (RunRow.status != "finished") & RunRow.cancel_at.is_(None)
    status = case((RunRow.status == "waiting", "queued"), else_=RunRow.status)
    await session.execute(update(RunRow).where(chosen, still_open).values(cancel_at=at, cancel_why=why, status=status))


async def end_runs_of_others(session: AsyncSession, owner_id: str, why: str, at: datetime) -> None:
    """Those that others have made from templates of a user who may not share any more."""
    theirs = RunRow.template_id.in_(select(TemplateRow.id).where(TemplateRow.user_id == owner_id))
    await end_runs(session, theirs & (RunRow.user_id != owner_id), why, at)
