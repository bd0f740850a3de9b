"""A conversation as one document, sent as it is read: however long it is, little of it is held at a time."""

from collections.abc import AsyncGenerator

from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from domain.event import EventRecord
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems
from server.routes.conversations import own_conversation
from server.routes.router import operations
from server.routes.runs import ShownRun, shown
from server.routes.texts import RowId
from server.storage.conversations import Conversation, KeptFile, Message
from server.storage.database import run_to_completion
from server.storage.runs import ListedRun
from server.storage.storage import Storage
from server.token_scopes import by_token

router = operations("/conversations", tag="conversations", responses=problems(401))
_PAGE = 200
_EVENTS = 10
"""Fewer at a time than of others: an event may hold a megabyte."""


class ExportedRun(ShownRun):
    events: list[EventRecord]


class Export(BaseModel):
    """All of a conversation: what was said, the files that were given with it, and every run with its events, the oldest first."""

    conversation: Conversation
    files: list[KeptFile]
    messages: list[Message]
    runs: list[ExportedRun]


@router.get(
    "/{conversation_id}/export",
    summary="All of it in one document",
    response_model=Export,
    responses=problems(404),
)
@by_token("read")
async def export_conversation(
    conversation_id: RowId, user: CurrentUser, services: CurrentServices
) -> StreamingResponse:
    found = await own_conversation(conversation_id, user.id, services)
    return StreamingResponse(_document(found, user.id, services.storage), media_type="application/json")


async def _document(conversation: Conversation, user_id: str, storage: Storage) -> AsyncGenerator[str]:
    """In pieces, the fields in the order of :class:`Export`."""
    yield f'{{"conversation":{conversation.model_dump_json()},"files":['
    async for piece in _separated(_files(conversation.id, user_id, storage)):
        yield piece
    yield '],"messages":['
    async for piece in _separated(_messages(conversation.id, user_id, storage)):
        yield piece
    yield '],"runs":['
    first = True
    async for run, last in _runs(conversation.id, user_id, storage):
        yield f'{"" if first else ","}{shown(run, last).model_dump_json()[:-1]},"events":['
        first = False
        async for piece in _separated(_events(run.id, storage)):
            yield piece
        yield "]}"
    yield "]}"


async def _separated(items: AsyncGenerator[str]) -> AsyncGenerator[str]:
    first = True
    async for item in items:
        yield item if first else f",{item}"
        first = False


async def _files(conversation_id: str, user_id: str, storage: Storage) -> AsyncGenerator[str]:
    """One at a time: each may hold a megabyte."""
    for one in await run_to_completion(storage.files.list_ids(conversation_id, user_id)):
        for file in await run_to_completion(storage.files.list_all(conversation_id, user_id, [one])):
            yield file.model_dump_json()


async def _messages(conversation_id: str, user_id: str, storage: Storage) -> AsyncGenerator[str]:
    after = ""
    while page := await run_to_completion(
        storage.conversations.list_messages(conversation_id, user_id, after=after, limit=_PAGE)
    ):
        for message in page:
            yield message.model_dump_json()
        after = page[-1].id


async def _runs(conversation_id: str, user_id: str, storage: Storage) -> AsyncGenerator[tuple[ListedRun, int]]:
    """Each with the number of its last event."""
    after = ""
    while page := await run_to_completion(
        storage.runs.list_in_order(user_id, conversation_id, after=after, limit=_PAGE)
    ):
        last = await run_to_completion(storage.events.find_last_numbers([run.id for run in page]))
        for run in page:
            yield run, last.get(run.id, 0)
        after = page[-1].id


async def _events(run_id: str, storage: Storage) -> AsyncGenerator[str]:
    """As they are stored, which is JSON."""
    after = 0
    while page := await run_to_completion(storage.events.list_after(run_id, after, _EVENTS)):
        for event in page:
            yield event.body
        after = page[-1].seq
