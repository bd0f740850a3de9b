"""Runs take turns: one piece of work in each round of the loop, nothing lost, and a cancellation is the run's to hear."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from agent.scheduler import closing
from server.runs.round_robin import RoundRobin


async def thinking(name: str, log: list[str], pieces: int = 4) -> AsyncGenerator[int]:
    """Works without waiting for anything but the next round of the loop."""
    for number in range(pieces):
        log.append(f"{name}{number}")
        await asyncio.sleep(0)
        yield number


async def taken(round_robin: RoundRobin, name: str, log: list[str]) -> list[int]:
    async with closing(thinking(name, log)) as items:
        return [item async for item in round_robin.iterate(items)]


async def test_everything_comes_and_the_runs_alternate() -> None:
    round_robin, log = RoundRobin(), list[str]()
    found = await asyncio.gather(*(taken(round_robin, name, log) for name in "abc"))
    assert found == [[0, 1, 2, 3]] * 3
    assert log[:6] == ["a0", "b0", "c0", "a1", "b1", "c1"]


async def test_a_request_passes_many_runs() -> None:
    round_robin, log = RoundRobin(), list[str]()
    runs = [asyncio.create_task(taken(round_robin, name, log)) for name in "abcdefghijklmnopqrst"]
    await asyncio.sleep(0)
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(log) <= 11  # with all of them in each round it would be a hundred
    await asyncio.gather(*runs)
    assert len(log) == 80


async def test_a_cancellation_reaches_the_run_wherever_it_is() -> None:
    for rounds in range(8):
        round_robin, heard = RoundRobin(), list[str]()

        async def run(heard: list[str] = heard) -> AsyncGenerator[str]:
            try:
                while True:
                    await asyncio.sleep(0)
                    yield "going on"
            except asyncio.CancelledError:
                yield "ended in order"
                heard.append("cancelled")
                raise

        async def follow(round_robin: RoundRobin = round_robin, heard: list[str] = heard) -> None:
            async with closing(run()) as items:
                async for item in round_robin.iterate(items):
                    heard.append(item)  # noqa: PERF401  # as they come: the last one after the cancellation

        task = asyncio.create_task(follow())
        for _ in range(rounds):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        if rounds > 2:
            assert heard[-2:] == ["ended in order", "cancelled"]
        log = list[str]()
        assert await taken(round_robin, "x", log) == [0, 1, 2, 3]  # the turn of who is gone goes to the next


async def test_an_error_is_the_caller_s() -> None:
    async def broken() -> AsyncGenerator[int]:
        yield 1
        await asyncio.sleep(0)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        _ = [item async for item in RoundRobin().iterate(broken())]


async def test_time_outs_within_a_run_end_what_they_are_about() -> None:
    async def waits() -> AsyncGenerator[str]:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(10)
        except TimeoutError:
            yield "too long"

    assert [item async for item in RoundRobin().iterate(waits())] == ["too long"]
