"""Conversations with their messages, the files given with them, and links to their answers."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, case, delete, func, select, tuple_, update

from domain.errors import ConflictError, NotFoundError
from domain.given_file import GivenFile
from domain.model import Model
from server.storage.identifiers import generate_id, generate_secret, hash_secret
from server.storage.repository import Repository, to_model
from server.storage.rows.accounts import UserRow
from server.storage.rows.runs import ConversationRow, FileRow, InputRow, MessageRow, RunRow, SharedAnswerRow

Speaker = Literal["user", "assistant"]
_TITLE_LENGTH = 80
"""Characters of the first question that are a conversation's title where it was given none."""
_HAS_OPEN_QUESTION = (
    select(InputRow.key)
    .join(RunRow, RunRow.id == InputRow.run_id)
    .where(RunRow.conversation_id == ConversationRow.id, RunRow.status != "finished", InputRow.answered_at.is_(None))
    .correlate(ConversationRow)
    .exists()
)


class Conversation(Model):
    """``updated_at``: when something was last said or it was renamed. ``waits``: a run of it waits for what its user has to say."""

    id: str
    title: str
    created_at: datetime
    updated_at: datetime
    waits: bool = False


class Message(Model):
    """What was said. ``run_id``: the run that it started or that answered with it."""

    id: str
    speaker: Speaker
    text: str
    run_id: str | None
    created_at: datetime


class Conversations(Repository):
    """The conversations of a database."""

    async def add(self, user_id: str, title: str = "") -> Conversation:
        at = self._clock()
        row = ConversationRow(
            id=generate_id(), user_id=user_id, title=title, title_key=title.casefold(), created_at=at, updated_at=at
        )
        async with self._database.write_session(single=True) as session:
            session.add(row)
        return _to_conversation(row)

    async def get(self, conversation_id: str, user_id: str) -> Conversation | None:
        async with self._database.read_session() as session:
            found = await session.execute(
                select(ConversationRow, _HAS_OPEN_QUESTION).where(_is_owned(conversation_id, user_id))
            )
            row = found.one_or_none()
            return _to_conversation(*row) if row else None

    async def list_page(
        self, user_id: str, *, search: str = "", before: Conversation | None = None, limit: int = 50
    ) -> list[Conversation]:
        """The latest first, those after ``before`` in that order. ``search``: words in the title or in what was said, in any case."""
        row = ConversationRow
        statement = select(row, _HAS_OPEN_QUESTION).where(row.user_id == user_id)
        if wanted := search.casefold().strip():
            said = select(MessageRow.conversation_id).where(MessageRow.text_key.contains(wanted, autoescape=True))
            statement = statement.where(row.title_key.contains(wanted, autoescape=True) | row.id.in_(said))
        if before is not None:
            statement = statement.where(tuple_(row.updated_at, row.id) < tuple_(before.updated_at, before.id))
        async with self._database.read_session() as session:
            found = await session.execute(statement.order_by(row.updated_at.desc(), row.id.desc()).limit(limit))
            return [_to_conversation(*one) for one in found]

    async def rename(self, conversation_id: str, user_id: str, title: str) -> Conversation:
        """``NotFoundError``: this user has no such conversation."""
        new = {"title": title, "title_key": title.casefold(), "updated_at": self._clock()}
        change = update(ConversationRow).where(_is_owned(conversation_id, user_id)).values(new)
        async with self._database.write_session() as session:
            if (row := await session.scalar(change.returning(ConversationRow))) is None:
                raise _no_conversation()
            waits = await session.scalar(select(_HAS_OPEN_QUESTION).where(ConversationRow.id == conversation_id))
            return _to_conversation(row, waits)

    async def remove(self, conversation_id: str, user_id: str) -> bool:
        """With its messages, runs and their events. Whether it was there."""
        gone = delete(ConversationRow).where(_is_owned(conversation_id, user_id)).returning(ConversationRow.id)
        async with self._database.write_session(single=True) as session:
            return await session.scalar(gone) is not None

    async def add_message(
        self, conversation_id: str, user_id: str, speaker: Speaker, text: str, run_id: str | None = None
    ) -> Message:
        """Add a message to the end. ``NotFoundError``: this user has no such conversation."""
        at = self._clock()
        row = MessageRow(
            id=generate_id(),
            conversation_id=conversation_id,
            speaker=speaker,
            text=text,
            text_key=text.casefold(),
            run_id=run_id,
            created_at=at,
        )
        touch = update(ConversationRow).where(_is_owned(conversation_id, user_id)).values(updated_at=at)
        async with self._database.write_session() as session:
            if await session.scalar(touch.returning(ConversationRow.id)) is None:
                raise _no_conversation()
            session.add(row)
        return to_model(Message, row)

    async def list_messages(
        self, conversation_id: str, user_id: str, *, after: str = "", limit: int = 1000
    ) -> list[Message]:
        """In order, those after the message with an id. ``NotFoundError``: this user has no such conversation."""
        async with self._database.read_session() as session:
            if await session.scalar(select(ConversationRow.id).where(_is_owned(conversation_id, user_id))) is None:
                raise _no_conversation()
            chosen = (MessageRow.conversation_id == conversation_id) & (MessageRow.id > after)
            rows = await session.scalars(select(MessageRow).where(chosen).order_by(MessageRow.id).limit(limit))
            return [to_model(Message, row) for row in rows]


def _is_owned(conversation_id: str, user_id: str) -> ColumnElement[bool]:
    return (ConversationRow.id == conversation_id) & (ConversationRow.user_id == user_id)


def _no_conversation() -> NotFoundError:
    return NotFoundError("there is no such conversation")


def _to_conversation(row: ConversationRow, waits: object = None) -> Conversation:
    return Conversation(
        id=row.id, title=row.title, created_at=row.created_at, updated_at=row.updated_at, waits=bool(waits)
    )


def build_message_values(run_id: str, speaker: Speaker, text: str, at: datetime) -> dict[str, Any]:
    """The columns of a message that was said with a run, but for its conversation."""
    return {
        "id": generate_id(),
        "speaker": speaker,
        "text": text,
        "text_key": text.casefold(),
        "run_id": run_id,
        "created_at": at,
    }


def build_title_values(request: str) -> dict[str, Any]:
    """The title of a conversation that has none: what is asked in it."""
    row, title = ConversationRow, " ".join(request.split())[:_TITLE_LENGTH]
    none = row.title == ""
    return {
        "title": case((none, title), else_=row.title),
        "title_key": case((none, title.casefold()), else_=row.title_key),
    }


MAX_FILES = 20
"""Files of a conversation."""


class KeptFile(Model):
    """``file``: with its id. ``bytes``: as it was sent."""

    file: GivenFile
    bytes: int
    created_at: datetime


class ConversationFiles(Repository):
    """Those of a database."""

    async def add(
        self, conversation_id: str, user_id: str, size: int, read: Callable[[Collection[str]], GivenFile]
    ) -> KeptFile:
        """``read``: the file, given the variables that it may not have.

        Raises:
            NotFoundError: this user has no such conversation. ConflictError: it has very many files.
        """
        owned = (ConversationRow.id == conversation_id) & (ConversationRow.user_id == user_id)
        async with self._database.write_session() as session:
            found = await session.scalar(select(ConversationRow.id).where(owned).with_for_update())
            if found is None:
                raise NotFoundError("there is no such conversation")
            there = select(FileRow.variable).where(FileRow.conversation_id == conversation_id)
            taken = list(await session.scalars(there))
            if len(taken) >= MAX_FILES:
                raise ConflictError(
                    f"a conversation has {MAX_FILES} files at most; remove one, or begin another conversation"
                )
            file = read(taken).model_copy(update={"id": generate_id()})
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

    async def list_all(self, conversation_id: str, user_id: str, ids: Collection[str] | None = None) -> list[KeptFile]:
        """A conversation's, in the order in which they were given. ``ids``: only these."""
        statement = _select_owned_files(conversation_id, user_id).order_by(FileRow.created_at, FileRow.id)
        if ids is not None:
            statement = statement.where(FileRow.id.in_(ids))
        return await self._database.read(lambda session: [_to_stored_file(row) for row in session.scalars(statement)])

    async def list_ids(self, conversation_id: str, user_id: str) -> list[str]:
        """Of a conversation's, in the order in which they were given."""
        chosen = (
            _select_owned_files(conversation_id, user_id)
            .with_only_columns(FileRow.id)
            .order_by(FileRow.created_at, FileRow.id)
        )
        return await self._database.read(lambda session: list(session.scalars(chosen)))

    async def load_files(self, conversation_id: str, user_id: str, ids: Sequence[str]) -> list[GivenFile]:
        """These, in this order. ``NotFoundError``: one of them is not there, or not any more."""
        found = {one.file.id: one.file for one in await self.list_all(conversation_id, user_id, ids)} if ids else {}
        if len(found) != len(set(ids)):
            raise NotFoundError("a file that this goes over is not there (any more): give it again, and ask anew")
        return [found[one] for one in dict.fromkeys(ids)]

    async def remove(self, file_id: str, conversation_id: str, user_id: str) -> None:
        """Raises:
        NotFoundError: there is none. ConflictError: a run of the conversation has not ended, which may go over it.
        """
        under_way = select(func.count()).where(RunRow.conversation_id == conversation_id, RunRow.status != "finished")
        async with self._database.write_session() as session:
            row = await session.scalar(_select_owned_files(conversation_id, user_id).where(FileRow.id == file_id))
            if row is None:
                raise NotFoundError("there is no such file")
            if await session.scalar(under_way):
                raise ConflictError("a run of this conversation is under way; wait for its end, or cancel it")
            await session.execute(delete(FileRow).where(FileRow.id == file_id))


def _select_owned_files(conversation_id: str, user_id: str) -> Select[FileRow]:
    owned = (ConversationRow.id == conversation_id) & (ConversationRow.user_id == user_id)
    return select(FileRow).join(ConversationRow, ConversationRow.id == FileRow.conversation_id).where(owned)


def _to_stored_file(row: FileRow) -> KeptFile:
    return KeptFile(file=GivenFile.model_validate(row.file), bytes=row.bytes, created_at=row.created_at)


MAX_SHARED_ANSWERS = 100
"""Of a user at one time."""


class SharedAnswer(Model):
    """``request``: of its run."""

    id: str
    run_id: str
    request: str
    with_calls: bool
    created_at: datetime
    expires_at: datetime


class OpenedSharedAnswer(Model):
    """What a link leads to. ``owner``: the name of who shares it."""

    shared: SharedAnswer
    user_id: str
    owner: str


class SharedAnswers(Repository):
    """Those of a database."""

    async def add(self, user_id: str, run_id: str, days: int, *, with_calls: bool) -> tuple[SharedAnswer, str]:
        """A new one and its secret, which is not kept; what has expired goes.

        Raises:
            NotFoundError: this user has no such run. ConflictError: it has not ended, or too many are shared.
        """
        secret, at = generate_secret("fps"), self._clock()
        mine = SharedAnswerRow.user_id == user_id
        async with self._database.write_session() as session:
            run = await session.get(RunRow, run_id)
            if run is None or run.user_id != user_id:
                raise NotFoundError("there is no such run")
            if run.finished_at is None:
                raise ConflictError("the run has not ended; share it when it has")
            await session.execute(delete(SharedAnswerRow).where(mine, SharedAnswerRow.expires_at <= at))
            if (
                len((await session.scalars(select(SharedAnswerRow.id).where(mine).limit(MAX_SHARED_ANSWERS))).all())
                == MAX_SHARED_ANSWERS
            ):
                raise ConflictError(f"you share {MAX_SHARED_ANSWERS} answers already; take one back first")
            row = SharedAnswerRow(
                id=generate_id(), run_id=run_id, user_id=user_id, secret_hash=hash_secret(secret), with_calls=with_calls,
                created_at=at, expires_at=at + timedelta(days=days),
            )  # fmt: skip
            session.add(row)
            await session.flush()
            return _to_shared_answer(row, run.request), secret

    async def list_all(self, user_id: str) -> list[SharedAnswer]:
        """A user's that count, the newest first."""
        counting = (SharedAnswerRow.user_id == user_id) & (SharedAnswerRow.expires_at > self._clock())
        chosen = select(SharedAnswerRow, RunRow.request).join(RunRow, RunRow.id == SharedAnswerRow.run_id)
        listed = chosen.where(counting).order_by(SharedAnswerRow.id.desc())
        return await self._database.read(
            lambda session: [_to_shared_answer(row, request) for row, request in session.execute(listed)]
        )

    async def remove(self, user_id: str, shared_id: str) -> bool:
        """Take one of this user's back. Whether it was there."""
        mine = (SharedAnswerRow.user_id == user_id) & (SharedAnswerRow.id == shared_id)
        async with self._database.write_session(single=True) as session:
            gone = delete(SharedAnswerRow).where(mine).returning(SharedAnswerRow.id)
            return await session.scalar(gone) is not None

    async def open_link(self, secret: str) -> OpenedSharedAnswer:
        """What a link leads to. ``NotFoundError``: it never was, has expired, was taken back, or its owner may not log in."""
        good = (SharedAnswerRow.secret_hash == hash_secret(secret)) & (SharedAnswerRow.expires_at > self._clock())
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
        return OpenedSharedAnswer(shared=_to_shared_answer(row, request), user_id=row.user_id, owner=name)


def _to_shared_answer(row: SharedAnswerRow, request: str) -> SharedAnswer:
    return to_model(SharedAnswer, row, request=request)
