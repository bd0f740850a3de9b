"""Servers that are killed again and again, at moments by chance, while their runs change something; and what must be so afterwards."""

import asyncio
import json
import sqlite3
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import httpx

from agent.execution.approval import POSSIBLE_REPEAT_NOTE
from domain.event import CallFinished, EventRecord, InputNeeded
from server.storage.permissions import get_call_target
from server.storage.storage import open_storage
from tests.support.fault_proxy import Exchange
from tests.support.forked_commands import Command
from tests.support.server_process import Place, effects, serving
from wiring.container import open_container
from wiring.settings import Settings

LONGEST = 4.0
"""Seconds a server lives at most once it has been asked for more: long enough for runs to be taken up and to end."""
_WAY = 0.08
"""Seconds that a change is on its way at most, there and back each: without, hardly any is caught in the air."""
_LEFT = 0.25
"""How often it is left open what became of a change that was cut off."""
_RUNS = {"FOOTPATH_USER_RUNS": "1000", "FOOTPATH_LEASE_SECONDS": "60"}


@dataclass
class Told:
    """A run: ``seen`` is what its follower was sent, over all servers; ``mark`` occurs in its change and in no other's."""

    run: str
    mark: str
    seen: list[EventRecord] = field(default_factory=list[EventRecord])

    @property
    def ended(self) -> bool:
        """Whether its end was seen."""
        return bool(self.seen) and self.seen[-1].event.kind == "run.finished"


@dataclass
class Life:
    """One set of rows and its servers. ``air``: changes that were begun and had not ended when a server was killed, by run and call.

    ``request_for``: a run's request by its mark, asked with these ``choices``; ``variables``: of the servers.
    ``said``: what their user said of them, who looks into the playground's ledger, or leaves it open (``left``: of these runs).
    """

    place: Place
    home: Path
    headers: dict[str, str]
    chance: Random
    request_for: Callable[[str], str] = lambda mark: request_for(mark)
    choices: dict[str, str] = field(default_factory=dict[str, str])
    variables: dict[str, str] = field(default_factory=dict[str, str])
    longest: float = LONGEST
    told: list[Told] = field(default_factory=list[Told])
    air: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    under_way: list[int] = field(default_factory=list[int])
    said: Counter[str] = field(default_factory=Counter[str])
    left: set[str] = field(default_factory=set[str])

    async def be_killed(self, new_runs: int) -> None:
        """A server that is asked for more, goes on with what it finds, and is killed at some moment."""
        async with self._serving() as (address, process), _client(address, self.headers) as client:
            for _ in range(new_runs):
                await self._ask(client)
            followers = [asyncio.create_task(self._follow(client, one)) for one in self.told if not one.ended]
            await asyncio.sleep(self.chance.uniform(0, self.longest))
            process.kill()
            await asyncio.gather(*followers)
        self.under_way.append(sum(not one.ended for one in self.told))
        self.air |= await asyncio.to_thread(begun, self.home / "rows.db")

    async def come_to_an_end(self) -> dict[str, list[EventRecord]]:
        """A server that is left alone: each run's events as they are told from the first, once all have ended."""
        async with self._serving() as (address, _), _client(address, self.headers) as client:
            whole = [Told(one.run, one.mark) for one in self.told]
            await asyncio.gather(*(self._follow(client, one) for one in whole))
            for one in whole:
                await _finished(client, one.run)
        return {one.run: one.seen for one in whole}

    async def _follow(self, client: httpx.AsyncClient, told: Told) -> None:
        """Add what is sent after what was seen, to the run's end or the server's; what is asked on the way is answered."""
        with suppress(httpx.TransportError):
            async with aclosing(follow(client, told)) as records:
                async for record in records:
                    if isinstance(record.event, InputNeeded):
                        await self._decide(client, told, record.event)

    async def _decide(self, client: httpx.AsyncClient, told: Told, question: InputNeeded) -> None:
        if question.asks == "call":
            assert POSSIBLE_REPEAT_NOTE not in question.reason
            await client.post(f"/runs/{told.run}/inputs/{question.input}", json={"decision": "allow"})
            return
        assert question.asks == "unknown_outcome"
        ledger = (await client.get(f"{self.place.playground}/_ledger")).json()
        happened = sum(_same(one["arguments"], question) for one in ledger) > sum(
            isinstance(one.event, CallFinished)
            and one.event.result.status == "ok"
            and _same(one.event.result.arguments, question)
            for one in told.seen
        )
        decision = "leave" if self.chance.random() < _LEFT else "happened" if happened else "did_not_happen"
        if decision == "leave":
            self.left.add(told.run)  # also where the answer to it is lost: it may count
        answer = await client.post(f"/runs/{told.run}/inputs/{question.input}", json={"decision": decision})
        assert answer.status_code in (200, 409), answer.text
        self.said[decision] += answer.status_code == 200

    async def _ask(self, client: httpx.AsyncClient) -> None:
        mark = f"plan {len(self.told):04}"
        conversation = (await client.post("/conversations", json={})).json()["id"]
        walks = {} if self.choices.get("policy") == "llm" else {"planner": "dfs"}
        asked = {"request": self.request_for(mark), **walks, **self.choices}
        answer = await client.post(f"/conversations/{conversation}/runs", json=asked)
        assert answer.status_code == 202, answer.text
        self.told.append(Told(answer.json()["id"], mark))

    @asynccontextmanager
    async def _serving(self) -> AsyncGenerator[tuple[str, Command]]:
        """As ``serving``, waited for elsewhere: the proxy and the followers are on this loop."""
        server = serving(self.place, self.home, **_RUNS, **self.variables)
        address = await asyncio.to_thread(server.__enter__)
        try:
            yield address
        finally:
            await asyncio.to_thread(server.__exit__, None, None, None)


def _same(arguments: Mapping[str, object], question: InputNeeded) -> bool:
    """Whether a change, as it was made, is the one that is asked about."""
    return all(arguments.get(name) == value for name, value in question.arguments.items())


async def _finished(client: httpx.AsyncClient, run: str) -> None:
    """The last event is told a moment before the run's row says so."""
    for _ in range(200):
        if (await client.get(f"/runs/{run}")).json()["status"] == "finished":
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"the run {run} has told its end and is not finished")


def request_for(mark: str) -> str:
    """A request for one change, whose arguments have the mark."""
    return f'Put "{mark}" on my to-do list, please: it has to be done by 2026-07-23. Which id does the task get?'


def _client(address: str, headers: dict[str, str]) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None)
    return httpx.AsyncClient(base_url=f"{address}/api/v1", headers=headers, timeout=60, trust_env=False, limits=limits)


async def follow(client: httpx.AsyncClient, told: Told) -> AsyncGenerator[EventRecord]:
    """What is sent after what was seen, which it is added to."""
    after = {"Last-Event-ID": str(told.seen[-1].seq)} if told.seen else {}
    async with client.stream("GET", f"/runs/{told.run}/events", headers=after) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                told.seen.append(EventRecord.model_validate_json(line.removeprefix("data: ")))
                yield told.seen[-1]


def begun(rows: Path) -> set[tuple[str, str]]:
    """Calls in the ledger that have no end, by run and call."""
    with closing(sqlite3.connect(rows)) as connection:
        return set(connection.execute("SELECT run_id, call_key FROM effects WHERE finished_at IS NULL"))


async def admitted(place: Place, home: Path) -> dict[str, str]:
    """The headers of a new user who lets all tools be called without being asked, where the place's store has them."""
    async with open_storage(Settings(server_home=home, access_minutes=600)) as storage:
        user = await storage.users.add("ada", "no password")
        async with open_container(Settings(store=place.store)) as container:
            changing = [tool async for tool in container.graph.stream_documents() if not tool.safe]
        for tool in changing:
            await storage.allowed_tools.allow(user.id, tool.id, get_call_target(tool))
        pair = await storage.tokens.open_session(user.id)
    return {"Authorization": f"Bearer {pair.access_token}"}


def slow_changes(chance: Random) -> Callable[[Exchange], Awaitable[None]]:
    """Changes take a while on their way there and on their way back; all else passes at once."""

    async def fault(exchange: Exchange) -> None:
        way = 0.0 if exchange.request.startswith(b"GET") else _WAY
        await asyncio.sleep(chance.uniform(0, way))
        response = await exchange.forward()
        await asyncio.sleep(chance.uniform(0, way))
        await exchange.send(response)

    return fault


def check(life: Life, whole: dict[str, list[EventRecord]]) -> Counter[str]:
    """Nothing that was told is missing or another, nothing is left out, nothing is done twice. How the runs ended, by outcome."""
    made = [json.dumps([one["tool"], one["arguments"]], sort_keys=True) for one in effects(life.place)]
    assert len(made) == len(set(made))
    outcomes: Counter[str] = Counter()
    for one in life.told:
        records = whole[one.run]
        assert records[: len(one.seen)] == one.seen
        assert [record.seq for record in records] == list(range(1, len(records) + 1))
        outcome = json.loads(records[-1].event.model_dump_json())["outcome"]
        mine = sum(one.mark in effect for effect in made)
        assert (mine, outcome) == (1, "answered") or (mine <= 1 and one.run in life.left), (one.run, mine, outcome)
        outcomes[outcome] += 1
    return outcomes
