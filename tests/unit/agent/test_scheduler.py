"""Parts of a request beside each other: their order, their places, their turns, and what becomes of all when one fails."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial

import pytest

from agent.scheduler import SubtaskScheduler
from domain.errors import StoreUnreachableError


class Work:
    """Parts that tell three things each; ``most``: how many at most were at work at once."""

    def __init__(self, parts: SubtaskScheduler) -> None:
        self.parts = parts
        self.now = self.most = 0
        self.told: list[str] = []
        self.ended: list[str] = []

    async def _do(self, number: int, name: str, *, fails: bool = False) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            for at in range(3):
                await asyncio.sleep(0)
                async with self.parts.pause_activity(number):
                    self.told.append(f"{name}{at}")
                    await asyncio.sleep(0)
            if fails:
                raise ValueError(name)
        finally:
            self.now -= 1
            self.ended.append(name)

    def named(self, *names: str, fails: str = "") -> dict[int, Callable[[], Coroutine[None, None, None]]]:
        return {n: partial(self._do, n, name, fails=name == fails) for n, name in enumerate(names, start=1)}


NONE: dict[int, tuple[int, ...]] = {1: (), 2: (), 3: ()}


@pytest.mark.parametrize("at_once", [1, 2, 3])
async def test_each_part_is_done_in_its_own_order_so_many_at_a_time(at_once: int) -> None:
    work = Work(SubtaskScheduler(at_once))
    await work.parts.run_all(work.named("a", "b", "c"), NONE)
    for name in "abc":
        assert [item for item in work.told if item.startswith(name)] == [f"{name}{i}" for i in range(3)]
    assert work.most == at_once


async def test_who_waits_begins_when_the_other_has_ended() -> None:
    work = Work(SubtaskScheduler(3))
    await work.parts.run_all(work.named("a", "b", "c"), {1: (), 2: (1,), 3: (1, 2)})
    assert work.told == [f"{name}{number}" for name in "abc" for number in range(3)]


@pytest.mark.parametrize("names", [("a",), ("a", "b", "c")])
async def test_an_error_ends_all_of_them(names: tuple[str, ...]) -> None:
    work = Work(SubtaskScheduler(3))
    with pytest.raises(ValueError, match="a"):
        await work.parts.run_all(work.named(*names, fails="a"), NONE)
    assert work.now == 0
    assert "a" in work.ended


async def test_a_part_that_is_cancelled_from_within_ends_all_of_them() -> None:
    async def cancelled() -> None:
        await asyncio.sleep(0)
        raise asyncio.CancelledError

    async def waits_for_it() -> None:
        raise AssertionError("the part before it did not end well")

    parts, before = SubtaskScheduler(3), asyncio.all_tasks()
    with pytest.raises(asyncio.CancelledError):
        await parts.run_all({1: cancelled, 2: waits_for_it}, {1: (), 2: (1,)})
    assert asyncio.all_tasks() == before


async def test_what_passes_by_itself_cuts_off_no_step_under_way_and_begins_none() -> None:
    done: list[str] = []
    meets, parts = asyncio.Event(), SubtaskScheduler(3)

    async def out_of_reach() -> None:
        await meets.wait()
        raise StoreUnreachableError("nothing answers there")

    async def changing() -> None:
        async with parts.pause_activity(2):
            done.append("begins")
        meets.set()
        for _ in range(9):
            await asyncio.sleep(0)
        done.append("the change")
        async with parts.pause_activity(2):
            done.append("is told of when the run goes on")
        done.append("the next")

    async def waiting() -> None:
        done.append("who waited")

    with pytest.raises(StoreUnreachableError):
        async with asyncio.timeout(5):
            await parts.run_all({1: out_of_reach, 2: changing, 3: waiting}, {1: (), 2: (), 3: (1, 2)})
    assert done == ["begins", "the change"]


async def test_a_part_that_is_heard_when_all_is_broken_off_goes_no_further() -> None:
    heard, done, parts = asyncio.Event(), list[str](), SubtaskScheduler(2)

    async def out_of_reach() -> None:
        await asyncio.sleep(0)
        heard.set()
        raise StoreUnreachableError("nothing answers there")

    async def telling() -> None:
        async with parts.pause_activity(2):
            await heard.wait()
        done.append("the next")

    async def busy() -> None:
        for _ in range(9):
            await asyncio.sleep(0)

    with pytest.raises(StoreUnreachableError):
        async with asyncio.timeout(5):
            await parts.run_all({1: out_of_reach, 2: telling, 3: busy}, NONE)
    assert done == []


async def test_a_cancellation_ends_all_of_them() -> None:
    work, before = Work(SubtaskScheduler(3)), asyncio.all_tasks()
    doing = asyncio.create_task(work.parts.run_all(work.named("a", "b", "c"), NONE))
    for _ in range(3):
        await asyncio.sleep(0)
    doing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await doing
    assert work.now == 0
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("at_once", [1, 2, 3])
async def test_whoever_comes_in_turn_comes_after_all_before_it(at_once: int) -> None:
    """The third is ready first, and the second begins only after the first: with one place, too, none waits for the other's."""
    parts, told = SubtaskScheduler(at_once), list[str]()

    async def change(number: int, sleeps: int) -> None:
        for _ in range(sleeps):
            await asyncio.sleep(0)
        async with parts.pause_activity(number):
            await asyncio.sleep(0)
        await parts.wait_for_turn(number)
        told.append(f"changed {number}")

    works = {1: partial(change, 1, 9), 2: partial(change, 2, 3), 3: partial(change, 3, 0)}
    await parts.run_all(works, {1: (), 2: (1,), 3: ()})
    assert told == ["changed 1", "changed 2", "changed 3"]


async def test_whoever_waits_for_its_turn_holds_up_no_outage() -> None:
    parts, planned = SubtaskScheduler(2), asyncio.Event()

    async def lost() -> None:
        await planned.wait()
        raise StoreUnreachableError("down")

    async def waiting() -> None:
        planned.set()
        await parts.wait_for_turn(2)

    with pytest.raises(StoreUnreachableError):
        async with asyncio.timeout(5):
            await parts.run_all({1: lost, 2: waiting}, {1: (), 2: ()})
