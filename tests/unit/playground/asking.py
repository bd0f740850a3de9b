"""An application to ask, and the two kinds of question."""

from typing import Any

import httpx

from playground.application import create_app


def opened(**options: Any) -> httpx.AsyncClient:
    """A client of a fresh application; to be used with ``async with``."""
    transport = httpx.ASGITransport(create_app(**options))
    return httpx.AsyncClient(transport=transport, base_url="http://playground")


async def get(client: httpx.AsyncClient, path: str, **query: Any) -> Any:
    """The body of a GET that works."""
    response = await client.get(path, params=query)
    assert response.status_code == 200, response.text
    return response.json()


async def post(client: httpx.AsyncClient, path: str, body: Any = None, **options: Any) -> Any:
    """The body of a POST that works."""
    response = await client.post(path, json=body, **options)
    assert response.status_code in (200, 201, 202), response.text
    return response.json()


async def effects(client: httpx.AsyncClient) -> list[Any]:
    """The ledger."""
    return await get(client, "/_ledger")
