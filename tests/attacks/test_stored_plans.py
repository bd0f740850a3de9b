"""A plan that is kept costs little whenever it is looked at, also one from before plans were bounded."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from server.storage.identifiers import generate_id
from server.storage.rows.runs import RunRow
from tests.attacks.held_loop import measured
from tests.support.indexed_store import indexed_store
from tests.support.server_world import World, copied, serving
from tests.support.small_tools import FIND, HELD, SEND, STEP


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of two tools."""
    return asyncio.run(indexed_store(tmp_path_factory.mktemp("store"), [FIND, SEND]))


@pytest.fixture
async def world(home: Path, store: Path, tmp_path: Path) -> AsyncIterator[World]:
    async with serving(await asyncio.to_thread(copied, home, tmp_path / "home"), store=store, max_depth=50) as opened:
        opened.services.worker.stop()
        await opened.services.agents.get_container()
        yield opened


async def waiting(world: World, steps: list[dict[str, Any]]) -> str:
    """A run that waits with a plan of these steps."""
    storage, user = world.services.storage, world.people["user"].id
    conversation, run_id = await storage.conversations.add(user), generate_id()
    at = conversation.created_at
    chosen: dict[str, Any] = {"planner": "dfs", "policy": "offline", "model": "", "settings": {}, "plan_version": 0}
    told: dict[str, Any] = {"request": "find a city", "status": "waiting", "created_at": at}
    async with storage.database.write_session() as session:
        session.add(RunRow(id=run_id, user_id=user, conversation_id=conversation.id, **chosen, **told))
    plan: Any = {"steps": steps, "parameters": {}}
    question: Any = {"reason": "?", "plan": plan, "request": "find a city", "given": [], "made": []}
    await storage.run_questions.ask(run_id, "plan-1", "plan", question)
    return run_id


@pytest.mark.parametrize("count", [50, 2_000, 20_000])
async def test_looking_at_a_plan_holds_nobody_up(world: World, count: int) -> None:
    run = await waiting(world, [STEP | {"arguments": {"city": f"c{number}"}} for number in range(count)])
    headers = await world.headers_of("user")
    wanted = [("GET", "", 200), ("POST", "/dry-run", 200 if count == 50 else 400)]
    for method, path, status in wanted:
        with measured() as held:
            asked = world.client.request(method, f"/api/v1/runs/{run}/plan{path}", headers=headers)
            answer = await asyncio.create_task(asked)
        assert answer.status_code == status, answer.text[:300]
        assert held.longest < HELD, path
    if count > 50:
        shown = (await world.client.get(f"/api/v1/runs/{run}/plan", headers=headers)).json()
        assert "at most 50 steps" in shown["problems"][0]["message"]


async def test_a_list_of_runs_does_not_read_their_plans(world: World) -> None:
    """Two hundred runs, each with a plan of half a megabyte."""
    long: Any = {"document": {"steps": [STEP | {"arguments": {"city": "x" * 500_000}}], "parameters": {}}}
    storage, user = world.services.storage, world.people["user"].id
    conversation = await storage.conversations.add(user)
    kept: dict[str, Any] = {"planner": "dfs", "policy": "offline", "model": "", "settings": long, "plan_version": 0}
    told: dict[str, Any] = {"request": "find", "status": "waiting", "created_at": conversation.created_at}
    owned = {"user_id": user, "conversation_id": conversation.id}
    async with storage.database.write_session() as session:
        session.add_all(RunRow(id=generate_id(), **owned, **kept, **told) for _ in range(100))
    headers = await world.headers_of("user")
    path = f"/api/v1/conversations/{conversation.id}/runs?limit=200"
    with measured() as held:
        answer = await asyncio.create_task(world.client.get(path, headers=headers))
    assert len(answer.json()) == 100
    assert held.longest < HELD
