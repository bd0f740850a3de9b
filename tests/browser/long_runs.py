"""Runs of a thousand events, put into a server's rows as if a worker elsewhere made them: what the page does with them needs no API."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import create_engine, select, update
from sqlalchemy.orm import Session

from domain.event import (
    CallFinished,
    CallStarted,
    CandidatesConsidered,
    ConsideredTool,
    Event,
    EventRecord,
    ProgramEnded,
    ProgramStarted,
    RunFinished,
    RunStarted,
    StepBacktracked,
    StepChosen,
)
from domain.model import JsonObject
from domain.plan import StepResult
from domain.program import Program
from domain.tool import ToolId, make_tool_id
from domain.usage import Usage
from server.storage.identifiers import generate_id
from server.storage.rows.accounts import UserRow
from server.storage.rows.runs import ConversationRow, EventRow, MessageRow, RunRow

EVENTS = 1_000
_ITEM = make_tool_id("Shops", "Warehouse", "get_item")
_TEXT = """found = await list_items()
told = []
for item in found['items']:
    one = await get_item(number=item['number'])
    told.append(one['name'])
'; '.join(told)
"""
_DEEP = 8
"""Tools of a path, as the budget of a run bounds them."""
_ANSWER = "It is done."


def fan_out() -> list[Event]:
    """A program that calls a tool for each of some 500 items, eight at a time, with answers of a kilobyte."""
    tools = {"list_items": make_tool_id("Shops", "Warehouse", "list_items"), "get_item": _ITEM}
    events: list[Event] = [RunStarted(request="all", planner="program", policy="offline")]
    events.append(ProgramStarted(number=1, program=Program(text=_TEXT, tools=tools)))
    count, site = (EVENTS - len(events) - 2) // 2, _TEXT.index("get_item")
    for first in range(0, count, 8):
        numbers = range(first, min(first + 8, count))
        for number in numbers:
            arguments: JsonObject = {"number": number}
            at = f"1:{site}#{number}-0"
            events.append(CallStarted(step=number + 1, tool=_ITEM, arguments=arguments, site=at))
        for number in numbers:
            at = f"1:{site}#{number}-0"
            events.append(CallFinished(step=number + 1, result=_result(_ITEM, number), site=at))
    events.append(ProgramEnded(number=1, answered="yes", answer=_ANSWER, verdict="yes"))
    return [*events, _end()]


def walk() -> list[Event]:
    """A walk of some 200 steps over ten candidates each, every fourth of which is left again."""
    events: list[Event] = [RunStarted(request="all", planner="dfs", policy="offline")]
    path: tuple[ToolId, ...] = ()
    number = 0
    while len(events) < EVENTS - 6:
        number += 1
        tools = [make_tool_id("Shops", f"Set {number}", f"tool_{number}_{other}") for other in range(10)]
        candidates = tuple(
            ConsideredTool(tool=tool, weight=0.5 / (place + 1), availability=None, relevance=0.5, origin="graph")
            for place, tool in enumerate(tools)
        )
        path = path if len(path) < _DEEP else ()
        events.append(CandidatesConsidered(path=path, candidates=candidates, finish_weight=0))
        path = (*path, tools[1])
        events.append(StepChosen(tool=tools[1], path=path, reason="it fits the request better than the others"))
        events.append(CallStarted(step=number, tool=tools[1], arguments={"number": number}))
        events.append(CallFinished(step=number, result=_result(tools[1], number)))
        if number % 4 == 0:
            path = path[:-1]
            events.append(StepBacktracked(dropped=tools[1], path=path, reason="it led nowhere"))
    return [*events, _end()]


def put(rows: Path, user: str, request: str, events: Sequence[Event]) -> str:
    """A run of a user, of somebody's who goes on with it unless its last event is among these. Gives its conversation."""
    at, talk, run = datetime.now(UTC), generate_id(), generate_id()
    with Session(create_engine(f"sqlite:///{rows}")) as session:
        of = session.scalars(select(UserRow.id).where(UserRow.name == user)).one()
        session.add(
            ConversationRow(id=talk, user_id=of, title=request, title_key=request, created_at=at, updated_at=at)
        )
        session.add(
            RunRow(
                id=run, user_id=of, conversation_id=talk, request=request, status="running", planner="program",
                policy="offline", model="", settings={}, plan_version=0, created_at=at, started_at=at, worker="elsewhere",
                lease_until=at + timedelta(days=1),
            )
        )  # fmt: skip
        session.flush()
        session.add(
            MessageRow(id=generate_id(), conversation_id=talk, speaker="user", text=request, text_key=request, run_id=run, created_at=at)
        )  # fmt: skip
        session.commit()
    tell(rows, talk, events)
    return talk


def tell(rows: Path, conversation: str, events: Sequence[Event]) -> None:
    """Go on with the run of a conversation."""
    with Session(create_engine(f"sqlite:///{rows}", connect_args={"timeout": 60})) as session:
        run = session.scalars(select(RunRow).where(RunRow.conversation_id == conversation)).one()
        first = len(session.scalars(select(EventRow.seq).where(EventRow.run_id == run.id)).all()) + 1
        for seq, event in enumerate(events, first):
            at = run.created_at + timedelta(milliseconds=20 * seq)
            record = EventRecord(run=run.id, seq=seq, at=at, subtask=1, event=event)
            session.add(EventRow(run_id=run.id, seq=seq, kind=event.kind, body=record.model_dump_json()))
        if isinstance(events[-1], RunFinished):
            ended = {"status": "finished", "outcome": "answered", "finished_at": datetime.now(UTC), "worker": None}
            session.execute(update(RunRow).where(RunRow.id == run.id).values(**ended, usage=_end().usage.model_dump()))
        session.commit()


def _result(tool: ToolId, number: int) -> StepResult:
    body = json.dumps({"number": number, "name": f"item {number}", "notes": ["x" * 80] * 12})
    return StepResult(
        tool=tool, arguments={"number": number}, status="ok", outcome="ok", response=body, attempts=1, seconds=0.02
    )


def _end() -> RunFinished:
    return RunFinished(outcome="answered", answer=_ANSWER, usage=Usage(total_seconds=20, considered=10, decisions=3))
