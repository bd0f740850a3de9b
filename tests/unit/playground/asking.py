"""An application to ask, and how it is asked."""

from typing import Any

import httpx
from fastapi import FastAPI


def client_of(app: FastAPI) -> httpx.AsyncClient:
    """A client of an application; to be used with ``async with``."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://playground")


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
