"""The ledger of effects: a call is recorded before it is made, so that it is never made twice.

After a crash, an entry without an end is a call whose effect is unknown.
"""

from datetime import datetime

from pydantic import Field
from sqlalchemy import delete, select, update

from domain.model import JsonObject
from domain.plan import CallOutcome
from server.storage.repository import Repository, StoredModel, to_model
from server.storage.rows.runs import EffectRow


class NewEffect(StoredModel):
    """A call that is about to be made."""

    run_id: str
    call_key: str
    """Identifies the call within its run; the same when the run is resumed."""
    tool: str
    method: str
    idempotent: bool
    arguments: JsonObject = Field(default_factory=dict)
    result: JsonObject | None = None
    """Where the call goes and, once it has ended, the parts of the response that are stored."""


class Effect(NewEffect):
    """A recorded call."""

    started_at: datetime
    finished_at: datetime | None = None
    """None where the call was started and its end is unknown."""
    outcome: CallOutcome | None = None


class Effects(Repository):
    """Ledger of effects: a call is recorded before it is made, so that it is never made twice.

    After a crash, an entry without an end is a call whose effect is unknown.
    """

    async def begin(self, effect: NewEffect) -> Effect | None:
        """Record a call, on disk when this returns.

        Return None where the call may be made, or the existing entry of one that must not be repeated.
        """
        row = EffectRow(started_at=self._clock(), **effect.model_dump())
        async with self._database.write_session(durable=True) as session:
            # The run's row is not locked: two that begin the same call meet in the primary key.
            if existing := await session.get(EffectRow, (effect.run_id, effect.call_key)):
                return to_model(Effect, existing)
            session.add(row)
        return None

    async def finish(self, run_id: str, call_key: str, outcome: CallOutcome, result: JsonObject) -> bool:
        """Record how a call ended, once. Return False where it has no unfinished entry."""
        unfinished = (EffectRow.run_id == run_id) & (EffectRow.call_key == call_key) & EffectRow.finished_at.is_(None)
        change = update(EffectRow).where(unfinished).values(finished_at=self._clock(), outcome=outcome, result=result)
        async with self._database.write_session(durable=True, single=True) as session:
            return await session.scalar(change.returning(EffectRow.call_key)) is not None

    async def remove_open(self, run_id: str, call_key: str) -> None:
        """Remove the unfinished entry of a call of which nothing was sent, so that it may be made again."""
        unfinished = (EffectRow.run_id == run_id) & (EffectRow.call_key == call_key) & EffectRow.finished_at.is_(None)
        async with self._database.write_session(durable=True, single=True) as session:
            await session.execute(delete(EffectRow).where(unfinished))

    async def get(self, run_id: str, call_key: str) -> Effect | None:
        """Return a run's entry for a call."""
        async with self._database.read_session() as session:
            row = await session.get(EffectRow, (run_id, call_key))
            return to_model(Effect, row) if row else None

    async def list_all(self, run_id: str) -> list[Effect]:
        """List a run's entries in the order in which the calls were started."""
        statement = select(EffectRow).where(EffectRow.run_id == run_id)
        async with self._database.read_session() as session:
            rows = await session.scalars(statement.order_by(EffectRow.started_at, EffectRow.call_key))
            return [to_model(Effect, row) for row in rows]
