"""Ten slow runs of one user, or of ten, are no reason for another's to wait."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fault_proxy import Exchange, proxying
from tests.support.playground_process import running_playground
from tests.support.server_load import Follower, asked, many_users, sent
from tests.support.server_process import INHABITANTS, built, serving

LONG = "Convert 1 euro to yen and " * 150
HELD = 3
"""All but one of the four places that a server has."""


@pytest.fixture
def playground() -> Iterator[str]:
    with running_playground() as address:
        yield address


async def test_another_users_run_is_made_while_ten_slow_ones_wait_for_their_tools(
    playground: str, tmp_path: Path
) -> None:
    gate, calls = asyncio.Event(), list[int]()

    async def slow(exchange: Exchange) -> None:
        calls.append(exchange.number)
        if exchange.number <= HELD:
            await gate.wait()
        await exchange.send(await exchange.forward())

    async with proxying(playground) as proxy:
        place = await asyncio.to_thread(built, tmp_path, playground, proxy.address)
        proxy.choose(slow)
        ada, eve = await many_users(tmp_path / "home", 2)
        with serving(place, tmp_path / "home", FOOTPATH_CALL_TIMEOUT="60", FOOTPATH_USER_RUNS="10") as (address, _):
            runs = [await asked(address, ada, INHABITANTS) for _ in range(10)]
            async with asyncio.timeout(60):
                while len(calls) < HELD:  # noqa: ASYNC110  # the proxy tells nobody
                    await asyncio.sleep(0.05)
            follower = Follower(address, eve, await asked(address, eve, INHABITANTS))
            async with asyncio.timeout(30):
                await follower.follow()
            ended = json.loads(follower.received[-1][1][6:])["event"]
            assert ended["kind"] == "run.finished"
            assert ended["outcome"] == "answered"
            states = [(await sent(address, ada, "GET", f"/runs/{run}"))[1]["status"] for run in runs]
            assert states.count("running") == HELD
            assert states.count("queued") == 10 - HELD
            gate.set()


async def test_another_users_run_is_answered_while_ten_users_requests_are_planned(
    playground: str, tmp_path: Path
) -> None:
    """On a server of four places: theirs are planned bit by bit in turn, and take none meanwhile, so that most are under way when hers has ended."""
    place = await asyncio.to_thread(built, tmp_path, playground)
    *many, eve = await many_users(tmp_path / "home", 11)
    with serving(place, tmp_path / "home") as (address, _):
        runs = [await asked(address, one, LONG) for one in many]
        follower = Follower(address, eve, await asked(address, eve, INHABITANTS))
        async with asyncio.timeout(120):
            await follower.follow()
        assert json.loads(follower.received[-1][1][6:])["event"]["outcome"] == "answered"
        assert (await _states(address, many, runs)).count("running") > 5


async def _states(address: str, users: list[str], runs: list[str]) -> list[str]:
    """How far each user's run is."""
    return [
        (await sent(address, user, "GET", f"/runs/{run}"))[1]["status"] for user, run in zip(users, runs, strict=True)
    ]
