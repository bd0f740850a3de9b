"""Failures and latency are read off stored runs and their calls, on every database."""

import json
from datetime import timedelta

from domain.model import JsonObject
from server.storage.run_events import StoredEvent
from server.storage.storage import Storage
from tests.contract.rows.conftest import ManualClock
from tests.contract.rows.people import run, user


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
