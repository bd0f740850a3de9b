"""The limits of a host, on a clock of the test's own."""

import asyncio

import pytest

from agent.execution.http.host_limits import EventLoopClock, HostLimits, HostPausedError


class Manual(EventLoopClock):
    """Time passes by waiting only."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        until = self.time + seconds
        await asyncio.sleep(0)
        self.time = max(self.time, until)


async def test_no_more_calls_at_once_than_allowed() -> None:
    limits = HostLimits(3)
    now, most, done = 0, 0, 0

    async def one(place: str) -> None:
        nonlocal now, most, done
        async with limits.hold_turn(place, 1.0):
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.001)
            now -= 1
            done += 1

    await asyncio.gather(*(one("a:80") for _ in range(20)))
    assert (most, done) == (3, 20)
    await asyncio.gather(*(one(f"h{number}:80") for number in range(9)))
    assert most == 9


async def test_calls_begin_at_the_rate() -> None:
    clock = Manual()
    limits = HostLimits(1, 2.0, clock)
    begun: list[float] = []
    for _ in range(4):
        async with limits.hold_turn("a:80", 1.0):
            begun.append(clock.now())
    assert begun == [0.0, 0.5, 1.0, 1.5]


async def test_a_pause_that_one_call_is_told_holds_for_all() -> None:
    clock = Manual()
    limits = HostLimits(4, None, clock)
    begun: list[float] = []

    async def told() -> None:
        async with limits.hold_turn("a:80", 8.0):
            limits.pause("a:80", 5.0)

    async def other() -> None:
        async with limits.hold_turn("a:80", 8.0):
            begun.append(clock.now())

    await told()
    await asyncio.gather(other(), other(), other())
    assert begun == [5.0, 5.0, 5.0]
    async with limits.hold_turn("b:80", 8.0):
        assert clock.now() == 5.0


async def test_no_host_pauses_its_calls_without_end() -> None:
    clock = Manual()
    limits = HostLimits(4, None, clock, longest_pause=300.0)
    async with limits.hold_turn("a:80", 8.0):
        limits.pause("a:80", 999_999_999_999.0)
        limits.pause("a:80", 999_999_999_999.0)
    with pytest.raises(HostPausedError, match="another 300 s"):
        async with limits.hold_turn("a:80", 8.0):
            raise AssertionError
    clock.time = 301.0
    async with limits.hold_turn("a:80", 8.0):
        assert clock.now() == 301.0


async def test_a_pause_for_one_key_holds_for_no_other() -> None:
    clock = Manual()
    limits = HostLimits(1, None, clock)
    async with limits.hold_turn("a:80", 8.0, "mine"):
        limits.pause("a:80", 60.0, "mine")
    with pytest.raises(HostPausedError, match="another 60 s"):
        async with limits.hold_turn("a:80", 8.0, "mine"):
            raise AssertionError
    for other in ("", "yours"):
        async with limits.hold_turn("a:80", 8.0, other):
            assert clock.now() == 0.0


async def test_a_pause_that_is_too_long_is_said_at_once() -> None:
    clock = Manual()
    limits = HostLimits(4, None, clock)
    async with limits.hold_turn("a:80", 8.0):
        limits.pause("a:80", 60.0)
    with pytest.raises(HostPausedError, match="another 60 s"):
        async with limits.hold_turn("a:80", 8.0):
            raise AssertionError
    clock.time = 61.0
    async with limits.hold_turn("a:80", 8.0):
        assert clock.now() == 61.0
