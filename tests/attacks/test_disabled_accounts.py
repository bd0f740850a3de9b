"""Who may not go on does not: runs end before their next call, in whichever process, and streams end."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from domain.errors import UnauthenticatedError
from server.storage.runs import RunChoices
from tests.attacks.slow_tool import SlowTool, slow_tool
from tests.support.indexed_store import indexed_store
from tests.support.rights_matrix import a_question
from tests.support.scripted_runs import until
from tests.support.server_world import World, copied, serving


@pytest.fixture
async def tool() -> AsyncIterator[SlowTool]:
    async with slow_tool() as made:
        yield made


@pytest.fixture
async def world(home: Path, tool: SlowTool, tmp_path: Path) -> AsyncIterator[World]:
    store = await indexed_store(tmp_path / "store", [tool.doc])
    own = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(own, store=store, allow_hosts=frozenset({tool.host}), learn=False) as opened:
        yield opened


@pytest.fixture
async def elsewhere(world: World) -> AsyncIterator[World]:
    """Another server of the same rows, which makes no runs."""
    async with serving(world.services.settings.server_home) as opened:
        opened.services.worker.stop()
        yield opened


async def asked(world: World, tool: SlowTool, who: str = "user") -> tuple[str, dict[str, str]]:
    """A run that is at the first of its three calls, and its user's headers."""
    headers = await world.headers_of(who)
    made = (await world.client.post("/api/v1/conversations", json={}, headers=headers)).json()["id"]
    steps = [{"tool": tool.doc.id, "arguments": {"city": city}} for city in ("Oslo", "Bergen", "Moss")]
    before = tool.calls
    body = {"name": f"number {before}", "document": {"steps": steps}}
    template = (await world.client.post("/api/v1/templates", json=body, headers=headers)).json()["id"]
    run = {"conversation_id": made}
    answer = await world.client.post(f"/api/v1/templates/{template}/runs", json=run, headers=headers)
    assert answer.status_code == 202, answer.text
    await until(lambda: calls(tool, before + 1))
    return answer.json()["id"], headers


async def calls(tool: SlowTool, count: int) -> bool:
    return tool.calls >= count


async def end_of(world: World, run: str) -> dict[str, Any]:
    """What the run told last."""

    async def ended() -> bool:
        found = await world.services.storage.runs.get(run)
        return found is not None and found.status == "finished"

    await until(ended)
    events = await world.services.storage.events.list_kinds(run, ("run.finished",))
    return json.loads(events[-1].body)["event"]


async def change(world: World, who: str, **body: Any) -> None:
    admin = await world.headers_of("admin")
    path = f"/api/v1/users/{world.people[who].id}"
    assert (await world.client.patch(path, json=body, headers=admin)).status_code == 200


@pytest.mark.parametrize("where", ["here", "elsewhere"])
async def test_a_disabled_account_makes_no_further_call(
    world: World, elsewhere: World, tool: SlowTool, where: str
) -> None:
    run, _ = await asked(world, tool)
    await change(world if where == "here" else elsewhere, "user", disabled=True)
    tool.go.set()  # at once: nobody waits for the worker to look
    end = await end_of(world, run)
    assert (end["outcome"], end["error"]) == ("cancelled", "the account was disabled")
    assert tool.calls == 1


async def test_a_waiting_run_of_a_disabled_account_is_ended_and_cannot_be_answered(world: World) -> None:
    run = (await a_question(world))["run_id"]
    await change(world, "user", disabled=True)
    end = await end_of(world, run)
    assert (end["outcome"], end["error"]) == ("cancelled", "the account was disabled")
    await change(world, "user", disabled=False)
    headers = await world.headers_of("user")
    path = f"/api/v1/runs/{run}/inputs/a-question"
    answer = await world.client.post(path, json={"decision": "allow"}, headers=headers)
    assert answer.status_code == 409


async def test_a_role_that_falls_ends_what_was_asked_for_with_it(world: World, tool: SlowTool) -> None:
    run, _ = await asked(world, tool, "author")
    await change(world, "author", role="user")
    tool.go.set()
    end = await end_of(world, run)
    assert (end["outcome"], tool.calls) == ("cancelled", 1)
    assert "role" in end["error"]


async def test_others_runs_of_what_was_shared_end_with_the_right_to_share(world: World, tool: SlowTool) -> None:
    author = await world.headers_of("author")
    steps = [{"tool": tool.doc.id, "arguments": {"city": city}} for city in ("Oslo", "Bergen")]
    made = await world.client.post(
        "/api/v1/templates", json={"name": "a", "document": {"steps": steps}}, headers=author
    )
    path = f"/api/v1/templates/{made.json()['id']}"
    await world.client.patch(path, json={"shared": True}, headers=author)
    headers = await world.headers_of("other")
    conversation = (await world.client.post("/api/v1/conversations", json={}, headers=headers)).json()["id"]
    body = {"conversation_id": conversation, "version": 1}
    run = (await world.client.post(f"{path}/runs", json=body, headers=headers)).json()["id"]
    await until(lambda: calls(tool, 1))
    await change(world, "author", disabled=True)
    tool.go.set()
    end = await end_of(world, run)
    assert (end["outcome"], end["error"], tool.calls) == ("cancelled", "its template is not shared any more", 1)
    assert (await world.client.get(path, headers=headers)).status_code == 404


@pytest.mark.parametrize("every", [True, False])
async def test_an_ended_session_ends_its_runs_and_no_others(world: World, tool: SlowTool, every: bool) -> None:
    run, _ = await asked(world, tool)
    other, headers = await asked(world, tool)
    admin, path = await world.headers_of("admin"), f"/api/v1/users/{world.people['user'].id}/sessions"
    newest, older = (await world.client.get(path, headers=admin)).json()[:2]
    assert newest["id"] > older["id"]
    ended = await world.client.delete(path if every else f"{path}/{newest['id']}", headers=admin)
    assert ended.status_code == 204
    assert (await world.client.get("/api/v1/me", headers=headers)).status_code == 401
    tool.go.set()
    end = await end_of(world, other)
    assert (end["outcome"], end["error"]) == ("cancelled", "an administrator ended the session")
    assert ((await end_of(world, run))["outcome"] == "cancelled") == every


@pytest.mark.parametrize("how", ["disabled", "role", "session", "logout"])
async def test_streams_end(world: World, elsewhere: World, tool: SlowTool, how: str) -> None:
    """Also those at other servers, and while nothing happens in the run."""
    run, headers = await asked(world, tool, "author")
    follower = await world.headers_of("author")
    path = f"/api/v1/runs/{run}/events"
    following = asyncio.create_task(elsewhere.client.get(path, headers=follower))
    await asyncio.sleep(0.2)
    assert not following.done()
    match how:
        case "disabled":
            await change(world, "author", disabled=True)
        case "role":
            await change(world, "author", role="user")
        case "session":
            admin = await world.headers_of("admin")
            await world.client.delete(f"/api/v1/users/{world.people['author'].id}/sessions", headers=admin)
        case _:
            await world.client.post("/api/v1/auth/logout", headers=follower)
    async with asyncio.timeout(20):
        await following
    assert (await world.client.get("/api/v1/me", headers=headers)).status_code == (
        200 if how in ("logout", "role") else 401
    )


async def test_a_run_that_is_asked_for_while_its_account_is_disabled_is_not_begun(world: World) -> None:
    """The request was let in before; its run would have been queued after."""
    storage, user = world.services.storage, world.people["user"].id
    conversation = await storage.conversations.add(user)
    await storage.users.change(user, disabled=True)
    with pytest.raises(UnauthenticatedError):
        await storage.runs.add(user, conversation.id, "a request", RunChoices(planner="dfs", policy="offline"))
