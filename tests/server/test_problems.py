"""Errors leave the server as problem documents with stable codes, and tell nothing of its inside."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from domain import errors
from server.app import create_app
from server.problems import STATUS, status_of
from tests.server.document import api_document
from tests.support.server_world import World


def all_errors(kind: type[errors.FootpathError] = errors.FootpathError) -> set[type[errors.FootpathError]]:
    return {kind}.union(*(all_errors(one) for one in kind.__subclasses__()))


def test_every_error_has_a_status_of_its_own_or_its_kinds() -> None:
    ours = {kind for kind in all_errors() if kind.__module__.startswith("domain.")}
    assert {kind for kind in ours - {errors.FootpathError} if status_of(kind) == 500} == set()
    assert set(STATUS) <= ours
    codes = [kind.code for kind in ours]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.NotFoundError("gone"), 404, "not_found"),
        (errors.LockedOutError("wait", 12.4), 429, "locked_out"),
        (errors.StoreBusyError("busy"), 503, "store_busy"),
        (ValueError("the password is hunter2"), 500, "internal"),
    ],
)
async def test_an_error_becomes_a_problem(world: World, error: Exception, status: int, code: str) -> None:
    async def fails() -> None:
        raise error

    world.app.add_api_route("/fails", fails)
    answer = await world.client.get("/fails")
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert "hunter2" not in answer.text
    assert "Traceback" not in answer.text
    assert answer.headers.get("Retry-After") == {429: "12", 503: "5"}.get(status)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/nowhere", None, 404, "not_found"),
        ("PUT", "/health", None, 405, "method_not_allowed"),
        ("POST", "/api/v1/auth/login", b"{", 422, "invalid_request"),
        ("POST", "/api/v1/auth/login", b'{"name": "a", "password": "\\u0000"}', 422, "invalid_request"),
        ("POST", "/api/v1/auth/login", b'{"name": "\\ud800", "password": "x"}', 422, "invalid_request"),
        ("POST", "/api/v1/auth/refresh", b'{"refresh_token": "\\ud800"}', 422, "invalid_request"),
        ("POST", "/api/v1/auth/login", b'{"name": "a", "password": NaN}', 422, "invalid_request"),
        ("POST", "/api/v1/auth/login", b'{"name": "a", "password": 1e999}', 422, "invalid_request"),
        ("POST", "/api/v1/auth/login", b"[" * 5000, 422, "invalid_request"),
        ("POST", "/api/v1/auth/login", b" " * 1_000_001, 413, "too_large"),
        ("POST", "/api/v1/auth/register", b'{"name": "a b", "password": "long enough"}', 422, "invalid_request"),
    ],
)
async def test_bad_requests(world: World, method: str, path: str, body: bytes | None, status: int, code: str) -> None:
    answer = await world.client.request(method, path, content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_body_without_an_end_is_not_read_to_it(world: World) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 100_000_000:
            sent += 100_000
            yield b" " * 100_000

    answer = await world.client.post("/api/v1/auth/login", content=endless())
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert sent < 2_000_000


async def test_a_title_is_not_lost_by_leaving_it_out(world: World) -> None:
    headers = await world.headers_of("user")
    made = await world.client.post("/api/v1/conversations", json={"title": "Holidays"}, headers=headers)
    path = f"/api/v1/conversations/{made.json()['id']}"
    assert (await world.client.patch(path, json={}, headers=headers)).status_code == 422
    assert (await world.client.get(path, headers=headers)).json()["title"] == "Holidays"


async def test_a_database_that_goes_away_is_told(world: World, tmp_path: Path) -> None:
    world.services.worker.stop()
    await asyncio.sleep(0.3)  # what it asks just now it asks to the end
    await world.services.storage.close()
    home = world.services.settings.server_home

    def take_away() -> None:
        for file in home.glob("rows.db*"):
            file.unlink()

    await asyncio.to_thread(take_away)
    assert (await world.client.get("/health")).status_code == 200
    answer = await world.client.get("/health/ready")
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")


def test_the_document_is_whole() -> None:
    document = api_document()
    ids = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert len(ids) == len(set(ids))
    for name, path in document["paths"].items():
        page = ["text/html"] if name == "/api/v1/oauth/callback" else []  # a browser is sent there
        for operation in path.values():
            assert operation["summary"]
            for status, response in operation["responses"].items():
                if status >= "400":
                    assert list(response["content"]) in (
                        ["application/problem+json"],
                        ["application/problem+json", *page],
                    )


def test_making_the_application_opens_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = create_app()
    assert isinstance(httpx.ASGITransport(app), httpx.AsyncBaseTransport)
    assert list(tmp_path.iterdir()) == []
