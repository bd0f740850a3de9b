"""The part of the matrix that is about files of conversations, about what a run was offered, and about forgetting one."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from agent.files.file_parsing import FileLimits, read_file
from server.storage.identifiers import generate_id
from server.storage.rows.runs import RunRow
from tests.server.access import Access, own
from tests.support.server_world import World, with_store

FILES = "/api/v1/conversations/{conversation_id}/files"


async def a_talk(world: World) -> Mapping[str, str]:
    made = await world.services.storage.conversations.add(world.people["user"].id, "a title")
    return {"conversation_id": made.id}


async def a_file(world: World) -> Mapping[str, str]:
    user, about = world.people["user"].id, await a_talk(world)
    read = read_file("a.csv", b"a,b\n1,2\n", FileLimits())
    kept = await world.services.storage.files.add(about["conversation_id"], user, 8, lambda _: read)
    return {**about, "file_id": kept.file.id}


async def a_finished_run(world: World) -> Mapping[str, str]:
    """Long ago, without events."""
    user, about, at = world.people["user"].id, await a_talk(world), datetime(2026, 1, 1, tzinfo=UTC)
    told: dict[str, Any] = {
        "request": "a request",
        "planner": "program",
        "policy": "offline",
        "model": "",
        "settings": {},
    }
    ended = {"status": "finished", "outcome": "answered", "finished_at": at}
    row = RunRow(id=generate_id(), user_id=user, plan_version=0, created_at=at, **ended, **about, **told)
    async with world.services.storage.database.write_session() as session:
        session.add(row)
    return {"run_id": row.id}


async def a_run_and_a_tool(world: World) -> Mapping[str, str]:
    """A tool that nobody knows, so that there is nothing to say why."""
    await with_store(world)
    return {**await a_finished_run(world), "tool": "no/such/tool"}


OF_RUNS: dict[tuple[str, str], Access] = {
    ("POST", FILES): own(201, a_talk, {"name": "a.csv", "content": "YSxiCjEsMgo="}),
    ("GET", FILES): own(200, a_talk),
    ("DELETE", f"{FILES}/{{file_id}}"): own(204, a_file),
    ("DELETE", "/api/v1/runs/{run_id}"): own(204, a_finished_run),
    ("GET", "/api/v1/runs/{run_id}/offer/{tool}"): Access(401, 400, 404, 404, 404, None, a_run_and_a_tool),
}
