"""What a run calls: its tools as this server has them, and of its programs which call feeds which."""

import asyncio
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from agent.programs.analysis.program_flow import Site
from agent.transcript import ProgramHistory, ProgramTrace
from domain.errors import NotFoundError
from domain.event import CallStarted, EventRecord, ProgramEvent, ProgramStarted
from domain.tool import ToolDoc, ToolId
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems
from server.routes.router import operations
from server.routes.texts import RowId
from server.routes.tools import tools
from server.runs.event_journal import parse_events
from server.token_scopes import by_token

_KINDS = ("program.started", "program.failed", "program.ended", "call.started")
_MOST = 500
"""Feeds that are told of one program."""
router = operations("", tag="runs", responses=problems(401, 404))


class CalledTool(BaseModel):
    """``changes``: calling it may change something; ``why``: by which source that is known. ``host``: where it goes."""

    id: ToolId
    host: str
    changes: bool
    why: str


class CallPlace(BaseModel):
    """A call in a program: the cell's number, and where the call begins in its text, in UTF-8 bytes."""

    cell: int = Field(examples=[1])
    place: int = Field(examples=[57])


class CallFeed(BaseModel):
    """The ``target`` takes values of what the ``source`` answers."""

    source: CallPlace
    target: CallPlace


class ProgramCalls(BaseModel):
    """One program in its ``cells``. ``answer``: the calls that its answer takes values of."""

    subtask: int
    cells: list[int]
    feeds: list[CallFeed]
    answer: list[CallPlace]


class RunCalls(BaseModel):
    """``tools``: those that are called, and those that its programs may call, as far as they are still there."""

    tools: list[CalledTool]
    programs: list[ProgramCalls]


@router.get("/runs/{run_id}/calls", summary="What it calls, and which call of its programs feeds which")
@by_token("read")
async def run_calls(run_id: RowId, user: CurrentUser, services: CurrentServices) -> RunCalls:
    if await services.storage.runs.get(run_id, user.id) is None:
        raise NotFoundError("there is no such run")
    records = await parse_events(await services.storage.events.list_kinds(run_id, _KINDS))
    docs = await tools(_called(records), services) or {}
    return RunCalls(tools=_told(docs), programs=await asyncio.to_thread(_programs, records))


def _called(records: Sequence[EventRecord]) -> set[ToolId]:
    called: set[ToolId] = set()
    for record in records:
        match record.event:
            case CallStarted(tool=tool):
                called.add(tool)
            case ProgramStarted(program=program):
                called.update(program.tools.values())
            case _:
                continue
    return called


def _told(docs: Mapping[ToolId, ToolDoc]) -> list[CalledTool]:
    return [CalledTool(id=one.id, host=one.host, changes=not one.safe, why=one.effect.why) for one in docs.values()]


def _programs(records: Sequence[EventRecord]) -> list[ProgramCalls]:
    """Those of all subtasks, the oldest of each first."""
    traces: dict[int, ProgramHistory] = {}
    for record in records:
        if isinstance(record.event, ProgramEvent):
            traces.setdefault(record.subtask, ProgramHistory()).add(record.event)
    return [_program(subtask, one) for subtask in sorted(traces) for one in traces[subtask].traces]


def _program(subtask: int, trace: ProgramTrace) -> ProgramCalls:
    read = trace.find_feeds()
    pairs = sorted(read.pairs)[:_MOST]
    return ProgramCalls(
        subtask=subtask,
        cells=sorted(trace.cells),
        feeds=[CallFeed(source=_place(source), target=_place(target)) for source, target in pairs],
        answer=[_place(site) for site in sorted(read.answer_calls)],
    )


def _place(site: Site) -> CallPlace:
    return CallPlace(cell=site[0], place=site[1])
