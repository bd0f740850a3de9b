"""Two server processes on the same rows: whoever asks whichever of them, and whichever dies, runs are made once and seen whole.

They share one embedded store, which one process owns: so it is known which of them makes the runs.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from domain.event import EventRecord, InputNeeded, RunFinished
from tests.flows.test_server_approvals import stands
from tests.servers.postgres.databases import new_database
from tests.servers.postgres.server import PostgresServer
from tests.support.fault_proxy import Exchange, Proxy, passing, proxying
from tests.support.forked_commands import Command
from tests.support.playground_process import running_playground
from tests.support.server_process import INHABITANTS, WRITE, Client, Place, built, effects, registered, reset, serving

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class Pair:
    """Two servers, and the same user at each. ``first`` owns the store, ``other`` would like to."""

    place: Place
    proxy: Proxy
    first: Client
    other: Client
    process: Command


@pytest.fixture(scope="module")
def playground() -> Iterator[str]:
    with running_playground() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgres"])
async def rows(request: pytest.FixtureRequest) -> AsyncIterator[dict[str, str]]:
    """The settings that say where the rows are."""
    if request.param == "sqlite":
        yield {}
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    async with new_database(server) as name:
        yield {"FOOTPATH_DATABASE_URL": server.url(name)}


@asynccontextmanager
async def pair(playground: str, folder: Path, rows: dict[str, str]) -> AsyncGenerator[Pair]:
    """The first has made a run when the other starts. What tools are asked goes through the proxy."""
    async with proxying(playground) as proxy:
        place = await asyncio.to_thread(built, folder, playground, proxy.address)
        await asyncio.to_thread(reset, place)
        home = folder / "home"
        async with _serving(place, home, rows) as (address, process):
            first = await asyncio.to_thread(registered, address)
            _, run = await asyncio.to_thread(first.ask, INHABITANTS)
            await asyncio.to_thread(first.follow, run)
            async with _serving(place, home, rows) as (another, _):
                yield Pair(place, proxy, first, first.at(another), process)


@asynccontextmanager
async def _serving(place: Place, home: Path, rows: dict[str, str]) -> AsyncGenerator[tuple[str, Command]]:
    server = serving(place, home, **rows)
    started = await asyncio.to_thread(server.__enter__)
    try:
        yield started
    finally:
        await asyncio.to_thread(server.__exit__, None, None, None)


class Held:
    """A fault: requests are kept, unanswered, until they are let go."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.free = asyncio.Event()

    async def __call__(self, exchange: Exchange) -> None:
        self.reached.set()
        await self.free.wait()
        await passing(exchange)


def ended(records: list[EventRecord]) -> str:
    """How it ended; its events are numbered without a gap."""
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    last = records[-1].event
    assert isinstance(last, RunFinished)
    return last.outcome


async def test_a_run_is_asked_of_one_made_by_another_and_followed_at_both(
    playground: str, tmp_path: Path, rows: dict[str, str]
) -> None:
    async with pair(playground, tmp_path, rows) as two:
        asked = [await asyncio.to_thread(two.other.ask, INHABITANTS) for _ in range(3)]
        for _, run in asked:
            here, there = await asyncio.gather(
                asyncio.to_thread(two.other.follow, run), asyncio.to_thread(two.first.follow, run)
            )
            assert here == there
            assert ended(here) == "answered"


async def test_a_run_is_cancelled_at_another_than_makes_it(
    playground: str, tmp_path: Path, rows: dict[str, str]
) -> None:
    async with pair(playground, tmp_path, rows) as two:
        two.proxy.choose(held := Held())
        _, run = await asyncio.to_thread(two.first.ask, INHABITANTS)
        await held.reached.wait()
        answer = await asyncio.to_thread(two.other.call, "POST", f"/runs/{run}/cancel")
        assert answer.status_code == 202
        assert ended(await asyncio.to_thread(two.other.follow, run)) == "cancelled"
        held.free.set()


async def test_what_is_allowed_at_one_is_done_by_another(playground: str, tmp_path: Path, rows: dict[str, str]) -> None:
    async with pair(playground, tmp_path, rows) as two:
        _, run = await asyncio.to_thread(two.first.ask, WRITE)
        question = (await asyncio.to_thread(two.other.follow, run, 0, "input.needed"))[-1].event
        assert isinstance(question, InputNeeded)
        await asyncio.to_thread(stands, two.other, run, "waiting")
        path = f"/runs/{run}/inputs/{question.input}"
        assert (await asyncio.to_thread(two.other.call, "POST", path, {"decision": "allow"})).status_code == 200
        assert ended(await asyncio.to_thread(two.other.follow, run)) == "answered"
        assert len(await asyncio.to_thread(effects, two.place)) == 1


async def test_runs_of_one_that_is_killed_are_gone_on_with(
    playground: str, tmp_path: Path, rows: dict[str, str]
) -> None:
    async with pair(playground, tmp_path, rows) as two:
        two.proxy.choose(held := Held())
        _, run = await asyncio.to_thread(two.first.ask, INHABITANTS)
        await held.reached.wait()
        before = await asyncio.to_thread(two.other.follow, run, 0, "call.started")
        two.process.kill()
        two.proxy.choose(passing)
        everything = await asyncio.to_thread(two.other.follow, run)
        assert ended(everything) == "answered"
        assert everything[: len(before)] == before
        held.free.set()
