import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial

import pytest

from agent.scheduler import Turns, side_by_side
from domain.errors import StoreUnreachableError


class Streams:
    """Three items each; ``running``: how many at most were on their way at once."""

    def __init__(self) -> None:
        self.now = self.running = 0
        self.closed: list[str] = []

    async def items(self, name: str, fails: bool = False) -> AsyncIterator[str]:
        self.now += 1
        self.running = max(self.running, self.now)
        try:
            for number in range(3):
                await asyncio.sleep(0)
                yield f"{name}{number}"
            if fails:
                raise ValueError(name)
        finally:
            self.now -= 1
            self.closed.append(name)

    def named(self, *names: str, fails: str = "") -> dict[int, Callable[[], AsyncIterator[str]]]:
        return {n: partial(self.items, name, name == fails) for n, name in enumerate(names, start=1)}


NONE: dict[int, tuple[int, ...]] = {1: (), 2: (), 3: ()}


@pytest.mark.parametrize("at_once", [1, 2, 3])
async def test_all_items_come_in_their_own_order_so_many_at_a_time(at_once: int) -> None:
    streams = Streams()
    told = [item async for item in side_by_side(streams.named("a", "b", "c"), NONE, Turns(at_once))]
    for number, name in ((1, "a"), (2, "b"), (3, "c")):
        assert [item for n, item in told if n == number] == [f"{name}{i}" for i in range(3)]
    assert streams.running == at_once


async def test_who_waits_begins_when_the_other_has_ended() -> None:
    streams = Streams()
    told = [item async for _, item in side_by_side(streams.named("a", "b", "c"), {1: (), 2: (1,), 3: (1, 2)}, Turns(3))]
    assert told == [f"{name}{number}" for name in "abc" for number in range(3)]


@pytest.mark.parametrize("names", [("a",), ("a", "b", "c")])
async def test_an_error_ends_all_of_them(names: tuple[str, ...]) -> None:
    streams = Streams()
    with pytest.raises(ValueError, match="a"):
        _ = [item async for item in side_by_side(streams.named(*names, fails="a"), NONE, Turns(3))]
    assert streams.now == 0
    assert "a" in streams.closed


async def test_what_passes_by_itself_cuts_off_no_step_under_way_and_begins_none() -> None:
    done: list[str] = []
    meets, stays = asyncio.Event(), asyncio.Event()

    async def out_of_reach() -> AsyncIterator[str]:
        await meets.wait()
        raise StoreUnreachableError("nothing answers there")
        yield ""

    async def changing() -> AsyncIterator[str]:
        yield "begins"
        meets.set()
        for _ in range(9):
            await asyncio.sleep(0)
        done.append("the change")
        yield "is told of when the run goes on"
        done.append("the next")

    async def waiting() -> AsyncIterator[str]:
        done.append("who waited")
        await stays.wait()
        yield ""

    streams = {1: out_of_reach, 2: changing, 3: waiting}
    with pytest.raises(StoreUnreachableError):
        async with asyncio.timeout(5):
            _ = [item async for item in side_by_side(streams, {1: (), 2: (), 3: (1, 2)}, Turns(3))]
    assert done == ["the change"]


async def test_who_stops_listening_ends_all_of_them() -> None:
    streams, before = Streams(), asyncio.all_tasks()
    told = side_by_side(streams.named("a", "b", "c"), NONE, Turns(3))
    await anext(aiter(told))
    await told.aclose()  # type: ignore[attr-defined]
    assert streams.now == 0
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("at_once", [1, 2, 3])
async def test_whoever_comes_in_turn_comes_after_all_before_it(at_once: int) -> None:
    """The third is ready first, and the second begins only after the first: with one place, too, none waits for the other's."""
    turns, told = Turns(at_once), list[str]()

    async def change(number: int, sleeps: int) -> AsyncIterator[str]:
        for _ in range(sleeps):
            await asyncio.sleep(0)
        yield f"planned {number}"
        await turns.come(number)
        told.append(f"changed {number}")
        yield f"changed {number}"

    streams = {1: partial(change, 1, 9), 2: partial(change, 2, 3), 3: partial(change, 3, 0)}
    _ = [item async for item in side_by_side(streams, {1: (), 2: (1,), 3: ()}, turns)]
    assert told == ["changed 1", "changed 2", "changed 3"]


async def test_whoever_waits_for_its_turn_holds_up_no_outage() -> None:
    turns = Turns(2)
    planned = asyncio.Event()

    async def lost() -> AsyncIterator[str]:
        await planned.wait()
        yield "on its way"
        raise StoreUnreachableError("down")

    async def waiting() -> AsyncIterator[str]:
        planned.set()
        yield "planned"
        await turns.come(2)
        yield "changed"

    with pytest.raises(StoreUnreachableError):
        _ = [item async for item in side_by_side({1: lost, 2: waiting}, {1: (), 2: ()}, turns)]
