import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial

import pytest

from agent.schedule import side_by_side


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
    told = [item async for item in side_by_side(streams.named("a", "b", "c"), NONE, at_once)]
    for number, name in ((1, "a"), (2, "b"), (3, "c")):
        assert [item for n, item in told if n == number] == [f"{name}{i}" for i in range(3)]
    assert streams.running == at_once


async def test_who_waits_begins_when_the_other_has_ended() -> None:
    streams = Streams()
    told = [item async for _, item in side_by_side(streams.named("a", "b", "c"), {1: (), 2: (1,), 3: (1, 2)}, 3)]
    assert told == [f"{name}{number}" for name in "abc" for number in range(3)]


@pytest.mark.parametrize("names", [("a",), ("a", "b", "c")])
async def test_an_error_ends_all_of_them(names: tuple[str, ...]) -> None:
    streams = Streams()
    with pytest.raises(ValueError, match="a"):
        _ = [item async for item in side_by_side(streams.named(*names, fails="a"), NONE, 3)]
    assert streams.now == 0
    assert "a" in streams.closed


async def test_who_stops_listening_ends_all_of_them() -> None:
    streams, before = Streams(), asyncio.all_tasks()
    told = side_by_side(streams.named("a", "b", "c"), NONE, 3)
    await anext(aiter(told))
    await told.aclose()  # type: ignore[attr-defined]
    assert streams.now == 0
    assert asyncio.all_tasks() == before
