"""Failures come when they are declared to come, count by application, and can be switched off."""

import asyncio
from typing import Any

import httpx
import pytest

from playground.application import create_app, failures
from playground.worlds.companies import companies
from playground.worlds.desks import rooms
from playground.worlds.orders import past_orders
from playground.worlds.press import articles
from tests.unit.playground.asking import client_of, get

QUOTE = f"/market-desk/stocks/{companies()[0].symbol}/quote"
PARCELS = [one.tracking_code for one in past_orders() if one.tracking_code][:2]
FREE = f"/deskhive/rooms/{rooms()[0].room_id}/free"


async def statuses(client: httpx.AsyncClient, path: str, count: int, **query: Any) -> list[int]:
    return [(await client.get(path, params=query)).status_code for _ in range(count)]


async def test_every_fourth_quote_is_one_too_many(client: httpx.AsyncClient) -> None:
    assert await statuses(client, QUOTE, 9) == [200, 200, 200, 429, 200, 200, 200, 429, 200]


async def test_too_many_requests_says_how_long_to_wait(client: httpx.AsyncClient) -> None:
    await statuses(client, QUOTE, 3)
    refused = await client.get(QUOTE)
    assert refused.headers["retry-after"] == "1"
    assert "Repeat after 1 s" in refused.json()["detail"]


async def test_tracking_breaks_once_for_each_parcel(client: httpx.AsyncClient) -> None:
    paths = [f"/parcel-eye/parcels/{code}" for code in PARCELS]
    assert [await statuses(client, path, 3) for path in paths] == [[500, 200, 200], [500, 200, 200]]


async def test_availability_times_out_now_and_then(client: httpx.AsyncClient) -> None:
    assert await statuses(client, FREE, 4, date="2026-05-12") == [200, 200, 200, 408]


async def test_officers_need_another_plan(client: httpx.AsyncClient) -> None:
    path = f"/firmbook/v2/companies/{companies()[0].company_id}"
    assert await statuses(client, f"{path}/officers", 2) == [403, 403]
    assert await statuses(client, path, 1) == [200]


async def test_dividends_are_gone(client: httpx.AsyncClient) -> None:
    refused = await client.get(f"/market-desk/stocks/{companies()[0].symbol}/dividends")
    assert refused.status_code == 404
    assert "withdrawn" in refused.json()["detail"]


async def test_elevation_is_late_and_right(client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def no_sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", no_sleep)
    found = await get(client, "/mapfolk/elevation", lat=58.2, lng=11.6)
    place = await get(client, "/atlas/reverse", latitude=58.2, longitude=11.6)
    details = await get(client, f"/atlas/places/{place['place']['place_id']}")
    assert found["elevation_m"] == details["elevation"]
    assert max(waited) >= 1


async def test_articles_are_large(client: httpx.AsyncClient) -> None:
    response = await client.get(f"/courant/api/articles/{articles()[0].article_id}")
    assert len(response.content) > 300_000
    assert response.json()["headline"] == articles()[0].headline


async def test_definitions_say_that_they_are_html(client: httpx.AsyncClient) -> None:
    response = await client.get("/lingua/define", params={"word": "orchard"})
    assert response.headers["content-type"].startswith("text/html")
    assert response.json()["definition"] == "ground planted with fruit trees"
    refused = await client.get("/lingua/define", params={"word": "spaceship"})
    assert (refused.status_code, refused.headers["content-type"]) == (404, "application/json")


async def test_counts_are_the_application_s(client: httpx.AsyncClient) -> None:
    assert await statuses(client, QUOTE, 3) == [200, 200, 200]
    async with client_of(create_app()) as other:
        assert await statuses(other, QUOTE, 3) == [200, 200, 200]
    assert await statuses(client, QUOTE, 1) == [429]


async def test_a_reset_sets_counts_and_switches_back(client: httpx.AsyncClient) -> None:
    await statuses(client, QUOTE, 3)
    await client.put("/_failures/all", params={"on": False})
    assert (await client.post("/_reset")).status_code == 204
    assert await statuses(client, QUOTE, 4) == [200, 200, 200, 429]


async def test_failures_are_switched_off_and_on(client: httpx.AsyncClient) -> None:
    path = f"/parcel-eye/parcels/{PARCELS[0]}"
    switched = (await client.put("/_failures/track_parcel", params={"on": False})).json()
    assert switched["track_parcel"] == []
    assert switched["get_stock_quote"] == ["busy"]
    assert await statuses(client, path, 2) == [200, 200]
    await client.put("/_failures/track_parcel", params={"on": True})
    assert await statuses(client, path, 2) == [500, 200]
    assert await get(client, "/_failures") == failures()
    unknown = await client.put("/_failures/get_order", params={"on": False})
    assert unknown.status_code == 404
    assert "GET /_failures" in unknown.json()["detail"]
