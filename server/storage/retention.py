"""Events that nobody needs any more are removed: of runs that ended long ago, and that no run under way can refer to."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import ColumnElement, delete, exists, select
from sqlalchemy.orm import Session, aliased

from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.conversations import ConversationRow
from server.storage.rows.runs import EventRow, RunRow

LAST = "run.finished"
"""The event that stays: it holds the answer, and who follows the run is told by it that it has ended."""


class Retention:
    """Of a database. The runs themselves stay, with what was said in their conversations."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def ended(self, before: timedelta, limit: int = 1000) -> list[str]:
        """Runs that ended so long ago and have more than their last event, the first to end first."""
        long_ago = (RunRow.status == "finished") & (RunRow.finished_at < self._clock() - before)
        more = exists().where(EventRow.run_id == RunRow.id, EventRow.seq == 1, EventRow.kind != LAST)
        chosen = select(RunRow.id).where(long_ago, more, _nothing_under_way()).order_by(RunRow.finished_at).limit(limit)
        return await self._database.read(lambda session: list(session.scalars(chosen)))

    async def remove_events(self, run_ids: Sequence[str]) -> int:
        """Remove all events of these runs but their last; how many. A run that came into a conversation meanwhile keeps what it may refer to."""
        talks = select(RunRow.conversation_id).where(RunRow.id.in_(run_ids))
        held = select(ConversationRow.id).where(ConversationRow.id.in_(talks)).order_by(ConversationRow.id)
        still = select(RunRow.id).where(RunRow.id.in_(run_ids), _nothing_under_way())
        gone = delete(EventRow).where(EventRow.run_id.in_(still), EventRow.kind != LAST).returning(EventRow.seq)

        def removed(session: Session) -> int:
            session.scalars(held.with_for_update()).all()  # who asks for a run in one of them waits
            return len(session.scalars(gone, execution_options={"synchronize_session": False}).all())

        return await self._database.write(removed)


def _nothing_under_way() -> ColumnElement[bool]:
    """In the conversation of a run: one that goes on, or waits, sees what earlier ones have found each time that it is taken up."""
    other = aliased(RunRow)
    under_way = other.status.in_(("queued", "running", "waiting"))
    return ~exists().where(other.conversation_id == RunRow.conversation_id, under_way)
