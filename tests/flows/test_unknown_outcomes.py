"""A server that is killed while a change is under way: its user is asked what became of it, and the playground's ledger knows."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

import pytest

from domain.event import CallFinished, EventRecord, InputNeeded, RunFinished
from tests.flows.test_server_approvals import asked, end, stands
from tests.support.fault_proxy import Exchange, Proxy, passing, proxying
from tests.support.playground_process import running_playground
from tests.support.server_process import WRITE, Client, Place, built, effects, registered, reset, serving

pytestmark = pytest.mark.timeout(300)


@dataclass
class World:
    """``place`` is called through ``proxy``; ``home`` is the server's."""

    place: Place
    proxy: Proxy
    home: Path

    def held(self, *, does: bool) -> threading.Event:
        """The next change is not answered, whether or not it is made; set when it is that far."""
        there = threading.Event()

        async def fault(exchange: Exchange) -> None:
            if exchange.request.startswith(b"GET"):
                await passing(exchange)
                return
            if does:
                await exchange.forward()
            there.set()
            await asyncio.sleep(600)

        self.proxy.choose(fault)
        return there

    def killed(self, does: bool, told: Callable[[Client], str], who: Client | None = None) -> tuple[Client, str]:
        """Serve until the change is held, then kill. ``told``: sets the run going, and is its id."""
        there = self.held(does=does)
        with serving(self.place, self.home) as (address, process):
            client = who.at(address) if who else registered(address)
            run = told(client)
            assert there.wait(60)
            process.kill()
            process.wait()
        self.proxy.choose(passing)
        return client, run


@pytest.fixture(scope="module")
def behind_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, Proxy]]:
    """A playground, and a proxy in front of it on a loop of its own."""
    found: Queue[tuple[Proxy, Callable[[], object]]] = Queue()
    with running_playground() as playground:
        thread = threading.Thread(target=lambda: asyncio.run(_proxied(playground, found)))
        thread.start()
        proxy, stop = found.get(timeout=30)
        try:
            yield built(tmp_path_factory.mktemp("place"), playground, proxy.address), proxy
        finally:
            stop()
            thread.join()


async def _proxied(playground: str, found: "Queue[tuple[Proxy, Callable[[], object]]]") -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    async with proxying(playground) as proxy:
        found.put((proxy, lambda: loop.call_soon_threadsafe(ended.set)))
        await ended.wait()


@pytest.fixture
def world(behind_proxy: tuple[Place, Proxy], tmp_path: Path) -> World:
    """The playground as if nothing had been changed, and a server's home."""
    place, proxy = behind_proxy
    reset(place)
    proxy.choose(passing)
    return World(place, proxy, tmp_path / "home")


def begins(client: Client) -> str:
    """A run whose change is allowed, so that it is made."""
    _, run = client.ask(WRITE)
    _, question = asked(client, run)
    decides(client, run, question.input, "allow")
    return run


def decides(client: Client, run: str, question: str, decision: str) -> int:
    return client.call("POST", f"/runs/{run}/inputs/{question}", {"decision": decision}).status_code


def open_question(client: Client, run: str) -> str:
    """Of the run that waits to be told what became of its change."""
    stands(client, run, "waiting")
    (shown,) = [one for one in client.call("GET", f"/runs/{run}/inputs").json() if one["decision"] is None]
    assert shown["asks"] == "unknown_outcome"
    return shown["id"]


def results(records: list[EventRecord]) -> list[str]:
    return [record.event.result.status for record in records if isinstance(record.event, CallFinished)]


def settled(world: World, does: bool, decision: str) -> tuple[list[EventRecord], RunFinished]:
    """The run's events and its end, once its change was cut off and its user has said what became of it."""
    ada, run = world.killed(does, begins)
    assert len(effects(world.place)) == does
    with serving(world.place, world.home) as (address, _):
        ada.address = address
        question = open_question(ada, run)
        assert decides(ada, run, question, "allow") == 400
        assert decides(ada, run, question, decision) == 200
        assert decides(ada, run, question, decision) == 409
        records = ada.follow(run)
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert [one.event.asks for one in records if isinstance(one.event, InputNeeded)] == ["call", "unknown_outcome"]
    return records, end(records)


@pytest.mark.parametrize(
    ("does", "decision", "status", "made"),
    [
        (True, "happened", "ok", 1),
        (False, "did_not_happen", "ok", 1),
        (True, "leave", "unknown", 1),
        (False, "leave", "unknown", 0),
    ],
)
def test_its_user_says_what_became_of_it(world: World, does: bool, decision: str, status: str, made: int) -> None:
    records, last = settled(world, does, decision)
    assert results(records) == [status]
    assert len(effects(world.place)) == made
    assert (last.outcome == "answered") == (decision != "leave")
    assert ("you said that it took effect" in last.answer) == (decision == "happened"), last.answer
    assert ("is unknown" in last.answer) == (decision == "leave"), last.answer


def test_killed_again_while_it_is_made_again(world: World) -> None:
    """Nothing is made a third time unasked."""

    def again(client: Client) -> str:
        assert decides(client, run, open_question(client, run), "did_not_happen") == 200
        return run

    ada, run = world.killed(False, begins)
    ada, _ = world.killed(True, again, ada)
    assert len(effects(world.place)) == 1
    with serving(world.place, world.home) as (address, _):
        ada.address = address
        assert decides(ada, run, open_question(ada, run), "happened") == 200
        records = ada.follow(run)
    assert len(effects(world.place)) == 1
    assert results(records) == ["ok"]
    questions = [one.event.input for one in records if isinstance(one.event, InputNeeded)]
    assert len(questions) == len(set(questions)) == 3


def test_an_answer_that_is_lost_is_asked_about_without_a_kill(world: World) -> None:
    async def lost(exchange: Exchange) -> None:
        if exchange.request.startswith(b"GET"):
            await passing(exchange)
        else:
            await exchange.forward()
            exchange.reset()

    world.proxy.choose(lost)
    with serving(world.place, world.home) as (address, _):
        ada = registered(address)
        run = begins(ada)
        assert decides(ada, run, open_question(ada, run), "happened") == 200
        records = ada.follow(run)
    assert results(records) == ["ok"]
    assert len(effects(world.place)) == 1
