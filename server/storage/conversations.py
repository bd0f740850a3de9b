"""Conversations with their messages, the files given with them, and links to their answers."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, case, delete, func, select, tuple_, update

from domain.errors import ConflictError, NotFoundError
from domain.given_file import GivenFile
from server.storage.identifiers import generate_id, generate_secret, hash_secret
from server.storage.repository import Repository, StoredModel, to_model
from server.storage.rows.accounts import UserRow
from server.storage.rows.runs import ConversationRow, FileRow, InputRow, MessageRow, RunRow, SharedAnswerRow

Speaker = Literal["user", "assistant"]
_TITLE_LENGTH = 80
"""Characters of the first request that become the title of an untitled conversation."""
_HAS_OPEN_QUESTION = (
    select(InputRow.key)
    .join(RunRow, RunRow.id == InputRow.run_id)
    .where(RunRow.conversation_id == ConversationRow.id, RunRow.status != "finished", InputRow.answered_at.is_(None))
    .correlate(ConversationRow)
    .exists()
)


class Conversation(StoredModel):
    """A conversation of one user."""

    id: str
    title: str
    created_at: datetime
    updated_at: datetime
    """When the last message was added, or it was renamed."""
    waits: bool = False
    """One of its runs waits for an answer of the user."""


class Message(StoredModel):
    """A message of the user, or an answer of the assistant."""

    id: str
    speaker: Speaker
    text: str
    run_id: str | None
    """The run that the message started, or whose answer it is."""
    created_at: datetime


class Conversations(Repository):
    """Stores conversations and their messages. Another user's conversation is treated as missing."""

    async def add(self, user_id: str, title: str = "") -> Conversation:
        """Add a conversation."""
        at = self._clock()
        row = ConversationRow(
            id=generate_id(), user_id=user_id, title=title, title_key=title.casefold(), created_at=at, updated_at=at
        )
        async with self._database.write_session(single=True) as session:
            session.add(row)
        return _to_conversation(row)

    async def get(self, conversation_id: str, user_id: str) -> Conversation | None:
        """Return one of this user's conversations."""
        async with self._database.read_session() as session:
            result = await session.execute(
                select(ConversationRow, _HAS_OPEN_QUESTION).where(_is_owned(conversation_id, user_id))
            )
            row = result.one_or_none()
            return _to_conversation(*row) if row else None

    async def list_page(
        self, user_id: str, *, search: str = "", before: Conversation | None = None, limit: int = 50
    ) -> list[Conversation]:
        """List conversations, the most recently updated first, starting after ``before`` in that order.

        ``search`` is looked for in titles and messages, ignoring case.
        """
        row = ConversationRow
        statement = select(row, _HAS_OPEN_QUESTION).where(row.user_id == user_id)
        if words := search.casefold().strip():
            mentioning = select(MessageRow.conversation_id).where(MessageRow.text_key.contains(words, autoescape=True))
            statement = statement.where(row.title_key.contains(words, autoescape=True) | row.id.in_(mentioning))
        if before is not None:
            statement = statement.where(tuple_(row.updated_at, row.id) < tuple_(before.updated_at, before.id))
        async with self._database.read_session() as session:
            rows = await session.execute(statement.order_by(row.updated_at.desc(), row.id.desc()).limit(limit))
            return [_to_conversation(*pair) for pair in rows]

    async def rename(self, conversation_id: str, user_id: str, title: str) -> Conversation:
        """Rename a conversation.

        Raises:
            NotFoundError: this user has no such conversation.
        """
        new = {"title": title, "title_key": title.casefold(), "updated_at": self._clock()}
        change = update(ConversationRow).where(_is_owned(conversation_id, user_id)).values(new)
        async with self._database.write_session() as session:
            if (row := await session.scalar(change.returning(ConversationRow))) is None:
                raise _build_no_conversation_error()
            waits = await session.scalar(select(_HAS_OPEN_QUESTION).where(ConversationRow.id == conversation_id))
            return _to_conversation(row, waits)

    async def remove(self, conversation_id: str, user_id: str) -> bool:
        """Delete a conversation with its messages, runs and events; return whether there was one."""
        removal = delete(ConversationRow).where(_is_owned(conversation_id, user_id)).returning(ConversationRow.id)
        async with self._database.write_session(single=True) as session:
            return await session.scalar(removal) is not None

    async def add_message(
        self, conversation_id: str, user_id: str, speaker: Speaker, text: str, run_id: str | None = None
    ) -> Message:
        """Append a message.

        Raises:
            NotFoundError: this user has no such conversation.
        """
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
                raise _build_no_conversation_error()
            session.add(row)
        return to_model(Message, row)

    async def list_messages(
        self, conversation_id: str, user_id: str, *, after: str = "", limit: int = 1000
    ) -> list[Message]:
        """List messages in order, starting after the id ``after``.

        Raises:
            NotFoundError: this user has no such conversation.
        """
        async with self._database.read_session() as session:
            if await session.scalar(select(ConversationRow.id).where(_is_owned(conversation_id, user_id))) is None:
                raise _build_no_conversation_error()
            later = (MessageRow.conversation_id == conversation_id) & (MessageRow.id > after)
            rows = await session.scalars(select(MessageRow).where(later).order_by(MessageRow.id).limit(limit))
            return [to_model(Message, row) for row in rows]


def _is_owned(conversation_id: str, user_id: str) -> ColumnElement[bool]:
    return (ConversationRow.id == conversation_id) & (ConversationRow.user_id == user_id)


def _build_no_conversation_error() -> NotFoundError:
    return NotFoundError("there is no such conversation")


def _to_conversation(row: ConversationRow, waits: object = None) -> Conversation:
    return Conversation(
        id=row.id, title=row.title, created_at=row.created_at, updated_at=row.updated_at, waits=bool(waits)
    )


def build_message_values(run_id: str, speaker: Speaker, text: str, at: datetime) -> dict[str, Any]:
    """Return the columns of a message that belongs to a run, except its conversation."""
    return {
        "id": generate_id(),
        "speaker": speaker,
        "text": text,
        "text_key": text.casefold(),
        "run_id": run_id,
        "created_at": at,
    }


def build_title_values(request: str) -> dict[str, Any]:
    """Return the title columns of a conversation: the request, where it has no title yet."""
    row, title = ConversationRow, " ".join(request.split())[:_TITLE_LENGTH]
    untitled = row.title == ""
    return {
        "title": case((untitled, title), else_=row.title),
        "title_key": case((untitled, title.casefold()), else_=row.title_key),
    }


MAX_FILES = 20
"""Files of one conversation."""


class KeptFile(StoredModel):
    """A file that was given with a question."""

    file: GivenFile
    bytes: int
    """The size of the file as it was sent."""
    created_at: datetime


class ConversationFiles(Repository):
    """Stores files given with questions. Another user's conversation is treated as missing."""

    async def add(
        self, conversation_id: str, user_id: str, size: int, read: Callable[[Collection[str]], GivenFile]
    ) -> KeptFile:
        """Add a file, which ``read`` builds given the variable names already in use.

        Raises:
            NotFoundError: this user has no such conversation.
            ConflictError: it has the maximum number of files.
        """
        owned = (ConversationRow.id == conversation_id) & (ConversationRow.user_id == user_id)
        async with self._database.write_session() as session:
            owned_id = await session.scalar(select(ConversationRow.id).where(owned).with_for_update())
            if owned_id is None:
                raise NotFoundError("there is no such conversation")
            variables = select(FileRow.variable).where(FileRow.conversation_id == conversation_id)
            used_names = list(await session.scalars(variables))
            if len(used_names) >= MAX_FILES:
                raise ConflictError(
                    f"a conversation has {MAX_FILES} files at most; remove one, or begin another conversation"
                )
            file = read(used_names).model_copy(update={"id": generate_id()})
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
        """List a conversation's files in the order in which they were added, or only those with the given ids."""
        statement = _select_owned_files(conversation_id, user_id).order_by(FileRow.created_at, FileRow.id)
        if ids is not None:
            statement = statement.where(FileRow.id.in_(ids))
        return await self._database.read(lambda session: [_to_stored_file(row) for row in session.scalars(statement)])

    async def list_ids(self, conversation_id: str, user_id: str) -> list[str]:
        """List the ids of a conversation's files in the order in which they were added."""
        statement = (
            _select_owned_files(conversation_id, user_id)
            .with_only_columns(FileRow.id)
            .order_by(FileRow.created_at, FileRow.id)
        )
        return await self._database.read(lambda session: list(session.scalars(statement)))

    async def load_files(self, conversation_id: str, user_id: str, ids: Sequence[str]) -> list[GivenFile]:
        """Return the files with these ids, in this order.

        Raises:
            NotFoundError: one of them does not exist.
        """
        files_by_id = (
            {file.file.id: file.file for file in await self.list_all(conversation_id, user_id, ids)} if ids else {}
        )
        if len(files_by_id) != len(set(ids)):
            raise NotFoundError("a file that this goes over is not there (any more): give it again, and ask anew")
        return [files_by_id[file_id] for file_id in dict.fromkeys(ids)]

    async def remove(self, file_id: str, conversation_id: str, user_id: str) -> None:
        """Delete a file.

        Raises:
            NotFoundError: there is no such file.
            ConflictError: an unfinished run of the conversation may use it.
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
"""Shared answers of one user at a time."""


class SharedAnswer(StoredModel):
    """A link by which other users see the answer of a run."""

    id: str
    run_id: str
    request: str
    """The request of the run."""
    with_calls: bool
    """The calls of the run are visible, too."""
    created_at: datetime
    expires_at: datetime


class OpenedSharedAnswer(StoredModel):
    """A shared answer as somebody opens it by its link."""

    shared: SharedAnswer
    user_id: str
    owner: str
    """The name of the user who shares it."""


class SharedAnswers(Repository):
    """Stores links to answers, each valid until it expires or is revoked."""

    async def add(self, user_id: str, run_id: str, days: int, *, with_calls: bool) -> tuple[SharedAnswer, str]:
        """Add a link and return it with its secret, of which only the hash is stored; the user's expired links are
        deleted.

        Raises:
            NotFoundError: this user has no such run.
            ConflictError: the run has not ended, or the user shares too many answers.
        """
        secret, at = generate_secret("fps"), self._clock()
        is_own = SharedAnswerRow.user_id == user_id
        async with self._database.write_session() as session:
            run = await session.get(RunRow, run_id)
            if run is None or run.user_id != user_id:
                raise NotFoundError("there is no such run")
            if run.finished_at is None:
                raise ConflictError("the run has not ended; share it when it has")
            await session.execute(delete(SharedAnswerRow).where(is_own, SharedAnswerRow.expires_at <= at))
            if (
                len((await session.scalars(select(SharedAnswerRow.id).where(is_own).limit(MAX_SHARED_ANSWERS))).all())
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
        """List a user's valid links, the newest first."""
        valid = (SharedAnswerRow.user_id == user_id) & (SharedAnswerRow.expires_at > self._clock())
        statement = select(SharedAnswerRow, RunRow.request).join(RunRow, RunRow.id == SharedAnswerRow.run_id)
        newest_first = statement.where(valid).order_by(SharedAnswerRow.id.desc())
        return await self._database.read(
            lambda session: [_to_shared_answer(row, request) for row, request in session.execute(newest_first)]
        )

    async def remove(self, user_id: str, shared_id: str) -> bool:
        """Revoke one of this user's links and return whether there was one."""
        is_own = (SharedAnswerRow.user_id == user_id) & (SharedAnswerRow.id == shared_id)
        async with self._database.write_session(single=True) as session:
            removal = delete(SharedAnswerRow).where(is_own).returning(SharedAnswerRow.id)
            return await session.scalar(removal) is not None

    async def open_link(self, secret: str) -> OpenedSharedAnswer:
        """Return what a link leads to.

        Raises:
            NotFoundError: the link is unknown, expired or revoked, or its owner is disabled.
        """
        valid = (SharedAnswerRow.secret_hash == hash_secret(secret)) & (SharedAnswerRow.expires_at > self._clock())
        statement = (
            select(SharedAnswerRow, RunRow.request, UserRow.name)
            .join(RunRow, RunRow.id == SharedAnswerRow.run_id)
            .join(UserRow, UserRow.id == SharedAnswerRow.user_id)
            .where(valid, UserRow.disabled_at.is_(None))
        )
        result = await self._database.read(lambda session: session.execute(statement).one_or_none())
        if result is None:
            raise NotFoundError(
                "this link leads nowhere any more: it has expired or was taken back; ask who gave it to you for another"
            )
        row, request, name = result
        return OpenedSharedAnswer(shared=_to_shared_answer(row, request), user_id=row.user_id, owner=name)


def _to_shared_answer(row: SharedAnswerRow, request: str) -> SharedAnswer:
    return to_model(SharedAnswer, row, request=request)
