"""A run's time stands still while its user is asked."""

import asyncio
import time

import pytest

from agent.budget import Stopwatch


def test_what_it_stood_still_is_left_out() -> None:
    now = [0.0]
    watch = Stopwatch(lambda: now[0])
    with watch.pause():
        now[0] = 10
        with watch.pause():
            now[0] = 20
        now[0] = 30
        assert watch.elapsed == 0
    now[0] = 31
    assert watch.elapsed == 1


async def test_no_bound_passes_while_it_stands_still() -> None:
    watch = Stopwatch(time.monotonic)
    async with watch.limit_time(0.05):
        with watch.pause():
            await asyncio.sleep(0.2)
    with watch.pause():
        async with watch.limit_time(0.05):
            await asyncio.sleep(0.2)


async def test_a_bound_passes_after_it_stood_still() -> None:
    watch = Stopwatch(time.monotonic)

    async def asks_and_goes_on() -> None:
        async with watch.limit_time(0.05):
            with watch.pause():
                await asyncio.sleep(0.1)
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        await asks_and_goes_on()


async def test_a_bound_that_has_passed_ends_at_once() -> None:
    watch = Stopwatch(time.monotonic)
    with pytest.raises(TimeoutError):
        async with watch.limit_time(0):
            await asyncio.sleep(60)
