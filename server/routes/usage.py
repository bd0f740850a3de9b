"""What the caller has used, and what is left."""

from datetime import datetime

from pydantic import BaseModel, Field

from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems
from server.routes.router import operations
from server.token_scopes import by_token

router = operations("/me", tag="me", responses=problems(401))


class Share(BaseModel):
    """``most`` and ``left`` are null where there is no limit."""

    used: float
    most: float | None
    left: float | None


class UsedToday(BaseModel):
    """``runs``, ``tokens`` and ``cost`` are of one day (UTC), over all servers; ``requests`` of a minute, of the server that answers."""

    until: datetime = Field(description="When the day ends, and what is used of it is forgotten.")
    runs: Share
    tokens: Share
    cost: Share | None = Field(description="In the currency of the prices; null where none are set.")
    open_runs: Share
    requests: Share


@router.get("/usage", summary="What I have used today, and what is left")
@by_token("read")
async def usage(user: CurrentUser, services: CurrentServices) -> UsedToday:
    rates = services.limits.rates
    quotas = services.limits.quotas.of(await services.storage.user_limits.get(user.id))
    used = await services.storage.daily_usage.get_today(user.id)
    cost = quotas.cost_of(used)
    return UsedToday(
        until=used.until,
        runs=_share(used.runs, quotas.runs),
        tokens=_share(used.tokens, quotas.tokens),
        cost=None if cost is None else _share(cost, quotas.cost),
        open_runs=_share(await services.storage.runs.count_open(user.id), services.settings.user_runs),
        requests=_share(rates.per_minute - int(rates.left(user.id)), rates.per_minute),
    )


def _share(used: float, most: float) -> Share:
    return Share(used=used, most=most, left=max(0, most - used)) if most else Share(used=used, most=None, left=None)
