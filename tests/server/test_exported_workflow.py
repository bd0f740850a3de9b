"""What a server exports of a run, and the workflow of n8n that leaves a program to a server, carried out against one."""

import asyncio
import json
from collections.abc import AsyncIterator, Generator
from pathlib import Path
from typing import Any

import pytest

from agent.scheduler import closing
from server.runs.event_stream import stream_events
from tests.flows.n8n_reading import carried_out, read
from tests.flows.served import built
from tests.playing import running_playground
from tests.server.world import World, copied, serving

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


async def test_a_run_is_exported_and_n8n_has_the_server_run_it_with_another_value(world: World) -> None:
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
    exported = await call("GET", f"/runs/{run}/export?as=n8n")
    assert exported["file"] == "what_is_the_temperature_in_city_right_now.n8n.json"
    assert exported == await call("GET", f"/runs/{run}/export?as=n8n")
    kept = (await call("GET", "/solutions"))[0]["id"]
    python = await call("GET", f"/solutions/{kept}/export?as=python")
    compile(python["text"], python["file"], "exec")

    loop, workflow = asyncio.get_running_loop(), read(exported["text"])

    def send(method: str, url: str, query: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
        del query
        path = url.removeprefix("http://127.0.0.1:8000/api/v1")
        return {"body": asyncio.run_coroutine_threadsafe(call(method, path, told["json"]), loop).result(60)}

    made = await asyncio.to_thread(carried_out, workflow, {"city": "Velmora"}, send)
    told = [one for one in made["Events"]["data"].split("\n\n") if "event: run.finished" in one]
    end = json.loads(told[-1][told[-1].index("data: ") + 6 :])["event"]
    assert end["outcome"] == "answered"
    assert -60 < float(end["answer"].splitlines()[0]) < 60
