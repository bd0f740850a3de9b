"""All of a conversation as one document, written as it is read: it may be longer than what should lie in memory at once."""

from collections.abc import AsyncGenerator, AsyncIterator

from pydantic import BaseModel

from domain.event import EventRecord
from server.routes.runs import ShownRun, shown
from server.storage.conversations import Conversation, Message
from server.storage.runs import ListedRun
from server.storage.storage import Storage

_PAGE = 200


class ExportedRun(ShownRun):
    events: list[EventRecord]


class Export(BaseModel):
    """All of a conversation: what was said, and every run with its events, the oldest first."""

    conversation: Conversation
    messages: list[Message]
    runs: list[ExportedRun]


async def exported(conversation: Conversation, user_id: str, storage: Storage) -> AsyncGenerator[str]:
    """The text of an :class:`Export`, in pieces. Events are passed on as they are stored, unread."""
    yield f'{{"conversation":{conversation.model_dump_json()},"messages":['
    before = ""
    async for message in _messages(conversation.id, user_id, storage):
        yield before + message.model_dump_json()
        before = ","
    yield '],"runs":['
    before = ""
    for run in await _runs(conversation.id, user_id, storage):
        last = (await storage.events.last([run.id])).get(run.id, 0)
        yield before + shown(run, last).model_dump_json().removesuffix("}") + ',"events":['
        async for body in _events(run.id, storage):
            yield body
        yield "]}"
        before = ","
    yield "]}"


async def _messages(conversation_id: str, user_id: str, storage: Storage) -> AsyncIterator[Message]:
    after = ""
    while page := await storage.conversations.messages(conversation_id, user_id, after=after, limit=_PAGE):
        for message in page:
            yield message
        after = page[-1].id


async def _runs(conversation_id: str, user_id: str, storage: Storage) -> list[ListedRun]:
    """The oldest first."""
    found: list[ListedRun] = []
    while page := await storage.runs.page(
        user_id, conversation_id=conversation_id, before=found[-1].id if found else "", limit=_PAGE
    ):
        found += page
    return found[::-1]


async def _events(run_id: str, storage: Storage) -> AsyncIterator[str]:
    after = 0
    while page := await storage.events.after(run_id, after, _PAGE):
        for event in page:
            yield event.body if after == 0 and event is page[0] else "," + event.body
        after = page[-1].seq
