"""Others' templates are run at the version that was taken: a newer one is offered with what it does otherwise."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from agent.plans.differences import Difference, differences
from domain.errors import ConflictError, NotFoundError
from domain.plan_document import PlanDocument
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems
from server.routes.texts import RowId
from server.storage.storage import Storage
from server.storage.templates import Template, TemplateVersion
from server.storage.users import User

router = APIRouter(prefix="/templates/{template_id}", tags=["templates"], responses=problems(401, 404))
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]


class TakeBody(BaseModel):
    version: Number


class Differences(BaseModel):
    """``changes``: step by step what version ``after`` does otherwise than version ``before``; none: the same."""

    before: int
    after: int
    changes: tuple[Difference, ...]


@router.get("/differences", summary="What a version of a template does otherwise than another")
async def template_differences(
    template_id: RowId,
    user: CurrentUser,
    services: CurrentServices,
    before: Annotated[
        Number | None, Query(description="By default the one taken; of one's own, the last but one.")
    ] = None,
    after: Annotated[Number | None, Query(description="By default the latest.")] = None,
) -> Differences:
    storage = services.storage
    about, _ = await seen(template_id, user, storage)
    first = before or await storage.takes.get(user.id, template_id) or max(1, about.version - 1)
    _, older = await seen(template_id, user, storage, first)
    _, newer = await seen(template_id, user, storage, after or about.version)
    changes = await asyncio.to_thread(_changes, older, newer)
    return Differences(before=older.version, after=newer.version, changes=changes)


@router.put(
    "/taken",
    status_code=204,
    summary="Take a version of another's template: yours are run at it from now on",
    responses=problems(409),
)
async def take_template(template_id: RowId, body: TakeBody, user: CurrentUser, services: CurrentServices) -> None:
    about, version = await seen(template_id, user, services.storage, body.version)
    if about.user_id == user.id:
        raise ConflictError(
            "your own template needs no taking: it is run at its latest version, or at one that you name"
        )
    await services.storage.takes.take(user.id, template_id, version.version)


async def version_to_run(about: Template, named: int | None, user: User, storage: Storage) -> int:
    """The version that a run is made of. ``ConflictError`` where a user has to say which, or to take it first."""
    if about.user_id == user.id:
        return named or about.version
    taken = await storage.takes.get(user.id, about.id)
    if taken is None and named is None:
        raise ConflictError(
            f'this template is another\'s: name the version that you have looked at ("version": {about.version} is the latest); '
            "you run that one until you take a newer one"
        )
    if taken is not None and named not in (None, taken):
        raise ConflictError(
            f"you have taken version {taken} of this template, not version {named}: GET /templates/{about.id}/differences says what "
            f"is different, PUT /templates/{about.id}/taken takes another"
        )
    return taken or named or about.version


async def seen(template_id: str, user: User, storage: Storage, version: int = 0) -> tuple[Template, TemplateVersion]:
    """A template that this user may see, at a version (0: the latest). ``NotFoundError`` where there is none."""
    found = await storage.templates.get(template_id, user.id, version, admin=user.role == "admin")
    if found is None:
        raise NotFoundError("there is no such template, or no such version of it")
    return found


def _changes(older: TemplateVersion, newer: TemplateVersion) -> tuple[Difference, ...]:
    before, after = PlanDocument.model_validate(older.plan), PlanDocument.model_validate(newer.plan)
    found = differences(before, after)
    if older.note == newer.note:
        return found
    said = f"Its runs ask: {newer.note or 'its name'} — instead of: {older.note or 'its name'}"
    return (*found, Difference(None, said, older.note, newer.note))
