"""Conversations and their messages. All is asked for with the user it must belong to: another's is as good as none."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, case, delete, select, tuple_, update

from domain.errors import NotFoundError
from domain.model import Model
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.row_ids import new_id
from server.storage.rows.conversations import ConversationRow, MessageRow
from server.storage.rows.runs import InputRow, RunRow

Speaker = Literal["user", "assistant"]
_TITLE = 80
"""Characters of the first question that are a conversation's title where it was given none."""
_WAITS = (
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


class Conversations:
    """The conversations of a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, user_id: str, title: str = "") -> Conversation:
        at = self._clock()
        row = ConversationRow(
            id=new_id(), user_id=user_id, title=title, title_key=title.casefold(), created_at=at, updated_at=at
        )
        async with self._database.writing(single=True) as session:
            session.add(row)
        return _conversation(row)

    async def get(self, conversation_id: str, user_id: str) -> Conversation | None:
        async with self._database.reading() as session:
            found = await session.execute(select(ConversationRow, _WAITS).where(_owned(conversation_id, user_id)))
            row = found.one_or_none()
            return _conversation(*row) if row else None

    async def page(
        self, user_id: str, *, search: str = "", before: Conversation | None = None, limit: int = 50
    ) -> list[Conversation]:
        """The latest first, those after ``before`` in that order. ``search``: words in the title or in what was said, in any case."""
        row = ConversationRow
        statement = select(row, _WAITS).where(row.user_id == user_id)
        if wanted := search.casefold().strip():
            said = select(MessageRow.conversation_id).where(MessageRow.text_key.contains(wanted, autoescape=True))
            statement = statement.where(row.title_key.contains(wanted, autoescape=True) | row.id.in_(said))
        if before is not None:
            statement = statement.where(tuple_(row.updated_at, row.id) < tuple_(before.updated_at, before.id))
        async with self._database.reading() as session:
            found = await session.execute(statement.order_by(row.updated_at.desc(), row.id.desc()).limit(limit))
            return [_conversation(*one) for one in found]

    async def rename(self, conversation_id: str, user_id: str, title: str) -> Conversation:
        """``NotFoundError``: this user has no such conversation."""
        new = {"title": title, "title_key": title.casefold(), "updated_at": self._clock()}
        change = update(ConversationRow).where(_owned(conversation_id, user_id)).values(new)
        async with self._database.writing() as session:
            if (row := await session.scalar(change.returning(ConversationRow))) is None:
                raise _none()
            waits = await session.scalar(select(_WAITS).where(ConversationRow.id == conversation_id))
            return _conversation(row, waits)

    async def remove(self, conversation_id: str, user_id: str) -> bool:
        """With its messages, runs and their events. Whether it was there."""
        gone = delete(ConversationRow).where(_owned(conversation_id, user_id)).returning(ConversationRow.id)
        async with self._database.writing(single=True) as session:
            return await session.scalar(gone) is not None

    async def say(
        self, conversation_id: str, user_id: str, speaker: Speaker, text: str, run_id: str | None = None
    ) -> Message:
        """Add a message to the end. ``NotFoundError``: this user has no such conversation."""
        at = self._clock()
        row = MessageRow(
            id=new_id(),
            conversation_id=conversation_id,
            speaker=speaker,
            text=text,
            text_key=text.casefold(),
            run_id=run_id,
            created_at=at,
        )
        touch = update(ConversationRow).where(_owned(conversation_id, user_id)).values(updated_at=at)
        async with self._database.writing() as session:
            if await session.scalar(touch.returning(ConversationRow.id)) is None:
                raise _none()
            session.add(row)
        return _message(row)

    async def messages(
        self, conversation_id: str, user_id: str, *, after: str = "", limit: int = 1000
    ) -> list[Message]:
        """In order, those after the message with an id. ``NotFoundError``: this user has no such conversation."""
        async with self._database.reading() as session:
            if await session.scalar(select(ConversationRow.id).where(_owned(conversation_id, user_id))) is None:
                raise _none()
            chosen = (MessageRow.conversation_id == conversation_id) & (MessageRow.id > after)
            rows = await session.scalars(select(MessageRow).where(chosen).order_by(MessageRow.id).limit(limit))
            return [_message(row) for row in rows]


def _owned(conversation_id: str, user_id: str) -> ColumnElement[bool]:
    return (ConversationRow.id == conversation_id) & (ConversationRow.user_id == user_id)


def _none() -> NotFoundError:
    return NotFoundError("there is no such conversation")


def _conversation(row: ConversationRow, waits: object = None) -> Conversation:
    return Conversation(
        id=row.id, title=row.title, created_at=row.created_at, updated_at=row.updated_at, waits=bool(waits)
    )


def _message(row: MessageRow) -> Message:
    return Message.model_validate({name: getattr(row, name) for name in Message.model_fields})


def message_values(run_id: str, speaker: Speaker, text: str, at: datetime) -> dict[str, Any]:
    """The columns of a message that was said with a run, but for its conversation."""
    return {
        "id": new_id(),
        "speaker": speaker,
        "text": text,
        "text_key": text.casefold(),
        "run_id": run_id,
        "created_at": at,
    }


def titled(request: str) -> dict[str, Any]:
    """The title of a conversation that has none: what is asked in it."""
    row, title = ConversationRow, " ".join(request.split())[:_TITLE]
    none = row.title == ""
    return {
        "title": case((none, title), else_=row.title),
        "title_key": case((none, title.casefold()), else_=row.title_key),
    }
