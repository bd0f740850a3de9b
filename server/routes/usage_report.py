"""What all users have used, what each may use, and how well runs and calls went; for administrators."""

from typing import Annotated

from fastapi import Query, Request
from pydantic import BaseModel, Field

from domain.errors import UsageError
from server.audit import note
from server.dependencies import CurrentAdmin, CurrentServices
from server.problems import problems
from server.routes.router import operations
from server.routes.texts import RowId
from server.routes.users import user
from server.services import Services
from server.storage.run_history import MAX_MEASURED, Figure
from server.storage.usage import OwnLimits, UsageTotal
from server.token_scopes import by_token

router = operations("", tag="usage", responses=problems(401, 403))
Days = Annotated[int, Query(ge=1, le=31)]


class UsageLine(UsageTotal):
    """``cost``: at the prices that the models had, null where none had one."""


class UsageShown(BaseModel):
    """``users``: the hundred who used most, those who used nothing left out."""

    days: list[UsageLine]
    users: list[UsageLine]


class LimitsBody(BaseModel):
    """Of a day (UTC). Null: as for everybody; 0: no limit."""

    runs: int | None = Field(default=None, ge=0, le=1_000_000)
    tokens: int | None = Field(default=None, ge=0, le=1_000_000_000_000)
    cost: float | None = Field(default=None, ge=0, le=1_000_000_000, allow_inf_nan=False)


class LimitsShown(BaseModel):
    """``own``: what was said of this user; ``counts``: what holds, 0 where there is no limit."""

    own: OwnLimits
    counts: OwnLimits


class PerformanceShown(BaseModel):
    planners: list[Figure]
    tools: list[Figure]
    most: int = Field(description="So many runs, and calls, are looked at: the newest.")


@router.get("/usage", summary="What all have used, by day and by user")
@by_token("administer")
async def usage_report(
    _: CurrentAdmin,
    services: CurrentServices,
    days: Days = 31,
    name: Annotated[str, Query(max_length=64, description="The beginning of users' names.")] = "",
) -> UsageShown:
    report, price = services.storage.usage_report, services.limits.quotas.price
    return UsageShown(
        days=[UsageLine(**one.model_dump()) for one in await report.sum_by_day(days, price)],
        users=[UsageLine(**one.model_dump()) for one in await report.sum_by_user(days, name, price)],
    )


@router.get("/usage/performance", summary="How many runs and calls failed, and how long they took")
@by_token("administer")
async def performance(_: CurrentAdmin, services: CurrentServices, days: Days = 7) -> PerformanceShown:
    of = services.storage.performance
    return PerformanceShown(
        planners=await of.measure_planners(days), tools=await of.measure_tools(days), most=MAX_MEASURED
    )


@router.get("/users/{user_id}/limits", summary="What a user may use in a day", responses=problems(404))
@by_token("administer")
async def user_limits(user_id: RowId, admin: CurrentAdmin, services: CurrentServices) -> LimitsShown:
    await user(user_id, admin, services)
    own = await services.storage.user_limits.get(user_id)
    holds = services.limits.quotas.of(own)
    return LimitsShown(own=own, counts=OwnLimits(runs=holds.runs, tokens=holds.tokens, cost=holds.cost))


@router.put("/users/{user_id}/limits", summary="Say what a user may use in a day", responses=problems(400, 404))
@by_token("administer")
async def set_user_limits(
    request: Request, user_id: RowId, body: LimitsBody, admin: CurrentAdmin, services: CurrentServices
) -> LimitsShown:
    """It counts from the next run on; a run that goes on keeps to what it began with."""
    if body.cost and services.limits.quotas.price is None and not await _priced(services):
        raise UsageError(
            "a limit of costs needs prices: give a model service its prices, or set FOOTPATH_MODEL_PRICE_PROMPT and "
            "FOOTPATH_MODEL_PRICE_COMPLETION"
        )
    own = OwnLimits(**body.model_dump())
    note(request, account=(await user(user_id, admin, services)).name, **own.model_dump())
    await services.storage.user_limits.set(user_id, own)
    return await user_limits(user_id, admin, services)


async def _priced(services: Services) -> bool:
    """Whether a model service has prices."""
    found = await services.storage.model_services.list_all()
    return any(one.price_prompt is not None and one.price_completion is not None for one in found)
