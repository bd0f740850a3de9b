"""Conversations: made, listed and searched, renamed, removed."""

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel

from domain.errors import NotFoundError
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems
from server.routes.router import operations
from server.routes.texts import Plain, RowId, ShortText
from server.services import Services
from server.storage.conversations import Conversation, Message
from server.token_scopes import by_token

router = operations("/conversations", tag="conversations", responses=problems(401))


class ConversationBody(BaseModel):
    title: ShortText = ""


class TitleBody(BaseModel):
    title: ShortText


@router.post("", status_code=201, summary="Begin a conversation")
@by_token("ask")
async def begin_conversation(body: ConversationBody, user: CurrentUser, services: CurrentServices) -> Conversation:
    return await services.storage.conversations.add(user.id, body.title)


@router.get("", summary="My conversations, the latest first", responses=problems(404))
@by_token("read")
async def conversations(
    user: CurrentUser,
    services: CurrentServices,
    search: Annotated[str, Query(max_length=200, description="Words in the title or in what was said."), Plain] = "",
    before: RowId | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> list[Conversation]:
    last = await own_conversation(before, user.id, services) if before else None
    return await services.storage.conversations.list_page(user.id, search=search, before=last, limit=limit)


@router.get("/{conversation_id}", summary="One conversation", responses=problems(404))
@by_token("read")
async def conversation(conversation_id: RowId, user: CurrentUser, services: CurrentServices) -> Conversation:
    return await own_conversation(conversation_id, user.id, services)


@router.patch("/{conversation_id}", summary="Give it a title", responses=problems(404))
@by_token("ask")
async def rename_conversation(
    conversation_id: RowId, body: TitleBody, user: CurrentUser, services: CurrentServices
) -> Conversation:
    return await services.storage.conversations.rename(conversation_id, user.id, body.title)


@router.delete("/{conversation_id}", status_code=204, summary="Remove it with its runs", responses=problems(404))
@by_token("run_changes")
async def remove_conversation(conversation_id: RowId, user: CurrentUser, services: CurrentServices) -> None:
    if not await services.storage.conversations.remove(conversation_id, user.id):
        raise NotFoundError("there is no such conversation")


@router.get("/{conversation_id}/messages", summary="What was said, in order", responses=problems(404))
@by_token("read")
async def messages(
    conversation_id: RowId,
    user: CurrentUser,
    services: CurrentServices,
    after: RowId | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> list[Message]:
    return await services.storage.conversations.list_messages(conversation_id, user.id, after=after or "", limit=limit)


async def own_conversation(conversation_id: str, user_id: str, services: Services) -> Conversation:
    """``NotFoundError``: this user has no such conversation."""
    if (found := await services.storage.conversations.get(conversation_id, user_id)) is None:
        raise NotFoundError("there is no such conversation")
    return found
