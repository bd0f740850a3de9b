"""A user's runs over all conversations."""

from typing import Annotated, Literal

from fastapi import Query
from pydantic import AwareDatetime, BaseModel

from domain.event import RunOutcome, Verdict
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems
from server.routes.router import operations
from server.routes.texts import Plain, RowId
from server.storage.run_history import PastRun, RunFilter, ToolUse
from server.storage.runs import RunStatus
from server.token_scopes import by_token

router = operations("/runs", tag="runs", responses=problems(401))
Moment = Annotated[AwareDatetime | None, Query()]
Name = Annotated[str, Query(max_length=200), Plain]


class RunPage(BaseModel):
    """``next``: what to give as ``before`` for older ones; null: there are none."""

    runs: list[PastRun]
    next: str | None


@router.get("", summary="My runs over all conversations, the newest first")
@by_token("read")
async def run_history(
    user: CurrentUser,
    services: CurrentServices,
    search: Annotated[
        str, Query(max_length=200, description="Words in what was asked or answered, in any case."), Plain
    ] = "",
    status: RunStatus | None = None,
    outcome: RunOutcome | None = None,
    planner: Name = "",
    policy: Name = "",
    model: Name = "",
    tool: Annotated[str, Query(max_length=500, description="The id of a tool that was called."), Plain] = "",
    verdict: Annotated[
        Verdict | Literal["none"] | None, Query(description="`none`: nothing was said of the answer.")
    ] = None,
    since: Moment = None,
    until: Moment = None,
    conversation: RowId | None = None,
    before: RowId | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> RunPage:
    wanted = RunFilter(
        search=search, status=status, outcome=outcome, planner=planner, policy=policy, model=model, tool=tool,
        verdict=verdict, since=since, until=until, conversation_id=conversation or "",
    )  # fmt: skip
    found = await services.storage.run_history.list_page(user.id, wanted, before or "", limit + 1)
    shown = found[:limit]
    return RunPage(runs=shown, next=shown[-1].id if len(found) > limit else None)


@router.get("/tools", summary="The tools that my runs have called")
@by_token("read")
async def called_tools(user: CurrentUser, services: CurrentServices) -> list[ToolUse]:
    """The 200 that most runs called, those first."""
    return await services.storage.run_history.list_tools(user.id)
