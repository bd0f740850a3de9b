"""A run is forgotten: what was said, what happened, and what was kept of it to go by."""

from datetime import UTC, datetime
from typing import Any

import pytest

from domain.event import EventRecord, WeightsLearned
from domain.memory import Memory
from domain.program import Program, ProgramPlan
from domain.solution import Solution
from domain.tool import ToolId
from server.runs.event_journal import to_stored_event
from server.storage.identifiers import generate_id
from server.storage.rows.runs import EventRow, RunRow
from tests.support.server_world import World, with_store

AT = datetime(2026, 3, 1, tzinfo=UTC)
TOOL = ToolId("a/b/c")


async def run_of(world: World, conversation: str, status: str) -> str:
    told: dict[str, Any] = {
        "request": "six times seven",
        "planner": "program",
        "policy": "offline",
        "model": "",
        "settings": {},
    }
    owner, storage = world.people["user"].id, world.services.storage
    row = RunRow(
        id=generate_id(),
        user_id=owner,
        conversation_id=conversation,
        status=status,
        plan_version=0,
        created_at=AT,
        **told,
    )
    async with storage.database.write_session() as session:
        session.add(row)
    if status == "finished":
        await storage.conversations.add_message(conversation, owner, "assistant", "42", row.id)
    return row.id


@pytest.mark.parametrize("borne_out", [True, False])
async def test_what_was_kept_of_it_goes_with_it(world: World, borne_out: bool) -> None:
    await with_store(world)
    storage, owner = world.services.storage, world.people["user"].id
    headers = await world.headers_of("user")
    conversation = (await storage.conversations.add(owner)).id
    run, under_way = await run_of(world, conversation, "finished"), await run_of(world, conversation, "waiting")
    early = await world.client.delete(f"/api/v1/runs/{under_way}", headers=headers)
    assert (early.status_code, "stop it first" in early.json()["detail"]) == (409, True)

    container = await world.services.agents.get_container()
    memories, library = await container.memories(), await container.solutions(owner)
    await memories.add([Memory(id="m", owner=owner, request="six times seven", pattern="six", path=(TOOL,), at=AT)])
    plan = ProgramPlan(program=Program(text="6 * 7", tools={}))
    runs = (run, "another") if borne_out else (run,)
    one = Solution(
        id="", owner=owner, plan=plan, patterns=("six times seven",), path=(), origin="run", runs=runs, at=AT
    )
    (solution,) = await library.add([one])
    learnt = WeightsLearned(remembered=("m",), solutions=(solution,))
    told = to_stored_event(EventRecord(run=run, seq=1, at=AT, event=learnt))
    async with storage.database.write_session() as session:
        session.add(EventRow(run_id=run, seq=1, kind=told.kind, body=told.body))

    assert (await world.client.delete(f"/api/v1/runs/{run}", headers=headers)).status_code == 204
    assert (await world.client.get(f"/api/v1/runs/{run}", headers=headers)).status_code == 404
    assert await storage.conversations.list_messages(conversation, owner) == []
    assert [one.id async for one in memories.stream_all()] == []
    assert list(await library.get([solution])) == ([solution] if borne_out else [])
