"""What users have said of values of one host's answers that go to another host."""

from datetime import datetime

from sqlalchemy import delete, select

from domain.model import Model
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.accounts import FlowRow


class HostTransfer(Model):
    """From the host ``source`` to the host ``target``; asked once, and decided until it is taken back."""

    source: str
    target: str
    allowed: bool
    decided_at: datetime


class HostTransfers:
    """The decisions of a database's users."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def all(self, user_id: str) -> list[HostTransfer]:
        """By hosts."""
        statement = select(FlowRow).where(FlowRow.user_id == user_id).order_by(FlowRow.source, FlowRow.target)
        async with self._database.reading() as session:
            return [_flow(row) for row in await session.scalars(statement)]

    async def get(self, user_id: str, source: str, target: str) -> HostTransfer | None:
        """None: this user has not decided."""
        async with self._database.reading() as session:
            row = await session.get(FlowRow, (user_id, source, target))
            return _flow(row) if row else None

    async def decide(self, user_id: str, source: str, target: str, *, allowed: bool) -> None:
        """In place of what was decided before."""
        at = self._clock()
        async with self._database.writing() as session:
            await session.merge(FlowRow(user_id=user_id, source=source, target=target, allowed=allowed, decided_at=at))

    async def forget(self, user_id: str, source: str, target: str) -> bool:
        """Have it asked again. Whether it was decided."""
        chosen = (FlowRow.user_id == user_id) & (FlowRow.source == source) & (FlowRow.target == target)
        async with self._database.writing(single=True) as session:
            return await session.scalar(delete(FlowRow).where(chosen).returning(FlowRow.source)) is not None


def _flow(row: FlowRow) -> HostTransfer:
    return HostTransfer.model_validate({name: getattr(row, name) for name in HostTransfer.model_fields})
