"""What is asked may be the worst that four thousand characters can say: making the run holds nobody up."""

import asyncio
from pathlib import Path

import httpx
import pytest

from tests.attacks.held_loop import measured
from tests.support.indexed_store import indexed_store
from tests.support.server_world import copied, serving
from tests.support.small_tools import FIND, HELD, SEND

REQUESTS = (
    "2026-01-01 ",
    "1,000.",
    "A b C d ",
    "a ",
    '"a ',
    "(",
    "1",
    "a@b.c ",
    "next monday ",
    "Paris and then ",
    "A",
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of two tools."""
    return asyncio.run(indexed_store(tmp_path_factory.mktemp("store"), [FIND, SEND]))


async def ended(client: httpx.AsyncClient, run: str, headers: dict[str, str]) -> None:
    """To its end; what it asks back is left open."""
    while (status := (await client.get(run, headers=headers)).json()["status"]) != "finished":
        asked: list[dict[str, str | None]] = (await client.get(f"{run}/inputs", headers=headers)).json()
        for one in asked if status == "waiting" else []:
            if one["decision"] is None:
                await client.post(f"{run}/inputs/{one['id']}", json={"decision": "deny"}, headers=headers)
        await asyncio.sleep(0.05)


async def test_no_request_holds_the_loop(home: Path, store: Path, tmp_path: Path) -> None:
    async with serving(await asyncio.to_thread(copied, home, tmp_path / "home"), store=store) as world:
        headers = await world.headers_of("user")
        made = await world.client.post("/api/v1/conversations", json={}, headers=headers)
        path = f"/api/v1/conversations/{made.json()['id']}/runs"
        held: dict[str, float] = {}
        for words in ("find a city", *REQUESTS):  # the first one opens what all need
            request = words * (4_000 // len(words)) if held or words in REQUESTS else words
            with measured() as one:
                run = (await world.client.post(path, json={"request": request}, headers=headers)).json()["id"]
                await ended(world.client, f"/api/v1/runs/{run}", headers)
            held[words] = one.longest
        del held["find a city"]
        assert {words: seconds for words, seconds in held.items() if seconds > HELD} == {}
