"""Conversations: made, listed and searched, renamed, exported, removed."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from domain.errors import NotFoundError
from domain.event import EventRecord
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems
from server.routes.runs import ShownRun, shown
from server.routes.texts import Plain, RowId, ShortText
from server.services import Services
from server.storage.conversations import Conversation, Message

router = APIRouter(prefix="/conversations", tags=["conversations"], responses=problems(401))
_PAGE = 200


class ConversationBody(BaseModel):
    title: ShortText = ""


class TitleBody(BaseModel):
    title: ShortText


class ExportedRun(ShownRun):
    events: list[EventRecord]


class Export(BaseModel):
    """All of a conversation: what was said, and every run with its events, the oldest first."""

    conversation: Conversation
    messages: list[Message]
    runs: list[ExportedRun]


@router.post("", status_code=201, summary="Begin a conversation")
async def begin_conversation(body: ConversationBody, user: CurrentUser, services: CurrentServices) -> Conversation:
    return await services.storage.conversations.add(user.id, body.title)


@router.get("", summary="My conversations, the latest first", responses=problems(404))
async def conversations(
    user: CurrentUser,
    services: CurrentServices,
    search: Annotated[str, Query(max_length=200, description="Words in the title or in what was said."), Plain] = "",
    before: RowId | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> list[Conversation]:
    last = await _own(before, user.id, services) if before else None
    return await services.storage.conversations.page(user.id, search=search, before=last, limit=limit)


@router.get("/{conversation_id}", summary="One conversation", responses=problems(404))
async def conversation(conversation_id: RowId, user: CurrentUser, services: CurrentServices) -> Conversation:
    return await _own(conversation_id, user.id, services)


@router.patch("/{conversation_id}", summary="Give it a title", responses=problems(404))
async def rename_conversation(
    conversation_id: RowId, body: TitleBody, user: CurrentUser, services: CurrentServices
) -> Conversation:
    return await services.storage.conversations.rename(conversation_id, user.id, body.title)


@router.delete("/{conversation_id}", status_code=204, summary="Remove it with its runs", responses=problems(404))
async def remove_conversation(conversation_id: RowId, user: CurrentUser, services: CurrentServices) -> None:
    if not await services.storage.conversations.remove(conversation_id, user.id):
        raise NotFoundError("there is no such conversation")


@router.get("/{conversation_id}/messages", summary="What was said, in order", responses=problems(404))
async def messages(
    conversation_id: RowId,
    user: CurrentUser,
    services: CurrentServices,
    after: RowId | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> list[Message]:
    return await services.storage.conversations.messages(conversation_id, user.id, after=after or "", limit=limit)


@router.get("/{conversation_id}/export", summary="All of it in one document", responses=problems(404))
async def export_conversation(conversation_id: RowId, user: CurrentUser, services: CurrentServices) -> Export:
    found = await _own(conversation_id, user.id, services)
    said: list[Message] = []
    while page := await services.storage.conversations.messages(
        conversation_id, user.id, after=said[-1].id if said else ""
    ):
        said += page
    return Export(conversation=found, messages=said, runs=await _exported(conversation_id, user.id, services))


async def _exported(conversation_id: str, user_id: str, services: Services) -> list[ExportedRun]:
    runs: list[ExportedRun] = []
    before = ""
    while page := await services.storage.runs.page(
        user_id, conversation_id=conversation_id, before=before, limit=_PAGE
    ):
        for run in page:
            events = await _events(run.id, services)
            last = events[-1].seq if events else 0
            runs.append(ExportedRun(**shown(run, last).model_dump(), events=events))
        before = page[-1].id
    return runs[::-1]


async def _events(run_id: str, services: Services) -> list[EventRecord]:
    events: list[EventRecord] = []
    while page := await services.storage.events.after(run_id, events[-1].seq if events else 0):
        events += [EventRecord.model_validate_json(event.body) for event in page]
    return events


async def _own(conversation_id: str, user_id: str, services: Services) -> Conversation:
    if (found := await services.storage.conversations.get(conversation_id, user_id)) is None:
        raise NotFoundError("there is no such conversation")
    return found
