"""The events of runs, numbered from 1 without gaps. What was appended is never changed, but for a lesson that waited: what was learnt takes its place."""

from collections.abc import AsyncIterator, Sequence

from sqlalchemy import func, insert, select

from domain.model import Model
from server.storage.database import Database
from server.storage.rows.runs import EventRow, RunRow


class StoredEvent(Model):
    """``body``: the event's record as JSON text, to be sent as it is."""

    run_id: str
    seq: int
    kind: str
    body: str


class RunEvents:
    """The events of a database's runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def append(self, events: Sequence[StoredEvent], *, durable: bool = False) -> None:
        """Write them in one statement: all or none.

        Raises ``ConflictError`` where a number is taken (another worker has this run now) or the run is gone.
        """
        if not events:
            return
        rows = [event.model_dump() for event in events]
        await self._database.write(
            lambda session: session.execute(insert(EventRow), rows), durable=durable, single=True
        )

    async def after(self, run_id: str, seq: int = 0, limit: int = 500) -> list[StoredEvent]:
        """In order, those after number ``seq``."""
        chosen = (EventRow.run_id == run_id) & (EventRow.seq > seq)
        statement = select(EventRow).where(chosen).order_by(EventRow.seq).limit(limit)
        return await self._database.read(lambda session: [event_of(row) for row in session.scalars(statement)])

    async def pages(self, run_id: str, size: int = 500) -> AsyncIterator[list[StoredEvent]]:
        """All of a run's events in order, ``size`` at a time."""
        after = 0
        while page := await self.after(run_id, after, size):
            yield page
            after = page[-1].seq

    async def of_run(self, run_id: str, kinds: Sequence[str]) -> list[StoredEvent]:
        """A run's events of these kinds, in order."""
        chosen = (EventRow.run_id == run_id) & EventRow.kind.in_(kinds)
        statement = select(EventRow).where(chosen).order_by(EventRow.seq)
        return await self._database.read(lambda session: [event_of(row) for row in session.scalars(statement)])

    async def last(self, run_ids: Sequence[str]) -> dict[str, int]:
        """The greatest number of each of these runs; those without events are left out."""
        chosen = select(EventRow.run_id, func.max(EventRow.seq)).where(EventRow.run_id.in_(run_ids))
        async with self._database.reading() as session:
            return {row[0]: row[1] for row in await session.execute(chosen.group_by(EventRow.run_id))}

    async def of_conversation(self, conversation_id: str, kinds: Sequence[str]) -> list[StoredEvent]:
        """Events of these kinds in all runs of a conversation, the oldest run first."""
        chosen = (RunRow.conversation_id == conversation_id) & EventRow.kind.in_(kinds)
        statement = select(EventRow).join(RunRow, RunRow.id == EventRow.run_id).where(chosen)
        async with self._database.reading() as session:
            rows = await session.scalars(statement.order_by(EventRow.run_id, EventRow.seq))
            return [event_of(row) for row in rows]


def event_of(row: EventRow) -> StoredEvent:
    """The event in a row."""
    return StoredEvent(run_id=row.run_id, seq=row.seq, kind=row.kind, body=row.body)
