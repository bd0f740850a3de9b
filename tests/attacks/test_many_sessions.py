"""Nobody keeps others from opening a session at ``/mcp`` by holding all that there are."""

from pathlib import Path

import httpx
import pytest

from server.gateway import endpoint
from tests.server.gateway.test_gateway_http import ACCEPTS, INITIALIZE
from tests.support.mcp_servers import served
from tests.support.server_world import copied, serving

PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


async def test_who_holds_the_most_sessions_loses_an_idle_one_to_who_has_none(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "SESSIONS", 4)
    async with (
        serving(copied(home, tmp_path / "home")) as world,
        served(world.app) as address,
        httpx.AsyncClient(trust_env=False, timeout=30) as http,
    ):
        user, other = await world.headers_of("user"), await world.headers_of("other")

        async def opened(headers: dict[str, str]) -> httpx.Response:
            return await http.post(f"{address}/mcp", json=INITIALIZE, headers={**ACCEPTS, **headers})

        async def alive(headers: dict[str, str], session: str) -> int:
            sent = {**ACCEPTS, **headers, "mcp-session-id": session}
            return (await http.post(f"{address}/mcp", json=PING, headers=sent)).status_code

        held = [(await opened(user)).headers["mcp-session-id"] for _ in range(4)]
        assert await alive(user, held[0]) == 200  # so that the second is idle longest
        first, second = await opened(other), await opened(other)
        assert (first.status_code, second.status_code) == (200, 200), first.text + second.text
        assert [await alive(user, one) for one in held] == [200, 404, 404, 200]
        assert await alive(other, first.headers["mcp-session-id"]) == 200
        refused = await opened(other)
        assert (refused.status_code, "try again later" in refused.text) == (429, True)
        assert [await alive(user, one) for one in (held[0], held[3])] == [200, 200]


async def test_a_user_may_have_so_many_and_no_more(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "USER_SESSIONS", 2)
    async with (
        serving(copied(home, tmp_path / "home")) as world,
        served(world.app) as address,
        httpx.AsyncClient(trust_env=False, timeout=30) as http,
    ):
        headers = {**ACCEPTS, **await world.headers_of("user")}
        codes = [(await http.post(f"{address}/mcp", json=INITIALIZE, headers=headers)).status_code for _ in range(3)]
        assert codes == [200, 200, 429]
