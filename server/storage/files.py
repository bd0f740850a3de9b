"""Files that were given with questions. All is asked for with the user whose conversation it must be: another's is as good as none."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from sqlalchemy import Select, delete, func, select

from domain.errors import ConflictError, NotFoundError
from domain.given_file import GivenFile
from domain.model import Model
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.row_ids import new_id
from server.storage.rows.conversations import ConversationRow, FileRow
from server.storage.rows.runs import RunRow

MOST = 20
"""Files of a conversation."""


class KeptFile(Model):
    """``file``: with its id. ``bytes``: as it was sent."""

    file: GivenFile
    bytes: int
    created_at: datetime


class Files:
    """Those of a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(
        self, conversation_id: str, user_id: str, size: int, read: Callable[[Collection[str]], GivenFile]
    ) -> KeptFile:
        """``read``: the file, given the variables that it may not have.

        Raises:
            NotFoundError: this user has no such conversation. ConflictError: it has very many files.
        """
        owned = (ConversationRow.id == conversation_id) & (ConversationRow.user_id == user_id)
        async with self._database.writing() as session:
            found = await session.scalar(select(ConversationRow.id).where(owned).with_for_update())
            if found is None:
                raise NotFoundError("there is no such conversation")
            there = select(FileRow.variable).where(FileRow.conversation_id == conversation_id)
            taken = list(await session.scalars(there))
            if len(taken) >= MOST:
                raise ConflictError(
                    f"a conversation has {MOST} files at most; remove one, or begin another conversation"
                )
            file = read(taken).model_copy(update={"id": new_id()})
            row = FileRow(
                id=file.id,
                conversation_id=conversation_id,
                variable=file.variable,
                bytes=size,
                file=file.model_dump(mode="json"),
                created_at=self._clock(),
            )
            session.add(row)
        return KeptFile(file=file, bytes=size, created_at=row.created_at)

    async def of(self, conversation_id: str, user_id: str, ids: Collection[str] | None = None) -> list[KeptFile]:
        """A conversation's, in the order in which they were given. ``ids``: only these."""
        statement = _of(conversation_id, user_id).order_by(FileRow.created_at, FileRow.id)
        if ids is not None:
            statement = statement.where(FileRow.id.in_(ids))
        return await self._database.read(lambda session: [_kept(row) for row in session.scalars(statement)])

    async def ids(self, conversation_id: str, user_id: str) -> list[str]:
        """Of a conversation's, in the order in which they were given."""
        chosen = _of(conversation_id, user_id).with_only_columns(FileRow.id).order_by(FileRow.created_at, FileRow.id)
        return await self._database.read(lambda session: list(session.scalars(chosen)))

    async def chosen(self, conversation_id: str, user_id: str, ids: Sequence[str]) -> list[GivenFile]:
        """These, in this order. ``NotFoundError``: one of them is not there, or not any more."""
        found = {one.file.id: one.file for one in await self.of(conversation_id, user_id, ids)} if ids else {}
        if len(found) != len(set(ids)):
            raise NotFoundError("a file that this goes over is not there (any more): give it again, and ask anew")
        return [found[one] for one in dict.fromkeys(ids)]

    async def remove(self, file_id: str, conversation_id: str, user_id: str) -> None:
        """Raises:
        NotFoundError: there is none. ConflictError: a run of the conversation has not ended, which may go over it.
        """
        under_way = select(func.count()).where(RunRow.conversation_id == conversation_id, RunRow.status != "finished")
        async with self._database.writing() as session:
            row = await session.scalar(_of(conversation_id, user_id).where(FileRow.id == file_id))
            if row is None:
                raise NotFoundError("there is no such file")
            if await session.scalar(under_way):
                raise ConflictError("a run of this conversation is under way; wait for its end, or cancel it")
            await session.execute(delete(FileRow).where(FileRow.id == file_id))


def _of(conversation_id: str, user_id: str) -> Select[FileRow]:
    owned = (ConversationRow.id == conversation_id) & (ConversationRow.user_id == user_id)
    return select(FileRow).join(ConversationRow, ConversationRow.id == FileRow.conversation_id).where(owned)


def _kept(row: FileRow) -> KeptFile:
    return KeptFile(file=GivenFile.model_validate(row.file), bytes=row.bytes, created_at=row.created_at)
