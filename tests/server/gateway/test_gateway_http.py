"""The official client at a server's ``/mcp``: a user's token, their runs, questions put to them, and nobody else's session."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from starlette.types import Receive, Scope, Send

from server.storage.runs import ListedRun
from server.storage.tokens import Scope as TokenScope
from server.storage.tool_library import NewToolMark
from tests.support.mcp_clients import BERTHS, SHIPS, Says, built, call_taken_back, result, silent_api, text
from tests.support.mcp_servers import served
from tests.support.server_world import World, copied, serving
from tests.support.small_api import SmallApi, small_api

LONGEST = """
ships = (await list_ships())["ships"]
longest = sorted(ships, key=lambda ship: ship["length"])[-1]
berth = await berth_of(ship=longest["name"])
f"{longest['name']} lies at {berth['number']}"
"""
ASKS = """
which = await ask("Which ship?", choices=["Argo", "Zeemeeuw"])
berth = await berth_of(ship=which)
f"{which}: {berth['number']}"
"""
ASKS_AND_BOOKS = """
which = await ask("Which ship?", choices=["Argo", "Zeemeeuw"])
await book_berth(ship=which)
f"booked for {which}"
"""
REQUEST = "Where does the longest ship lie?"
BOOK = {"tool": "book_berth", "arguments": {"ship": "Argo"}}
INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}},
}  # fmt: skip
ACCEPTS = {"Accept": "application/json, text/event-stream"}


@dataclass
class Harbour:
    """A server over the harbour, at an address; and the small API behind it."""

    world: World
    address: str
    api: SmallApi

    @asynccontextmanager
    async def client(
        self, who: str = "user", person: Says | None = None, scopes: Sequence[TokenScope] = ()
    ) -> AsyncGenerator[ClientSession]:
        """``scopes``: with a program's token that has them, instead of a session's."""
        headers = await self.world.headers_of(who)
        if scopes:
            tokens, user = self.world.services.storage.tokens, self.world.people[who]
            token, _ = await tokens.open_program_session(user.id, "a client", timedelta(days=1), scopes)
            headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx.AsyncClient(headers=headers, trust_env=False, timeout=60) as http,
            streamable_http_client(f"{self.address}/mcp", http_client=http) as streams,
            ClientSession(streams[0], streams[1], elicitation_callback=person) as session,
        ):
            await session.initialize()
            yield session

    async def runs(self, who: str = "user") -> list[ListedRun]:
        return list(await self.world.services.storage.runs.list_page(self.world.people[who].id))

    async def answer_as_owner(self, run: str, decision: str) -> None:
        """Answer what a run waits with, as its owner does on the page, and wait until it has ended."""
        headers, inputs = await self.world.headers_of("user"), f"/api/v1/runs/{run}/inputs"
        question = (await self.world.client.get(inputs, headers=headers)).json()[-1]
        answer = await self.world.client.post(
            f"{inputs}/{question['id']}", json={"decision": decision}, headers=headers
        )
        assert answer.status_code == 200, answer.text
        while (await self.runs())[0].finished_at is None:  # noqa: ASYNC110  rows tell it in no other way
            await asyncio.sleep(0.05)


@pytest.fixture
async def harbour(home: Path, tmp_path: Path) -> AsyncIterator[Harbour]:
    async with (
        small_api(list_ships=SHIPS, berth_of=BERTHS, book_berth=BERTHS) as api,
        opened(home, tmp_path, api.url, api) as made,
    ):
        yield made


@asynccontextmanager
async def opened(home: Path, folder: Path, url: str, api: SmallApi, **settings: str) -> AsyncGenerator[Harbour]:
    store = await asyncio.to_thread(built, folder, url)
    own = await asyncio.to_thread(copied, home, folder / "home")
    async with serving(own, store=store, allow_hosts=url.removeprefix("http://"), **settings) as world:

        async def started(scope: Scope, receive: Receive, send: Send) -> None:
            assert scope["type"] == "http", "it has been started already"
            await world.app(scope, receive, send)

        async with served(started) as address:
            yield Harbour(world, address, api)


async def test_a_user_finds_runs_and_asks_and_the_runs_are_theirs(harbour: Harbour) -> None:
    words: list[str] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        words.append(message or "")

    async with harbour.client() as session:
        assert len((await session.list_tools()).tools) == 5
        found = await session.call_tool("find_tools", {"request": REQUEST})
        given = {"request": REQUEST, "program": LONGEST}
        ran = await session.call_tool("run_program", given, progress_callback=heard)
        asked = await session.call_tool("ask", {"request": "Which ships lie in the harbour?"})
        prompts = (await session.list_prompts()).prompts
    runs = await harbour.runs()
    conversations = await harbour.world.services.storage.conversations.list_page(harbour.world.people["user"].id)
    assert "async def berth_of" in text(found)
    assert "Zeemeeuw lies at 8" in text(ran)
    assert "berth_of: ok" in words
    assert "Zeemeeuw" in text(asked)
    assert {one.id for one in runs} == {result(one)["run"] for one in (ran, asked)}
    assert {one.outcome for one in runs} == {"answered"}
    assert [one.title for one in conversations] == ["MCP: mcp"]
    assert prompts == []
    assert await harbour.runs("other") == []


async def test_a_change_is_put_to_the_user_and_made_once_allowed(harbour: Harbour) -> None:
    person = Says({"allow": True}, "decline")
    async with harbour.client(person=person) as session:
        made = await session.call_tool("call_tool", BOOK)
        left = await session.call_tool("call_tool", BOOK)
    assert not made.isError, text(made)
    assert left.isError
    assert harbour.api.asked == [("POST", "/book_berth")]
    assert "Argo" in person.asked[0]
    assert "It goes to 127.0.0.1" in person.asked[0]


async def test_a_programs_token_does_what_its_scopes_say(harbour: Harbour) -> None:
    async with harbour.client(person=Says({"allow": True}), scopes=["ask", "read"]) as session:
        ran = await session.call_tool("run_program", {"request": REQUEST, "program": LONGEST})
        left = await session.call_tool("call_tool", BOOK)
    assert "Zeemeeuw lies at 8" in text(ran)
    assert "run_changes" in text(left)
    assert ("POST", "/book_berth") not in harbour.api.asked
    async with harbour.client(scopes=["ask", "run_changes"]) as session:
        found = await session.call_tool("find_tools", {"request": REQUEST})
    assert found.isError
    assert "lacks the scope read" in text(found)


@pytest.mark.parametrize(
    ("decision", "calls", "outcome"),
    [("allow", [("POST", "/book_berth")], "ok"), ("deny", [], "did not allow this call")],
)
async def test_a_change_of_a_token_waits_for_its_owner_and_goes_on_then(
    harbour: Harbour, decision: str, calls: list[tuple[str, str]], outcome: str
) -> None:
    person = Says()
    async with harbour.client(person=person, scopes=["ask", "read", "run_changes"]) as session:
        first = await session.call_tool("call_tool", BOOK)
        again = await session.call_tool("call_tool", BOOK)
        assert result(first) == result(again) == {"run": (await harbour.runs())[0].id, "outcome": "waiting"}
        assert "May book_berth be called?" in text(first)
        assert "on Footpath's page." in text(first)
        assert harbour.api.asked == []
        await harbour.answer_as_owner(result(first)["run"], decision)
        last = await session.call_tool("call_tool", BOOK)
        assert outcome in text(last)
        assert (await harbour.runs())[1:] == [], "all three calls were about one run"
        more = await session.call_tool("call_tool", BOOK)
        assert result(more)["outcome"] == "waiting"
        assert len(await harbour.runs()) == 2, "a call that was answered is another run when it is made again"
    assert harbour.api.asked == calls
    assert person.asked == []


async def test_a_run_that_waits_for_its_owner_outlives_the_client(harbour: Harbour) -> None:
    async with harbour.client(scopes=["ask", "run_changes"]) as session:
        waiting = await session.call_tool("call_tool", BOOK)
    await harbour.answer_as_owner(result(waiting)["run"], "allow")
    assert harbour.api.asked == [("POST", "/book_berth")]


async def test_a_question_that_approves_nothing_is_put_to_a_client_with_a_token(harbour: Harbour) -> None:
    person = Says({"answer": "2"})
    async with harbour.client(person=person, scopes=["ask", "read"]) as session:
        answer = await session.call_tool("run_program", {"request": "Where does it lie?", "program": ASKS})
    assert "Which ship?" in person.asked[0]
    assert "Zeemeeuw: 8" in text(answer)


async def test_what_was_answered_before_a_run_waited_is_not_asked_again(harbour: Harbour) -> None:
    person, program = Says({"answer": "1"}), {"request": "Book a berth.", "program": ASKS_AND_BOOKS}
    async with harbour.client(person=person, scopes=["ask", "read", "run_changes"]) as session:
        first = await session.call_tool("run_program", program)
        await harbour.answer_as_owner(result(first)["run"], "allow")
        last = await session.call_tool("run_program", program)
    assert (result(first)["outcome"], result(last)["outcome"]) == ("waiting", "answered"), text(last)
    assert "booked for Argo" in text(last)
    assert len(person.asked) == 1


async def test_a_client_is_told_where_its_owner_approves(home: Path, tmp_path: Path) -> None:
    async with (
        small_api(book_berth=BERTHS) as api,
        opened(home, tmp_path, api.url, api, public_address="https://footpath.example/") as harbour,
        harbour.client(scopes=["ask", "run_changes"]) as session,
    ):
        waiting = await session.call_tool("call_tool", BOOK)
        [run] = await harbour.runs()
    assert f"https://footpath.example/?conversation={run.conversation_id})" in text(waiting)


async def test_a_client_that_cannot_ask_is_told_what_to_do(harbour: Harbour) -> None:
    async with harbour.client() as session:
        answer = await session.call_tool("call_tool", BOOK)
    assert answer.isError
    assert "on Footpath's page" in text(answer)
    assert harbour.api.asked == []


async def test_what_a_client_takes_back_is_cancelled(home: Path, tmp_path: Path) -> None:
    async with silent_api() as api, opened(home, tmp_path, api.url, SmallApi()) as made, made.client() as session:
        told = await call_taken_back(session, api)
        while (runs := await made.runs())[0].finished_at is None:  # noqa: ASYNC110  rows tell it in no other way
            await asyncio.sleep(0.05)
    assert "cancelled" in told
    assert [one.outcome for one in runs] == ["cancelled"]


async def test_nobody_uses_it_without_a_token_from_a_strangers_page_or_in_anothers_session(harbour: Harbour) -> None:
    async def sent(who: str, **headers: str) -> httpx.Response:
        given = ACCEPTS | await harbour.world.headers_of(who) | headers
        async with httpx.AsyncClient(trust_env=False) as http:
            return await http.post(f"{harbour.address}/mcp", json=INITIALIZE, headers=given)

    nobody = await sent("nobody")
    assert (nobody.status_code, nobody.headers["www-authenticate"]) == (401, "Bearer")
    assert "POST /api/v1/auth/login" in nobody.json()["detail"]
    assert (await sent("nobody", Authorization="Bearer fpa_nonsense")).status_code == 401
    assert (await sent("user", Origin="https://stranger.example")).status_code == 403
    assert (await sent("user", Host="stranger.example")).status_code == 421
    own = await sent("user", Origin=harbour.address)
    assert own.status_code == 200
    session = {"Mcp-Session-Id": own.headers["mcp-session-id"]}
    assert (await sent("other", **session)).status_code == 404
    again: dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    async with httpx.AsyncClient(trust_env=False) as http:
        given = ACCEPTS | session | await harbour.world.headers_of("user")  # with a token that was renewed meanwhile
        assert (await http.post(f"{harbour.address}/mcp", json=again, headers=given)).status_code == 202


async def test_a_user_has_so_many_sessions(harbour: Harbour) -> None:
    headers = ACCEPTS | await harbour.world.headers_of("user")
    async with httpx.AsyncClient(trust_env=False, headers=headers) as http:
        opened = [await http.post(f"{harbour.address}/mcp", json=INITIALIZE) for _ in range(21)]
        closed = {"Mcp-Session-Id": opened[0].headers["mcp-session-id"]}
        assert (await http.delete(f"{harbour.address}/mcp", headers=closed)).status_code == 200
        while (more := await http.post(f"{harbour.address}/mcp", json=INITIALIZE)).status_code == 429:  # noqa: ASYNC110  as above
            await asyncio.sleep(0.05)
    assert [one.status_code for one in opened] == [200] * 20 + [429]
    assert more.status_code == 200


async def test_a_banned_tool_is_called_by_no_client(harbour: Harbour) -> None:
    marks, admin = harbour.world.services.storage.tool_marks, harbour.world.people["admin"]
    ban = NewToolMark.model_validate({"kind": "tool", "tool": "harbour/Port/list_ships", "mark": "ban", "reason": "no"})
    await marks.add(ban, admin.id, admin.name)
    async with harbour.client() as session:
        answer = await session.call_tool("call_tool", {"tool": "list_ships"})
    assert answer.isError
    assert harbour.api.asked == []
