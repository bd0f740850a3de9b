"""What operations answered can be asked for, so that an agent is judged by what it heard."""

from typing import Any

import httpx
import orjson
import pytest

from playground import answered
from tests.unit.playground.asking import get

PATH = "/_answers"


async def heard(client: httpx.AsyncClient) -> list[tuple[Any, Any]]:
    return [(one["operation"], one["status"]) for one in await get(client, PATH)]


async def test_answers_are_kept_whole_with_what_was_refused_until_a_reset(client: httpx.AsyncClient) -> None:
    found = await get(client, "/atlas/search", city="Meghalpet")
    assert (await client.get("/atlas/search")).status_code == 422
    assert await heard(client) == [("search_places", 200), ("search_places", 422)]
    assert orjson.loads((await get(client, PATH))[0]["body"]) == found
    await client.post("/_reset")
    assert await heard(client) == []


async def test_the_oldest_are_forgotten(client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answered, "KEPT", 2)
    for city in ("Meghalpet", "Suryagarh", "Vishalpur"):
        await get(client, "/atlas/search", city=city)
    bodies = [one["body"] for one in await get(client, PATH)]
    assert len(bodies) == 2
    assert "Vishalpur" in bodies[-1]
