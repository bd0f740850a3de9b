"""A server is killed in the middle of an admission: the rows say what is offered, and the next server brings the store to it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest

from server.sources.states import quarantined
from server.storage.source_records import SERVER
from server.storage.storage import open_storage
from tests.support.indexed_store import indexed_store
from tests.support.server_process import ROOT, started
from tests.support.server_world import World, serving
from tests.support.small_api import document, operation, small_api
from tests.support.small_world import TOOLS
from tests.support.source_samples import Asking
from wiring.container import open_container
from wiring.settings import Settings

NUMBER = 12
PLACES = [f"place{number}" for number in range(NUMBER)]


async def offered(home: Path) -> set[str]:
    async with open_storage(Settings(server_home=home)) as storage:
        return {one.doc.id for one in await storage.source_offers.list_all()}


async def in_store(store: Path) -> tuple[set[str], set[str]]:
    """Tools of the source with a document, and with a vector."""
    async with open_container(Settings(), store) as container:
        _, index, _ = await container.get_retrieval()
        documents = {one.id async for one in container.graph.stream_documents()}
        known = {one.id for one in TOOLS}
        return set[str](documents - known), set[str](set(await index.fetch_digests()) - known)


@asynccontextmanager
async def with_author(home: Path, store: Path, port: int) -> AsyncGenerator[tuple[World, Asking]]:
    async with serving(home, store=store, allow_hosts=f"127.0.0.1:{port}") as world:
        yield world, Asking(world, await world.headers_of("author"))


@pytest.mark.parametrize("seconds", [0.25])
async def test_what_was_admitted_is_offered_whatever_ended_the_server(tmp_path: Path, seconds: float) -> None:
    home, store = tmp_path / "home", await indexed_store(tmp_path / "store", TOOLS)
    async with small_api(**{name: {"places": [{"name": name}]} for name in PLACES}) as api:
        api.answers["/openapi.json"] = document(api.url, *map(operation, PLACES))
        async with with_author(home, store, api.port) as (world, author):
            body = {"name": "Harbour", "kind": "openapi", "category": "sea", "address": f"{api.url}/openapi.json"}
            source = (await author("POST", "/sources", body))["id"]
            await author("POST", f"/sources/{source}/check", {})
            await world.services.checker.settled()
            tools = [one["tool"] for one in await author("GET", f"/sources/{source}/tools")]
            headers = await world.headers_of("author")
        await _killed_while_it_admits(home, store, source, tools, headers, seconds)
        said = await offered(home)
        assert said in (set(), set(tools)), "a step is whole or nothing"
        async with with_author(home, store, api.port):
            pass
        assert await in_store(store) == (said, said)
        # One that was killed before the store followed a quarantine.
        async with open_storage(Settings(server_home=home)) as storage:
            await storage.sources.apply_step(source, SERVER, lambda held: quarantined(held, [], SERVER, "stale"))
        async with with_author(home, store, api.port):
            pass
        assert await in_store(store) == (set(), set())


async def _killed_while_it_admits(
    home: Path, store: Path, source: str, tools: list[str], headers: dict[str, str], seconds: float
) -> None:
    variables = {"FOOTPATH_SERVER_HOME": str(home), "FOOTPATH_STORE": str(store), "PYTHONPATH": str(ROOT)}
    opening = started(variables, home.parent)
    address, process = await asyncio.to_thread(opening.__enter__)
    try:
        async with httpx.AsyncClient(headers=headers, timeout=60, trust_env=False) as client:
            url = f"{address}/api/v1/sources/{source}/admit"
            asking = asyncio.create_task(client.post(url, json={"tools": tools}))
            await asyncio.sleep(seconds)
            process.kill()
            with suppress(httpx.HTTPError):
                await asking
    finally:
        await asyncio.to_thread(opening.__exit__, None, None, None)
