"""The ledger of effects: a call is written down before it is made, so that nobody makes it twice.

After a crash, an entry without an end is a call of which nobody knows whether it had its effect.
"""

from datetime import datetime

from pydantic import Field
from sqlalchemy import delete, select, update

from domain.model import JsonObject, Model
from domain.plan import CallOutcome
from server.storage.repository import Repository, to_model
from server.storage.rows.runs import EffectRow


class NewEffect(Model):
    """A call that is about to be made. ``call_key`` names it within its run, the same when the run is resumed.

    ``result``: where the call goes, and, once it has ended, what was told of the answer.
    """

    run_id: str
    call_key: str
    tool: str
    method: str
    idempotent: bool
    arguments: JsonObject = Field(default_factory=dict)
    result: JsonObject | None = None


class Effect(NewEffect):
    """``finished_at`` None: it was begun and nobody knows how it ended."""

    started_at: datetime
    finished_at: datetime | None = None
    outcome: CallOutcome | None = None


class Effects(Repository):
    """The ledger of a database."""

    async def begin(self, effect: NewEffect) -> Effect | None:
        """Write it down, on the disk when this returns. None: go on; otherwise what is there already: do not call again."""
        row = EffectRow(started_at=self._clock(), **effect.model_dump())
        async with self._database.write_session(durable=True) as session:
            # The run's row is not locked: two that begin the same call meet in the primary key.
            if there := await session.get(EffectRow, (effect.run_id, effect.call_key)):
                return to_model(Effect, there)
            session.add(row)
        return None

    async def finish(self, run_id: str, call_key: str, outcome: CallOutcome, result: JsonObject) -> bool:
        """Write down how it ended, once. False: it was not open."""
        chosen = (EffectRow.run_id == run_id) & (EffectRow.call_key == call_key) & EffectRow.finished_at.is_(None)
        ended = update(EffectRow).where(chosen).values(finished_at=self._clock(), outcome=outcome, result=result)
        async with self._database.write_session(durable=True, single=True) as session:
            return await session.scalar(ended.returning(EffectRow.call_key)) is not None

    async def remove_open(self, run_id: str, call_key: str) -> None:
        """Remove an entry that is open, of a call of which nothing was sent: it may be begun anew."""
        chosen = (EffectRow.run_id == run_id) & (EffectRow.call_key == call_key) & EffectRow.finished_at.is_(None)
        async with self._database.write_session(durable=True, single=True) as session:
            await session.execute(delete(EffectRow).where(chosen))

    async def get(self, run_id: str, call_key: str) -> Effect | None:
        """A run's entry for a call."""
        async with self._database.read_session() as session:
            row = await session.get(EffectRow, (run_id, call_key))
            return to_model(Effect, row) if row else None

    async def list_all(self, run_id: str) -> list[Effect]:
        """A run's entries in the order they were begun."""
        statement = select(EffectRow).where(EffectRow.run_id == run_id)
        async with self._database.read_session() as session:
            rows = await session.scalars(statement.order_by(EffectRow.started_at, EffectRow.call_key))
            return [to_model(Effect, row) for row in rows]
