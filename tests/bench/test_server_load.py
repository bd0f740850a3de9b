"""The server under load: runs of many users at once, and many followers of runs under way. Figures are printed, none is asserted."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from playground.child import running_playground
from tests.support.fault_proxy import Exchange, proxying
from tests.support.server_load import Follower, asked, busy, many_users, resident, sent, spread
from tests.support.server_process import INHABITANTS, ROOT, built, serving

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]
USERS, AT_ONCE, FOLLOWERS = 200, 20, 500
SETTINGS = {"FOOTPATH_RUNS_AT_ONCE": str(AT_ONCE), "FOOTPATH_USER_RUNS": "100", "FOOTPATH_LEASE_SECONDS": "15"}


@pytest.fixture
def playground() -> Iterator[str]:
    with running_playground() as address:
        yield address


def requests() -> list[str]:
    """What is asked: requests that take one, two and three calls, some of which change something."""
    files = [ROOT / "playground" / "requests" / f"{name}.jsonl" for name in ("one", "two", "three")]
    return [json.loads(line)["request"] for file in files for line in file.read_text("utf-8").splitlines()]


async def test_many_users(playground: str, tmp_path: Path) -> None:
    """Each asks once, so many at a time as the server makes runs; who is asked whether a call may be made allows it."""
    place = await asyncio.to_thread(built, tmp_path, playground)
    tokens, texts = await many_users(tmp_path / "home", USERS), requests()
    first, last, outcomes = list[float](), list[float](), Counter[str]()
    waiting = iter(enumerate(tokens))
    with serving(place, tmp_path / "home", **SETTINGS) as (address, process):

        async def ask(token: str, request: str) -> Follower:
            began = time.time()
            follower = Follower(address, token, await asked(address, token, request), Follower.allow)
            await follower.follow()
            first.append(follower.received[0][0] - began)
            last.append(follower.received[-1][0] - began)
            return follower

        async def in_turn() -> None:
            for number, token in waiting:
                follower = await ask(token, texts[number % len(texts)])
                outcomes[json.loads(follower.received[-1][1][6:])["event"]["outcome"]] += 1

        at_rest = resident(process.pid)
        await ask(tokens[0], INHABITANTS)  # the store is opened with the first
        first.clear()
        last.clear()
        before, used, began = resident(process.pid), busy(process.pid), time.perf_counter()
        await asyncio.gather(*(in_turn() for _ in range(AT_ONCE)))
        seconds = time.perf_counter() - began
        used, peak, after = busy(process.pid) - used, resident(process.pid, "VmHWM"), resident(process.pid)
    print(
        f"\n{USERS} users, {AT_ONCE} runs at a time: {USERS / seconds:.1f} runs/s, {1000 * used / USERS:.0f} ms of a core each; "
        f"to the first event {spread(first)}; to the end {spread(last)}; memory {at_rest:.0f} MiB at rest, {before:.0f} after one run, "
        f"{peak:.0f} at its peak, {after:.0f} at the end; outcomes {dict(outcomes)}"
    )
    assert sum(outcomes.values()) == USERS


@pytest.mark.parametrize("runs", [1, AT_ONCE])
async def test_many_followers(playground: str, tmp_path: Path, runs: int) -> None:
    """All are there while the first calls of the runs are held back; then these go on."""
    gate = asyncio.Event()

    async def held(exchange: Exchange) -> None:
        await gate.wait()
        await exchange.send(await exchange.forward())

    async with proxying(playground) as proxy:
        place = await asyncio.to_thread(built, tmp_path, playground, proxy.address)
        proxy.choose(held)
        tokens = await many_users(tmp_path / "home", runs)
        with serving(place, tmp_path / "home", **SETTINGS, FOOTPATH_CALL_TIMEOUT="60") as (address, process):
            made = [(token, await asked(address, token, INHABITANTS)) for token in tokens]
            followers = [Follower(address, *made[number % runs]) for number in range(FOLLOWERS)]
            for token, run in made:
                while not await _calling(address, token, run):  # noqa: ASYNC110  # the first events are not what is measured
                    await asyncio.sleep(0.5)
            there, everybody = list[None](), asyncio.Event()
            before, began = resident(process.pid), time.perf_counter()

            def connected() -> None:
                there.append(None)
                if len(there) == FOLLOWERS:
                    everybody.set()

            following = asyncio.gather(*(one.follow(connected) for one in followers))
            await everybody.wait()
            seconds = time.perf_counter() - began
            await asyncio.sleep(2)
            after, opened, used = resident(process.pid), time.time(), busy(process.pid)
            gate.set()
            await following
            ended, used = time.time() - opened, busy(process.pid) - used
    told = {run: {tuple(line for _, line in one.received) for one in followers if one.run == run} for _, run in made}
    delays = [delay for one in followers for delay in one.delays(opened)]
    print(
        f"\n{FOLLOWERS} followers of {runs} runs, there after {seconds:.1f} s: {1024 * (after - before) / FOLLOWERS:.0f} KiB each; "
        f"{len(delays)} events received in {ended:.1f} s with {used:.1f} s of a core; from told to received {spread(delays)}"
    )
    for lines in told.values():
        (events,) = lines  # everybody was told the same
        assert [json.loads(line[6:])["seq"] for line in events] == list(range(1, len(events) + 1))
        assert b"run.finished" in events[-1]


async def _calling(address: str, token: str, run: str) -> bool:
    """Whether a run has begun its first call."""
    _, shown = await sent(address, token, "GET", f"/runs/{run}")
    return shown["last_event"] >= 5
