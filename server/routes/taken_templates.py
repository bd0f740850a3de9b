"""Others' templates are run at the version that was taken: a newer one is offered with what it does otherwise."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from agent.plans.plan_differences import PlanDifference, compare_plans
from agent.plans.stored_plan import list_stored_tools
from domain.errors import ConflictError, NotFoundError
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.tool import ToolId
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems
from server.routes.read_versions import read_version
from server.routes.router import operations
from server.routes.texts import RowId
from server.routes.tools import tools
from server.services import Services
from server.storage.accounts import User
from server.storage.storage import Storage
from server.storage.templates import Template, TemplateVersion
from server.token_scopes import by_token

router = operations("/templates/{template_id}", tag="templates", responses=problems(401, 404))
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]


class TakeBody(BaseModel):
    version: Number


class Differences(BaseModel):
    """``changes``: step by step what version ``after`` does otherwise than version ``before``; none: the same."""

    before: int
    after: int
    changes: tuple[PlanDifference, ...]


@router.get("/differences", summary="What a version of a template does otherwise than another")
@by_token("read")
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
    about, _ = await seen(template_id, user, services)
    first = before or await storage.template_pins.get(user.id, template_id) or max(1, about.version - 1)
    _, older = await seen(template_id, user, services, first)
    _, newer = await seen(template_id, user, services, after or about.version)
    changes = await _changes(older, newer, services)
    return Differences(before=older.version, after=newer.version, changes=changes)


@router.get("/versions/{version}/differences", summary="What version `to` does otherwise than this one")
@by_token("read")
async def version_differences(
    template_id: RowId,
    version: Number,
    user: CurrentUser,
    services: CurrentServices,
    to: Annotated[Number | None, Query(description="By default the latest.")] = None,
) -> Differences:
    return await template_differences(template_id, user, services, before=version, after=to)


@router.put(
    "/taken",
    status_code=204,
    summary="Take a version of another's template: yours are run at it from now on",
    responses=problems(409),
)
async def take_template(template_id: RowId, body: TakeBody, user: CurrentUser, services: CurrentServices) -> None:
    about, version = await seen(template_id, user, services, body.version)
    if about.user_id == user.id:
        raise ConflictError(
            "your own template needs no taking: it is run at its latest version, or at one that you name"
        )
    await services.storage.template_pins.pin(user.id, template_id, version.version)


async def version_to_run(about: Template, named: int | None, user: User, storage: Storage) -> int:
    """The version that a run is made of. ``ConflictError`` where a user has to say which, or to take it first."""
    if about.user_id == user.id:
        return named or about.version
    taken = await storage.template_pins.get(user.id, about.id)
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


async def seen(template_id: str, user: User, services: Services, version: int = 0) -> tuple[Template, TemplateVersion]:
    """A template that this user may see, at a version (0: the latest). ``NotFoundError`` where there is none, or another's has a tool that is hidden from them."""
    found = await services.storage.templates.get(template_id, user.id, version, admin=user.role == "admin")
    if found is None or (found[0].user_id != user.id and await _names_hidden(found[1], services)):
        raise NotFoundError("there is no such template, or no such version of it")
    return found


async def listed(found: Sequence[Template], taken: Mapping[str, int], user: User, services: Services) -> list[Template]:
    """Those of which :func:`seen` shows the version that this user runs, or, where none is taken, the latest."""
    hidden = await services.agents.find_hidden_tools()
    others = {one.id: taken.get(one.id, one.version) for one in found if one.user_id != user.id}
    if not hidden or not others:
        return list(found)
    plans = await services.storage.templates.load_plans(others)
    out = await asyncio.to_thread(lambda: {one for one, plan in plans.items() if _named(plan, hidden)})
    return [one for one in found if one.id not in out]


async def shown(
    versions: Sequence[TemplateVersion], about: Template, user: User, services: Services
) -> list[TemplateVersion]:
    """Of another's template those versions that name no tool that is hidden from this user."""
    if about.user_id == user.id:
        return list(versions)
    hidden = await services.agents.find_hidden_tools()
    return [one for one in versions if not _named(one.plan, hidden)]


async def _names_hidden(version: TemplateVersion, services: Services) -> bool:
    return _named(version.plan, await services.agents.find_hidden_tools())


def _named(plan: JsonObject, hidden: frozenset[ToolId]) -> bool:
    try:
        return not list_stored_tools(plan).isdisjoint(hidden)
    except ConflictError:  # what cannot be read is shown as that alone
        return False


async def _changes(older: TemplateVersion, newer: TemplateVersion, services: Services) -> tuple[PlanDifference, ...]:
    """``ConflictError`` where one of them cannot be read any more."""
    before, after = [await _plan_of(one, services) for one in (older, newer)]
    docs = await tools({*before.program.tools.values(), *after.program.tools.values()}, services)
    found = await asyncio.to_thread(compare_plans, before, after, docs or {})
    if older.note == newer.note:
        return found
    said = f"Its runs ask: {newer.note or 'its name'} — instead of: {older.note or 'its name'}"
    return (*found, PlanDifference(None, said, older.note, newer.note))


async def _plan_of(version: TemplateVersion, services: Services) -> ProgramPlan:
    read = await read_version(version, services)
    if read.plan is None:
        raise ConflictError(f"version {version.version} cannot be compared: {read.problem}")
    return read.plan
