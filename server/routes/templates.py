"""Workflow templates: good runs with names for what may differ, kept in versions and run again."""

import asyncio
from datetime import datetime
from typing import Annotated, Any, Self

from fastapi import Query, Response
from pydantic import BaseModel, Field, StringConstraints, model_validator
from pydantic.types import JsonValue

from agent.plans.plan_inputs import build_shown_schemas, map_shown_names
from domain.errors import ConflictError, ForbiddenError, NotFoundError
from domain.model import JsonObject
from domain.plan import PlanDocument
from domain.program import ProgramPlan
from server.dependencies import CurrentCaller, CurrentServices, CurrentUser
from server.problems import problems
from server.routes.choices import check_choices
from server.routes.documents import own as own_run
from server.routes.given_documents import GivenDocument
from server.routes.given_programs import GivenWholeProgram
from server.routes.kept_solutions import offered
from server.routes.read_versions import read_version
from server.routes.router import operations
from server.routes.runs import ModelName, Policy, ShownRun, begun
from server.routes.taken_templates import listed, seen, shown, version_to_run
from server.routes.template_content import Place, content, put_in
from server.routes.texts import Plain, RowId, ShortText
from server.routes.written_programs import written_plan
from server.runs.conversation_context import mark_values_fixed_by_author
from server.runs.given_plans import build_plan_settings
from server.services import Services
from server.storage.accounts import SHARING_ROLES, User
from server.storage.runs import RunChoices
from server.storage.templates import Template, TemplateContent, TemplateUse, TemplateVersion
from server.token_scopes import by_token

router = operations("/templates", tag="templates", responses=problems(401))
Name = Annotated[str, StringConstraints(min_length=1, max_length=120, strip_whitespace=True), Plain]
LongText = Annotated[str, StringConstraints(max_length=4000, strip_whitespace=True), Plain]
ParameterName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,79}$")]
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]
_VERSIONS = 10
"""At a time: each may be long."""


class VersionBody(BaseModel):
    """Made from a finished run, a program or a document, one of them. ``request``: what its runs ask, with ``{name}`` for a parameter's value."""

    run_id: RowId | None = None
    program: GivenWholeProgram | None = None
    document: GivenDocument | None = None
    request: LongText = Field(default="", examples=["How many inhabitants does {city} have?"])
    parameters: dict[ParameterName, Place] = Field(
        default_factory=dict[str, Place],
        max_length=50,
        examples=[{"city": {"input": "city"}}, {"city": {"step": 1, "parameter": "city"}}],
        description="Which values of the run or the document may differ, by the names they get. A program has its inputs.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(one is not None for one in (self.run_id, self.program, self.document)) != 1:
            raise ValueError("give a run_id, a program or a document, one of them")
        return self


class TemplateBody(VersionBody):
    name: Name = Field(examples=["Inhabitants of a city"])
    description: LongText = ""


class TemplateChange(BaseModel):
    name: Name | None = None
    description: LongText | None = None
    shared: bool | None = Field(default=None, description="Whether all users may see and run it; for authors.")


class TemplateRunBody(BaseModel):
    conversation_id: RowId
    version: Number | None = None
    parameters: dict[ShortText, JsonValue] = Field(default_factory=dict[str, JsonValue])
    policy: Policy = "offline"
    model: ModelName = ""


class ShownTemplate(BaseModel):
    """``version``: the latest. ``own``: whether it is the caller's. ``taken``: of another's, the version that the caller runs."""

    id: str
    name: str
    description: str
    shared: bool
    own: bool
    version: int
    taken: int | None = None
    created_at: datetime
    updated_at: datetime
    use: TemplateUse = Field(description="Of the caller's runs.")


class ShownVersion(BaseModel):
    """``parameters``: name to JSON Schema; one with a ``default`` may be left out. ``document``: the program as steps, where steps can say it.

    ``problem``: why it cannot be run as it is: a tool of it is not there any more, or this server cannot read it, and then there is no ``program``.
    """

    version: int
    parameters: JsonObject
    program: ProgramPlan | None
    document: PlanDocument | None
    problem: str
    request: str
    created_at: datetime


class WholeTemplate(ShownTemplate):
    content: ShownVersion


@router.post("", status_code=201, summary="Keep a run as a template", responses=problems(400, 404, 409))
@by_token("run_changes")
async def add_template(body: TemplateBody, user: CurrentUser, services: CurrentServices) -> WholeTemplate:
    made = await _content(body, user.id, services)
    added = await services.storage.templates.add(user.id, body.name, made, description=body.description)
    await offered(made, user.id, services)
    return await _whole(added.id, user, services)


@router.get("", summary="Your templates, and those that are shared")
@by_token("read")
async def templates(user: CurrentUser, services: CurrentServices) -> list[ShownTemplate]:
    found = await services.storage.templates.list_all(user.id, admin=_admin(user))
    taken = await services.storage.template_pins.list_all(user.id)
    seen_ones = await listed(found, taken, user, services)
    uses = await services.storage.templates.count_uses(user.id)
    return [ShownTemplate(**_shown(one, user.id, taken.get(one.id), uses.get(one.id))) for one in seen_ones]


@router.get("/{template_id}", summary="A template at the version taken, its latest or another", responses=problems(404))
@by_token("read")
async def template(
    template_id: RowId,
    user: CurrentUser,
    services: CurrentServices,
    version: Annotated[Number | None, Query()] = None,
) -> WholeTemplate:
    return await _whole(template_id, user, services, version or 0)


@router.get("/{template_id}/versions", summary="A template's versions, the first first", responses=problems(404))
@by_token("read")
async def versions(
    template_id: RowId,
    user: CurrentUser,
    services: CurrentServices,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="Only those after this one.")] = 0,
    limit: Annotated[int, Query(ge=1, le=_VERSIONS)] = _VERSIONS,
) -> list[ShownVersion]:
    about, _ = await seen(
        template_id, user, services, await services.storage.template_pins.get(user.id, template_id) or 0
    )
    found = await services.storage.templates.list_versions(
        template_id, user.id, after=after, limit=limit, admin=_admin(user)
    )
    return [await _version(one, services) for one in await shown(found, about, user, services)]


@router.post("/{template_id}/versions", status_code=201, summary="Add a version", responses=problems(400, 404, 409))
@by_token("run_changes")
async def add_version(
    template_id: RowId, body: VersionBody, user: CurrentUser, services: CurrentServices
) -> ShownVersion:
    found = await services.storage.templates.get(template_id, user.id)
    if found is None or found[0].user_id != user.id:
        raise _none()
    made = await _content(body, user.id, services)
    added = await services.storage.templates.add_version(template_id, user.id, made)
    await offered(made, user.id, services)
    return await _version(added, services)


@router.patch("/{template_id}", summary="Name or describe a template, or share it", responses=problems(403, 404, 409))
@by_token("run_changes")
async def change_template(
    template_id: RowId, body: TemplateChange, user: CurrentUser, services: CurrentServices
) -> ShownTemplate:
    """Administrators may also end the sharing of another's."""
    if body.shared and user.role not in SHARING_ROLES:
        raise ForbiddenError("templates are shared by authors; an administrator can make you one")
    changed = await services.storage.templates.change(
        template_id, user.id, name=body.name, description=body.description, shared=body.shared, admin=_admin(user)
    )
    use = (await services.storage.templates.count_uses(user.id)).get(template_id)
    return ShownTemplate(
        **_shown(changed, user.id, await services.storage.template_pins.get(user.id, template_id), use)
    )


@router.delete(
    "/{template_id}",
    status_code=204,
    summary="Remove a template with its versions; its runs stay",
    response_class=Response,
    responses=problems(404),
)
@by_token("run_changes")
async def remove_template(template_id: RowId, user: CurrentUser, services: CurrentServices) -> None:
    """Administrators may also remove another's that is shared."""
    if not await services.storage.templates.remove(template_id, user.id, admin=_admin(user)):
        raise _none()


@router.post(
    "/{template_id}/runs",
    status_code=202,
    summary="Run a template with these values; calls that change something ask as ever",
    responses=problems(400, 404, 409, 429),
)
@by_token("ask")
async def run_template(
    template_id: RowId, body: TemplateRunBody, caller: CurrentCaller, services: CurrentServices
) -> ShownRun:
    """Another's is run at the version that was taken; the first run names one, and takes it."""
    user, storage = caller.user, services.storage
    about, _ = await seen(template_id, user, services)
    wanted = await version_to_run(about, body.version, user, storage)
    _, version = await seen(template_id, user, services, wanted)
    read = await read_version(version, services)
    if read.plan is None:
        raise ConflictError(f"version {version.version} of {about.name} cannot be run: {read.problem}")
    plan, request = await asyncio.to_thread(put_in, read.plan, version.note, body.parameters, about.name)
    await check_choices("dfs", body.policy, body.model, services)
    own = [name for shown, name in map_shown_names(plan).items() if shown in body.parameters]
    others = {} if about.user_id == user.id else await asyncio.to_thread(mark_values_fixed_by_author, plan, own)
    choices = RunChoices(
        planner="dfs",
        policy=body.policy,
        model=body.model,
        settings={**build_plan_settings(plan), **others},
        template_id=about.id,
        template_version=version.version,
    )
    run = await begun(caller, body.conversation_id, request, choices, services)
    if about.user_id != user.id:
        await storage.template_pins.pin(user.id, about.id, version.version)
    return run


async def _content(body: VersionBody, user_id: str, services: Services) -> TemplateContent:
    if body.program is not None:
        return await content(await written_plan(body.program, services), body.parameters, body.request, services)
    source = body.document if body.document is not None else await own_run(body.run_id or "", user_id, services)
    return await content(source, body.parameters, body.request, services)


async def _whole(template_id: str, user: User, services: Services, version: int = 0) -> WholeTemplate:
    taken = await services.storage.template_pins.get(user.id, template_id)
    about, found = await seen(template_id, user, services, version or taken or 0)
    use = (await services.storage.templates.count_uses(user.id)).get(template_id)
    return WholeTemplate(**_shown(about, user.id, taken, use), content=await _version(found, services))


def _admin(user: User) -> bool:
    return user.role == "admin"


def _shown(one: Template, user_id: str, taken: int | None = None, use: TemplateUse | None = None) -> dict[str, Any]:
    own = {"own": one.user_id == user_id, "taken": taken, "use": use or TemplateUse()}
    return one.model_dump(include=set(ShownTemplate.model_fields)) | own


async def _version(one: TemplateVersion, services: Services) -> ShownVersion:
    read = await read_version(one, services)
    return ShownVersion(
        version=one.version,
        parameters={**build_shown_schemas(read.plan)} if read.plan is not None else one.parameters,
        program=read.plan,
        document=read.document,
        problem=read.problem,
        request=one.note,
        created_at=one.created_at,
    )


def _none() -> NotFoundError:
    return NotFoundError("there is no such template, or no such version of it")
