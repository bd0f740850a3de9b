"""What a server exports of a run, and of the solution that it left."""

import asyncio
from collections.abc import AsyncIterator, Generator
from pathlib import Path
from typing import Any

import pytest

from agent.exporting.program_files import EXPORT_FORMS
from agent.scheduler import closing
from server.runs.event_stream import stream_events
from tests.support.playground_process import running_playground
from tests.support.server_process import built
from tests.support.server_world import World, copied, serving

WEATHER = "What is the temperature in Tarnholm right now?"


@pytest.fixture
def playground() -> Generator[str]:
    with running_playground() as address:
        yield address


@pytest.fixture
async def world(home: Path, playground: str, tmp_path: Path) -> AsyncIterator[World]:
    """A server over a playground."""
    store = (await asyncio.to_thread(built, tmp_path, playground)).store
    own, hosts = await asyncio.to_thread(copied, home, tmp_path / "home"), {playground.removeprefix("http://")}
    async with serving(own, store=store, allow_hosts=hosts) as opened:
        yield opened


async def test_a_run_and_its_solution_are_exported_as_the_same_text_each_time(world: World) -> None:
    headers = await world.headers_of("user")

    async def call(method: str, path: str, body: Any = None) -> Any:
        answer = await world.client.request(method, f"/api/v1{path}", json=body, headers=headers)
        assert answer.is_success, answer.text
        return answer.json() if "json" in answer.headers["content-type"] else answer.text

    conversation = (await call("POST", "/conversations", {}))["id"]
    run = (await call("POST", f"/conversations/{conversation}/runs", {"request": WEATHER}))["id"]
    services = world.services
    async with closing(stream_events(services.storage, services.broker, run)) as events:
        async for _ in events:
            continue
    for form in EXPORT_FORMS:
        exported = await call("GET", f"/runs/{run}/export?as={form}")
        assert exported == await call("GET", f"/runs/{run}/export?as={form}")
        compile(exported["text"], exported["file"], "exec")
    kept = (await call("GET", "/solutions"))[0]["id"]
    python = await call("GET", f"/solutions/{kept}/export?as=python")
    compile(python["text"], python["file"], "exec")
