"""Files that are given with questions: sent, looked at, removed. A run is asked for with their ids."""

import asyncio
from base64 import b64decode
from collections.abc import Collection
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints
from pydantic.types import JsonValue

from agent.files.file_parsing import FileLimits, assign_free_variable, read_file
from agent.files.given_files import NEEDS_MODEL_MESSAGE
from domain.errors import UsageError
from domain.given_file import FileNote, GivenFile
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems
from server.routes.conversations import own_conversation
from server.routes.router import operations
from server.routes.texts import Plain, RowId
from server.services import Services
from server.storage.conversations import KeptFile
from server.storage.runs import RunChoices
from server.token_scopes import by_token

router = operations("/conversations/{conversation_id}/files", tag="conversations", responses=problems(401, 404))
_SAMPLE = 5
"""Rows that are shown of one."""
_TEXT = 2_000


class FileBody(BaseModel):
    """``name``: as it is called where it came from; its content says what it is."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=300), Plain]
    content: str = Field(max_length=1_400_000, description="Its bytes in base64.")


class ShownFile(FileNote):
    """``bytes``: as it was sent. ``sample``: how it begins: the first rows of a table, items of a list, or characters of a text."""

    bytes: int
    created_at: datetime
    sample: JsonValue


@router.post("", status_code=201, summary="Give a file, to be asked about", responses=problems(400, 409))
@by_token("ask")
async def give_file(conversation_id: RowId, body: FileBody, user: CurrentUser, services: CurrentServices) -> ShownFile:
    limits = limits_of(services)
    try:
        data = b64decode(body.content, validate=True)
    except ValueError as error:
        raise UsageError(f"content is not base64: {error}") from None
    await own_conversation(conversation_id, user.id, services)
    read = await asyncio.to_thread(read_file, body.name, data, limits)

    def named(taken: Collection[str]) -> GivenFile:
        return read.model_copy(update={"variable": assign_free_variable(read.variable, taken)})

    return shown(await services.storage.files.add(conversation_id, user.id, len(data), named))


@router.get("", summary="The files that were given in a conversation")
@by_token("read")
async def files(conversation_id: RowId, user: CurrentUser, services: CurrentServices) -> list[ShownFile]:
    await own_conversation(conversation_id, user.id, services)
    return [shown(one) for one in await services.storage.files.list_all(conversation_id, user.id)]


@router.delete(
    "/{file_id}",
    status_code=204,
    summary="Remove a file; runs that were asked with it cannot be run again",
    responses=problems(409),
)
@by_token("ask")
async def remove_file(conversation_id: RowId, file_id: RowId, user: CurrentUser, services: CurrentServices) -> None:
    await services.storage.files.remove(file_id, conversation_id, user.id)


def limits_of(services: Services) -> FileLimits:
    """What the settings allow."""
    chosen = services.settings
    return FileLimits(chosen.file_bytes, chosen.file_rows, chosen.files)


async def check_files(
    ids: Collection[str], choices: RunChoices, conversation_id: str, user_id: str, services: Services
) -> None:
    """That a run can be asked for with these files.

    Raises:
        NotFoundError: one is not there. UsageError: they are too many, or nothing would read them.
    """
    if not ids:
        return
    if len(ids) > services.settings.files:
        raise UsageError(f"a question may have {services.settings.files} files; this one has {len(ids)}")
    if choices.policy != "llm" or choices.planner not in ("program", "solution"):
        raise UsageError(
            f"{NEEDS_MODEL_MESSAGE}: ask with the policy llm and the planner program, or leave the file out"
        )
    await services.storage.files.load_files(conversation_id, user_id, list(ids))


def shown(kept: KeptFile) -> ShownFile:
    """A file without the whole of it."""
    value = kept.file.value
    match value:
        case list():
            sample: JsonValue = value[:_SAMPLE]
        case str():
            sample = value[:_TEXT]
        case _:
            sample = value if kept.file.characters <= _TEXT else None
    return ShownFile(**kept.file.file_note.model_dump(), bytes=kept.bytes, created_at=kept.created_at, sample=sample)
