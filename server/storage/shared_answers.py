"""Links by which other users of the server see what a run answered, until they expire or are taken back."""

from datetime import datetime, timedelta

from sqlalchemy import delete, select

from domain.errors import ConflictError, NotFoundError
from domain.model import Model
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.row_ids import new_id
from server.storage.rows.accounts import UserRow
from server.storage.rows.runs import RunRow, SharedAnswerRow
from server.storage.secret_tokens import hash_of, new_secret

MOST = 100
"""Of a user at one time."""


class SharedAnswer(Model):
    """``request``: of its run."""

    id: str
    run_id: str
    request: str
    with_calls: bool
    created_at: datetime
    expires_at: datetime


class Opened(Model):
    """What a link leads to. ``owner``: the name of who shares it."""

    shared: SharedAnswer
    user_id: str
    owner: str


class SharedAnswers:
    """Those of a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, user_id: str, run_id: str, days: int, *, with_calls: bool) -> tuple[SharedAnswer, str]:
        """A new one and its secret, which is not kept; what has expired goes.

        Raises:
            NotFoundError: this user has no such run. ConflictError: it has not ended, or too many are shared.
        """
        secret, at = new_secret("fps"), self._clock()
        mine = SharedAnswerRow.user_id == user_id
        async with self._database.writing() as session:
            run = await session.get(RunRow, run_id)
            if run is None or run.user_id != user_id:
                raise NotFoundError("there is no such run")
            if run.finished_at is None:
                raise ConflictError("the run has not ended; share it when it has")
            await session.execute(delete(SharedAnswerRow).where(mine, SharedAnswerRow.expires_at <= at))
            if len((await session.scalars(select(SharedAnswerRow.id).where(mine).limit(MOST))).all()) == MOST:
                raise ConflictError(f"you share {MOST} answers already; take one back first")
            row = SharedAnswerRow(
                id=new_id(), run_id=run_id, user_id=user_id, secret_hash=hash_of(secret), with_calls=with_calls,
                created_at=at, expires_at=at + timedelta(days=days),
            )  # fmt: skip
            session.add(row)
            await session.flush()
            return _shared(row, run.request), secret

    async def all(self, user_id: str) -> list[SharedAnswer]:
        """A user's that count, the newest first."""
        counting = (SharedAnswerRow.user_id == user_id) & (SharedAnswerRow.expires_at > self._clock())
        chosen = select(SharedAnswerRow, RunRow.request).join(RunRow, RunRow.id == SharedAnswerRow.run_id)
        listed = chosen.where(counting).order_by(SharedAnswerRow.id.desc())
        return await self._database.read(
            lambda session: [_shared(row, request) for row, request in session.execute(listed)]
        )

    async def remove(self, user_id: str, shared_id: str) -> bool:
        """Take one of this user's back. Whether it was there."""
        mine = (SharedAnswerRow.user_id == user_id) & (SharedAnswerRow.id == shared_id)
        async with self._database.writing(single=True) as session:
            gone = delete(SharedAnswerRow).where(mine).returning(SharedAnswerRow.id)
            return await session.scalar(gone) is not None

    async def opened(self, secret: str) -> Opened:
        """What a link leads to. ``NotFoundError``: it never was, has expired, was taken back, or its owner may not log in."""
        good = (SharedAnswerRow.secret_hash == hash_of(secret)) & (SharedAnswerRow.expires_at > self._clock())
        chosen = (
            select(SharedAnswerRow, RunRow.request, UserRow.name)
            .join(RunRow, RunRow.id == SharedAnswerRow.run_id)
            .join(UserRow, UserRow.id == SharedAnswerRow.user_id)
            .where(good, UserRow.disabled_at.is_(None))
        )
        found = await self._database.read(lambda session: session.execute(chosen).one_or_none())
        if found is None:
            raise NotFoundError(
                "this link leads nowhere any more: it has expired or was taken back; ask who gave it to you for another"
            )
        row, request, name = found
        return Opened(shared=_shared(row, request), user_id=row.user_id, owner=name)


def _shared(row: SharedAnswerRow, request: str) -> SharedAnswer:
    kept = {name: getattr(row, name) for name in SharedAnswer.model_fields if name != "request"}
    return SharedAnswer.model_validate({**kept, "request": request})
