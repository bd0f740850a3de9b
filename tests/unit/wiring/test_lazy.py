"""What is opened at the first asking: once, however many ask; and again where it failed."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from wiring.container import open_container
from wiring.lazy import Lazy, set_up
from wiring.settings import Settings


class Opened:
    """Counts; fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        self.made = self.closed = 0
        self._failures = failures

    async def make(self) -> int:
        self.made += 1
        await asyncio.sleep(0)
        if self.made <= self._failures:
            raise ConnectionError("not yet")
        return self.made

    async def setup(self) -> None:
        await self.make()

    async def close(self) -> None:
        self.closed += 1


async def test_many_at_once_get_one() -> None:
    opened = Opened()
    once = Lazy(opened.make)
    assert set(await asyncio.gather(*(once.get() for _ in range(20)))) == {1}
    assert opened.made == 1


async def test_a_failure_is_told_and_tried_again() -> None:
    once = Lazy(Opened(failures=2).make)
    found = await asyncio.gather(*(once.get() for _ in range(4)), return_exceptions=True)
    assert [type(one) for one in found] == [ConnectionError, ConnectionError, int, int]


async def test_one_who_goes_away_takes_nothing_from_the_others() -> None:
    once = Lazy(Opened().make)
    first, second = asyncio.create_task(once.get()), asyncio.create_task(once.get())
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 2
    assert await once.get() == 2


async def test_what_cannot_be_set_up_is_closed_at_once() -> None:
    broken, whole = Opened(failures=1), Opened()
    async with AsyncExitStack() as stack:
        with pytest.raises(ConnectionError):
            await set_up(broken, stack)
        assert broken.closed == 1
        assert await set_up(whole, stack) is whole
        assert whole.closed == 0
    assert (broken.closed, whole.closed) == (1, 1)


async def test_a_container_opens_its_stores_once(tmp_path: Path) -> None:
    async with open_container(Settings(store=tmp_path / "s"), tmp_path / "s", create=True) as container:
        retrievals = await asyncio.gather(*(container.get_retrieval() for _ in range(8)))
        assert len({id(index) for _, index, _ in retrievals}) == 1
        assert len({id(one) for one in await asyncio.gather(*(container.memories() for _ in range(8)))}) == 1
        assert len({id(one) for one in await asyncio.gather(*(container.flows() for _ in range(8)))}) == 1
        await asyncio.gather(*(container.memory() for _ in range(8)))
