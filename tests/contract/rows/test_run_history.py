"""Runs that are over: found by what was asked and answered, how they ended and what they called; failures and latency of them."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from domain.event import CallFinished, Event, EventRecord, InputNeeded, RunOutcome
from domain.model import JsonObject
from domain.plan import StepResult
from server.runs.event_journal import to_stored_event
from server.storage.accounts import User
from server.storage.run_history import RunFilter
from server.storage.run_records import StoredEvent
from server.storage.runs import RunChoices
from server.storage.storage import Storage
from tests.contract.rows.conftest import ManualClock
from tests.support.row_samples import run, user

AT = datetime(2026, 11, 23, tzinfo=UTC)
LEASE = timedelta(seconds=30)
DFS = RunChoices(planner="dfs", policy="offline")
BY_MODEL = RunChoices(planner="program", policy="llm", model="large")


def called(status: str, response: str = "") -> Event:
    """The end of a call; an argument of it looks like one that was not allowed."""
    told = {"tool": "w/w/now", "status": status, "response": response, "arguments": {"status": "skipped"}}
    return CallFinished(step=1, result=StepResult.model_validate(told))


async def ended(
    storage: Storage,
    of: User,
    request: str,
    choices: RunChoices,
    outcome: RunOutcome,
    called: dict[str, int],
    **to: str,
) -> str:
    """One in a conversation of its own, with its answer."""
    talk = await storage.conversations.add(of.id, to.get("title", ""))
    made = await storage.runs.add(of.id, talk.id, request, choices, add_message=True)
    await storage.run_leases.claim("here", LEASE)
    assert await storage.run_leases.finish(
        made.id, "here", outcome, {}, answer=to.get("answer", ""), calls_by_tool=called
    )
    return made.id


@pytest.fixture
async def ada(storage: Storage, clock: ManualClock) -> User:
    """With three runs on three days, the last of which has not ended; Eve has one that is much like the first."""
    ada, eve = await user(storage), await user(storage, "eve")
    answer = "It is 12 °C in ÅBO."
    first = await ended(
        storage, ada, "The WEATHER in Åbo", DFS, "answered", {"w/w/now": 2, "w/w/place": 1}, answer=answer
    )
    made = await storage.runs.get(first)
    assert made is not None
    await storage.runs.set_verdict(made, "right", "")
    await ended(storage, eve, "The WEATHER in Åbo", DFS, "answered", {"w/w/now": 1, "e/e/hers": 1}, answer=answer)
    clock.on(days=1)
    await ended(storage, ada, "Book a room_1", BY_MODEL, "gave_up", {"w/w/place": 1}, title="Travels")
    clock.on(days=1)
    talk = await storage.conversations.add(ada.id, "Open")
    await storage.runs.add(ada.id, talk.id, "The weather tomorrow", DFS, add_message=True)
    return ada


async def asked(storage: Storage, of: User, **wanted: Any) -> list[str]:
    return [one.request for one in await storage.run_history.list_page(of.id, RunFilter(**wanted))]


async def test_lists_what_each_run_took_the_newest_first(storage: Storage, ada: User) -> None:
    open_one, booked, weather = await storage.run_history.list_page(ada.id, RunFilter())
    assert (open_one.status, open_one.calls, open_one.conversation_title) == ("queued", None, "Open")
    assert (booked.outcome, booked.calls, booked.conversation_title) == ("gave_up", 1, "Travels")
    assert (weather.calls, weather.verdict, weather.conversation_title) == (3, "right", "The WEATHER in Åbo")


ASKED = InputNeeded(input="plan-1", asks="plan", reason="?")


@pytest.mark.parametrize(
    ("events", "refused"),
    [
        ([called("ok"), called("skipped")], "call"),
        ([called("failed", '{"status":"skipped"}')], None),
        ([ASKED], "plan"),
        ([ASKED, called("failed")], None),
        ([], None),
    ],
)
async def test_tells_what_was_not_allowed(storage: Storage, events: list[Event], refused: str | None) -> None:
    ada = await user(storage)
    run = await ended(storage, ada, "Book it", DFS, "gave_up", {})
    records = [EventRecord(run=run, seq=seq, at=AT, event=event) for seq, event in enumerate(events, 1)]
    await storage.events.append([to_stored_event(record) for record in records])
    (told,) = await storage.run_history.list_page(ada.id, RunFilter())
    assert told.refused == refused


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"search": " weather "}, ["The weather tomorrow", "The WEATHER in Åbo"]),
        ({"search": "12 °c IN åbo"}, ["The WEATHER in Åbo"]),
        ({"search": "room_"}, ["Book a room_1"]),
        ({"search": "r%m"}, []),
        ({"status": "queued"}, ["The weather tomorrow"]),
        ({"outcome": "gave_up"}, ["Book a room_1"]),
        ({"planner": "program", "policy": "llm", "model": "large"}, ["Book a room_1"]),
        ({"planner": "dfs", "model": "large"}, []),
        ({"tool": "w/w/place"}, ["Book a room_1", "The WEATHER in Åbo"]),
        ({"tool": "e/e/hers"}, []),
        ({"verdict": "right"}, ["The WEATHER in Åbo"]),
        ({"verdict": "none", "search": "weather"}, ["The weather tomorrow"]),
    ],
)
async def test_finds(storage: Storage, ada: User, wanted: dict[str, Any], found: list[str]) -> None:
    assert await asked(storage, ada, **wanted) == found


async def test_finds_by_day_and_conversation(storage: Storage, ada: User, clock: ManualClock) -> None:
    a_day = timedelta(days=1)
    assert await asked(storage, ada, since=clock() - a_day, until=clock()) == ["Book a room_1"]
    newest = (await storage.run_history.list_page(ada.id, RunFilter()))[0]
    assert await asked(storage, ada, conversation_id=newest.conversation_id) == [newest.request]


async def test_page_by_page_each_once(storage: Storage, ada: User) -> None:
    seen: list[str] = []
    while page := await storage.run_history.list_page(ada.id, RunFilter(), seen[-1] if seen else "", 2):
        seen += [one.id for one in page]
    assert seen == [one.id for one in await storage.run_history.list_page(ada.id, RunFilter())]


async def test_the_tools_that_most_runs_called_first(storage: Storage, ada: User) -> None:
    told = [(one.tool, one.runs) for one in await storage.run_history.list_tools(ada.id)]
    assert told == [("w/w/place", 2), ("w/w/now", 1)]
    assert await storage.conversations.remove(
        (await storage.run_history.list_page(ada.id, RunFilter()))[1].conversation_id, ada.id
    )
    assert [one.tool for one in await storage.run_history.list_tools(ada.id)] == ["w/w/now", "w/w/place"]


def call(run_id: str, seq: int, outcome: str | None, seconds: float, response: str = "") -> StoredEvent:
    result: JsonObject = {"tool": "a/b/c", "outcome": outcome, "seconds": seconds, "response": response}
    body = json.dumps({"event": {"kind": "call.finished", "result": result}})
    return StoredEvent(run_id=run_id, seq=seq, kind="call.finished", body=body)


async def test_runs_by_planner_and_calls_by_tool(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    made, _ = await run(storage, ada)
    await storage.run_leases.claim("here", timedelta(seconds=60))
    outcomes = (("ok", 1.0), ("transient", 3.0), (None, 9.0))
    told = [call(made.id, number, outcome, seconds) for number, (outcome, seconds) in enumerate(outcomes, start=1)]
    await storage.events.append([*told, call(made.id, 4, "ok", 50.0, "x" * 200_000)])
    assert await storage.performance.measure_tools(7) == [], "its run has not ended"
    await storage.run_leases.finish(made.id, "here", "gave_up", {"total_seconds": 4.5})
    (planner,) = await storage.performance.measure_planners(7)
    assert (planner.name, planner.count, planner.failed, planner.p95) == ("dfs (offline)", 1, 1, 4.5)
    (tool,) = await storage.performance.measure_tools(7)
    assert (tool.name, tool.count, tool.failed, tool.median, tool.p95) == ("a/b/c", 2, 1, 1.0, 3.0)
    clock.on(days=8)
    assert (await storage.performance.measure_tools(7), await storage.performance.measure_planners(7)) == ([], [])
