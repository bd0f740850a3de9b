"""Answers that are shared: the owner of a run makes a link, by which other users of this server read what it answered, and nothing more.

What rests on a tool that the reader may not use is not told: neither the answer nor the program names it.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Annotated, Literal
from urllib.parse import unquote

from fastapi import Path
from pydantic import BaseModel, Field
from pydantic.types import JsonValue

from domain.errors import NotFoundError
from domain.event import CallFinished, CallStarted, EventRecord, ProgramStarted, RunFinished, RunOutcome
from domain.model import JsonObject
from domain.tool import ToolId
from server.dependencies import CurrentCaller, CurrentServices, CurrentUser, write_done
from server.problems import problems
from server.routes.router import operations
from server.routes.texts import RowId
from server.runs.event_journal import parse_events
from server.storage.conversations import SharedAnswer
from server.token_scopes import by_token

router = operations("", tag="runs", responses=problems(401, 404))
Days = Literal[1, 7, 30]
_KINDS = ("program.started", "call.started", "call.finished", "run.finished")
_MOST_CALLS, _LONGEST = 200, 20_000
"""Of calls that are told; characters of what one of them got."""


class ShareBody(BaseModel):
    days: Days = 7
    with_calls: bool = Field(default=False, description="Whether what its calls sent and got is seen, too.")


class NewSharedAnswer(SharedAnswer):
    secret: str = Field(description="To stand in the link; it is shown this once.")


class SharedCall(BaseModel):
    """``arguments`` and ``response`` only where they are shared."""

    tool: ToolId
    status: str
    arguments: JsonObject | None = None
    response: str | None = None


class ReadAnswer(BaseModel):
    """``withheld``: so many of its tools are not for the reader, so that only what was asked and how it ended is told."""

    owner: str
    request: str
    outcome: RunOutcome | None
    finished_at: datetime | None
    expires_at: datetime
    answer: str
    programs: list[str]
    calls: list[SharedCall]
    withheld: int


@router.post(
    "/runs/{run_id}/shared", status_code=201, summary="Make a link to what a run answered", responses=problems(409)
)
@by_token("run_changes")
async def share(run_id: RowId, body: ShareBody, caller: CurrentCaller, services: CurrentServices) -> NewSharedAnswer:
    """Every user of this server who has it reads question, answer, program and the names of its tools, until it expires or is taken back."""
    storage = services.storage
    made, secret = await storage.shared_answers.add(caller.user.id, run_id, body.days, with_calls=body.with_calls)
    said: dict[str, JsonValue] = {"run_id": run_id, "days": body.days, "with_calls": body.with_calls}
    await write_done(caller, services, "share", "Make a link to what a run answered", said)
    return NewSharedAnswer(**made.model_dump(), secret=secret)


@router.get("/me/shared", summary="The answers that I share")
@by_token("read")
async def shared_answers(user: CurrentUser, services: CurrentServices) -> list[SharedAnswer]:
    return await services.storage.shared_answers.list_all(user.id)


@router.delete("/me/shared/{shared_id}", status_code=204, summary="Take a link back")
@by_token("run_changes")
async def take_back(shared_id: RowId, caller: CurrentCaller, services: CurrentServices) -> None:
    if not await services.storage.shared_answers.remove(caller.user.id, shared_id):
        raise NotFoundError("you share no such answer")
    await write_done(caller, services, "take_back", "Take a link back", {"shared_id": shared_id})


Secret = Annotated[str, Path(max_length=200, description="Of the link.")]


@router.get("/shared/{secret}", summary="What somebody shares by a link")
@by_token("read")
async def shared(secret: Secret, user: CurrentUser, services: CurrentServices) -> ReadAnswer:
    found = await services.storage.shared_answers.open_link(secret)
    run = await services.storage.runs.get(found.shared.run_id, found.user_id)
    if run is None:
        raise NotFoundError("this run is gone")
    records = await parse_events(await services.storage.events.list_kinds(run.id, _KINDS))
    hidden = frozenset[ToolId]() if user.id == found.user_id else await services.agents.find_hidden_tools()
    answer = [one.event.answer for one in records if isinstance(one.event, RunFinished)][-1:]
    programs = [one.event.program.text for one in records if isinstance(one.event, ProgramStarted)]
    withheld = _unseen(records, hidden, [*answer, *programs])
    return ReadAnswer(
        owner=found.owner,
        request=found.shared.request,
        outcome=run.outcome,
        finished_at=run.finished_at,
        expires_at=found.shared.expires_at,
        answer="" if withheld else "".join(answer),
        programs=[] if withheld else programs,
        calls=[] if withheld else _calls(records, whole=found.shared.with_calls),
        withheld=len(withheld),
    )


def _unseen(records: Sequence[EventRecord], hidden: Collection[ToolId], texts: Sequence[str]) -> set[ToolId]:
    """The tools among ``hidden`` that a run called, might have called, or is told to have weighed."""
    used: set[ToolId] = set()
    for one in records:
        match one.event:
            case CallStarted(tool=tool):
                used.add(tool)
            case CallFinished(result=result):
                used.add(result.tool)
            case ProgramStarted(program=program):
                used.update(program.tools.values())
            case _:
                continue
    told = "\n".join(texts)
    return {tool for tool in hidden if tool in used or tool in told or _name(tool) in told}


def _name(tool: ToolId) -> str:
    """As answers name it."""
    return " / ".join(map(unquote, tool.split("/")[1:]))


def _calls(records: Sequence[EventRecord], *, whole: bool) -> list[SharedCall]:
    ends = [one.event.result for one in records if isinstance(one.event, CallFinished)][:_MOST_CALLS]
    return [
        SharedCall(
            tool=one.tool,
            status=one.status,
            arguments=one.arguments if whole else None,
            response=one.response[:_LONGEST] if whole else None,
        )
        for one in ends
    ]
