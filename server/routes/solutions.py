"""Solutions: programs with typed inputs that serve requests; found, looked at, run with values, made, checked, shared and forgotten."""

import asyncio
from datetime import datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field, StringConstraints
from pydantic.types import JsonValue

from agent.plans.plan_inputs import build_shown_schemas, map_shown_names
from agent.solutions.drift import find_drifted_tools
from agent.solutions.library import SolutionLibrary
from domain.errors import ForbiddenError, NotFoundError, UsageError
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.solution import Solution, SolutionOrigin
from domain.tool import ToolId
from server.dependencies import CurrentAdmin, CurrentCaller, CurrentServices, CurrentUser
from server.problems import problems
from server.routes.choices import check_choices
from server.routes.kept_solutions import SolutionBody, checked_again, made
from server.routes.router import operations
from server.routes.runs import ModelName, Policy, ShownRun, begun
from server.routes.template_content import put_in
from server.routes.texts import Plain, RowId, ShortText, ToolName
from server.routes.tools import meant
from server.runs.conversation_context import mark_values_fixed_by_author
from server.runs.given_plans import build_plan_settings
from server.services import Services
from server.storage.accounts import User
from server.storage.runs import RunChoices
from server.token_scopes import by_token

router = operations("/solutions", tag="solutions", responses=problems(401))
SolutionId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8,64}(\.[0-9a-f]{4,32})?$")]
_SHOWN = 5
"""Patterns of each in a list."""


class ShownSolution(BaseModel):
    """``patterns``: requests that it serves, its inputs in braces. ``own``: the caller's; else all share it. ``good``, ``bad``: how often it has served, or
    failed. ``approved``: an administrator, mining, or several invited users' own runs speak for a shared one. ``suspended``: why it is not taken until it is checked again. ``likeness``: to the request that was searched for.
    """

    id: str
    patterns: list[str]
    path: list[ToolId]
    origin: SolutionOrigin
    own: bool
    good: int
    bad: int
    suspended: str
    approved: bool
    likeness: float | None = None
    at: datetime


class WholeSolution(ShownSolution):
    """``parameters``: name to JSON Schema; one with a ``default`` may be left out. ``wrong``: the caller's requests that it is not taken for any more.
    ``runs``: the caller's that it came from or served. ``drift``: its tools that are not what it was checked against, or are gone.
    """

    program: ProgramPlan
    parameters: JsonObject
    wrong: list[str]
    runs: list[str]
    drift: list[ToolId]


class SolutionRunBody(BaseModel):
    conversation_id: RowId
    pattern: ShortText = Field(default="", description="Which of its patterns the run asks; empty: the first.")
    values: dict[ShortText, JsonValue] = Field(default_factory=dict[str, JsonValue])
    policy: Policy = "offline"
    model: ModelName = ""


@router.get("", summary="Your solutions, and those that all share")
@by_token("read")
async def solutions(
    user: CurrentUser,
    services: CurrentServices,
    request: Annotated[
        str, Query(max_length=4000, description="Only those near this request, the nearest first."), Plain
    ] = "",
    tool: Annotated[ToolName | None, Query(description="Only those that call this tool, category/toolset/api.")] = None,
    own: Annotated[bool, Query(description="Only your own.")] = False,
    after: Annotated[
        str, Query(max_length=120, description="Only those after this id; for pages, where no request is given."), Plain
    ] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> list[ShownSolution]:
    library, called = await _library(services, user), set(meant(tool or ""))
    if request:
        near = await library.find_near(request, limit)
        there = [one for one in near if one.solution.owner == user.id or not own]
        fits = [one for one in there if tool is None or not called.isdisjoint(one.solution.path)]
        return [_shown(one.solution, user).model_copy(update={"likeness": one.likeness}) for one in fits]
    if tool is not None:
        found = [
            one for one in await library.find_by_tools(called) if one.id > after and (one.owner == user.id or not own)
        ]
        return [_shown(one, user) for one in found[:limit]]
    page: list[ShownSolution] = []
    async for one in library.iterate_all():
        if one.id > after and (one.owner == user.id or not own):
            page.append(_shown(one, user))
        if len(page) == limit:
            break
    return page


@router.post("", status_code=201, summary="Keep a program as a solution", responses=problems(400, 404, 409))
@by_token("run_changes")
async def add_solution(body: SolutionBody, user: CurrentUser, services: CurrentServices) -> WholeSolution:
    """Made from a run, a template, or a program with the requests that it serves. One that is the same program as a kept one adds its patterns to it."""
    library = await _library(services, user)
    (kept,) = await library.add([await made(body, user, services)])
    return await _whole(kept, user, services)


@router.get("/{solution_id}", summary="A solution with its program, and how it has done", responses=problems(404))
@by_token("read")
async def solution(solution_id: SolutionId, user: CurrentUser, services: CurrentServices) -> WholeSolution:
    return await _whole(solution_id, user, services)


@router.delete("/{solution_id}", status_code=204, summary="Forget a solution", responses=problems(403, 404))
@by_token("run_changes")
async def forget_solution(solution_id: SolutionId, user: CurrentUser, services: CurrentServices) -> None:
    """One's own; administrators also one that all share."""
    library, _ = await _to_change(solution_id, user, services)
    await library.forget([solution_id])


@router.post(
    "/{solution_id}/check", summary="Check it again, and take it from now on", responses=problems(400, 403, 404)
)
@by_token("run_changes")
async def check_solution(solution_id: SolutionId, user: CurrentUser, services: CurrentServices) -> WholeSolution:
    """Its program is checked against its tools as they are; where something is wrong with it, that is said, and it stays as it was."""
    library, found = await _to_change(solution_id, user, services)
    await checked_again(found, services)
    await library.reinstate(solution_id)
    return await _whole(solution_id, user, services)


@router.post("/{solution_id}/promote", summary="Let all users share it", responses=problems(403, 404, 409))
@by_token("administer")
async def promote_solution(solution_id: SolutionId, user: CurrentAdmin, services: CurrentServices) -> WholeSolution:
    """One's own: its program and patterns are there for all, its runs and requests are not. One that is shared already is approved by it."""
    library = await _library(services, user)
    await _found(solution_id, library)
    return await _whole(await library.share(solution_id), user, services)


@router.post(
    "/{solution_id}/runs",
    status_code=202,
    summary="Run a solution with these values; calls that change something ask as ever",
    responses=problems(400, 404, 429),
)
@by_token("ask")
async def run_solution(
    solution_id: SolutionId, body: SolutionRunBody, caller: CurrentCaller, services: CurrentServices
) -> ShownRun:
    user = caller.user
    found = await _found(solution_id, await _library(services, user))
    if body.pattern and body.pattern not in found.patterns:
        raise UsageError(f"the solution has no such pattern; it has: {'; '.join(found.patterns[:_SHOWN])}")
    pattern = body.pattern or next(iter(found.patterns), "")
    plan, request = await asyncio.to_thread(put_in, found.plan, pattern, body.values, "a solution")
    await check_choices("program" if body.policy == "llm" else "dfs", body.policy, body.model, services)
    own = [name for shown, name in map_shown_names(plan).items() if shown in body.values]
    others = {} if found.owner == user.id else await asyncio.to_thread(mark_values_fixed_by_author, plan, own)
    settings: JsonObject = {**build_plan_settings(plan), **others, "solution": found.id}
    choices = RunChoices(planner="dfs", policy=body.policy, model=body.model, settings=settings)
    return await begun(caller, body.conversation_id, request, choices, services)


async def _library(services: Services, user: User) -> SolutionLibrary:
    return await (await services.agents.get_container()).solutions(user.id)


async def _found(solution_id: str, library: SolutionLibrary) -> Solution:
    if (found := (await library.get([solution_id])).get(solution_id)) is None:
        raise NotFoundError("there is no such solution")
    return found


async def _to_change(solution_id: str, user: User, services: Services) -> tuple[SolutionLibrary, Solution]:
    """With the library by which this user may change it. ``ForbiddenError``: all share it, and this is no administrator."""
    found = await _found(solution_id, await _library(services, user))
    if not found.owner and user.role != "admin":
        raise ForbiddenError("all users share this solution: an administrator can do that")
    return await (await services.agents.get_container()).solutions(found.owner), found


async def _whole(solution_id: str, user: User, services: Services) -> WholeSolution:
    container = await services.agents.get_container()
    found = await _found(solution_id, await container.solutions(user.id))
    docs = await container.graph.get_tools(found.path)
    gone = [tool for tool in found.path if tool not in docs]
    own = found.owner == user.id
    whole: dict[str, Any] = _shown(found, user).model_dump() | {
        "patterns": list(found.patterns),
        "program": found.plan,
        "parameters": build_shown_schemas(found.plan),
        "wrong": found.wrong if own else (),
        "runs": found.runs if own else (),
        "drift": [*gone, *find_drifted_tools(found, docs)],
    }
    return WholeSolution.model_validate(whole)


def _shown(one: Solution, user: User) -> ShownSolution:
    return ShownSolution(
        id=one.id,
        patterns=list(one.patterns[:_SHOWN]),
        path=list(one.path),
        origin=one.origin,
        own=one.owner == user.id,
        good=one.good,
        bad=one.bad,
        suspended=one.suspended,
        approved=one.promoted or bool(one.sharers) or one.origin == "mined",
        at=one.at,
    )
