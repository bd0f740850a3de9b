"""Runs take turns: one piece of work in each round of the loop, nothing lost, and a cancellation is the run's to hear."""

import asyncio
from functools import partial

import pytest

from server.runs.round_robin import RoundRobin


async def think(name: str, log: list[str], pieces: int = 4) -> None:
    """Works without waiting for anything but the next round of the loop."""
    for number in range(pieces):
        log.append(f"{name}{number}")
        await asyncio.sleep(0)


async def test_everything_is_done_and_the_runs_alternate() -> None:
    round_robin, log = RoundRobin(), list[str]()
    await asyncio.gather(*(round_robin.run(partial(think, name, log)) for name in "abc"))
    assert log[:6] == ["a0", "b0", "c0", "a1", "b1", "c1"]
    assert len(log) == 12


async def test_a_request_passes_many_runs() -> None:
    round_robin, log = RoundRobin(), list[str]()
    runs = [asyncio.create_task(round_robin.run(partial(think, name, log))) for name in "abcdefghijklmnopqrst"]
    await asyncio.sleep(0)
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(log) <= 11  # with all of them in each round it would be a hundred
    await asyncio.gather(*runs)
    assert len(log) == 80


async def test_a_cancellation_reaches_the_run_wherever_it_is() -> None:
    for rounds in range(8):
        round_robin, heard = RoundRobin(), list[str]()

        async def run(heard: list[str] = heard) -> None:
            heard.append("begun")
            try:
                for _ in range(1_000):
                    await asyncio.sleep(0)
            except asyncio.CancelledError:
                heard.append("cancelled")
                raise

        task = asyncio.create_task(round_robin.run(run))
        for _ in range(rounds):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert heard in (["begun", "cancelled"], [])
        assert heard or rounds < 4
        log = list[str]()
        await round_robin.run(partial(think, "x", log))
        assert len(log) == 4  # the turn of who is gone goes to the next


async def test_an_error_is_the_caller_s() -> None:
    async def broken() -> None:
        await asyncio.sleep(0)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await RoundRobin().run(broken)


async def test_time_outs_within_a_run_end_what_they_are_about() -> None:
    told: list[str] = []

    async def wait() -> None:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(10)
        except TimeoutError:
            told.append("too long")

    await RoundRobin().run(wait)
    assert told == ["too long"]
