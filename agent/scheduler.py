"""Streams side by side: each begins when those that it waits for have ended, so many at a time."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from typing import TypeVar, cast

from domain.errors import PassingError

T = TypeVar("T")


class _End:
    """A stream is over. ``error``: why it broke off."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


class _Aside:
    """A stream has left its place and waits for its turn."""


class Turns:
    """Who is where among streams side by side, so many of them at a time: whose turn it is, who is on its way to its next item."""

    def __init__(self, at_once: int) -> None:
        self.places = asyncio.Semaphore(at_once)
        self.over: dict[int, asyncio.Event] = {}
        self.on_its_way: set[int] = set()
        self.tell: Callable[[_Aside], Awaitable[None]] | None = None

    async def come(self, number: int) -> None:
        """Wait, within a stream, until all of lower numbers have ended. Meanwhile its place is another's: those may need it."""
        earlier = [over for other, over in self.over.items() if other < number and not over.is_set()]
        if not earlier:
            return
        self.on_its_way.discard(number)
        self.places.release()
        if self.tell is not None:
            await self.tell(_Aside())
        for over in earlier:
            await over.wait()
        await self.places.acquire()
        self.on_its_way.add(number)


async def side_by_side(
    streams: Mapping[int, Callable[[], AsyncIterator[T]]], waits_for: Mapping[int, Collection[int]], turns: Turns
) -> AsyncIterator[tuple[int, T]]:
    """The items of all streams as they come, each with its stream's number.

    A stream is made when those that it waits for have ended, and may wait for its turn among all (:meth:`Turns.come`). The first that breaks off ends all others with its error; so does
    whoever stops listening. With a ``PassingError``, after which all is gone on with later, each that is on its way to its next item gets there
    first, so that no call is cut off. Streams that wait for each other never begin: the caller sees to it that none do.
    """
    if len(streams) == 1:  # nothing to put side by side, so no tasks either
        for number, stream in streams.items():
            async with closing(stream()) as items:
                async for item in items:
                    yield number, item
        return
    told: asyncio.Queue[tuple[int, T, asyncio.Event] | _End | _Aside] = asyncio.Queue(1)
    over, on_its_way = turns.over, turns.on_its_way
    over.update({number: asyncio.Event() for number in streams})
    turns.tell = told.put

    async def follow(number: int) -> None:
        """Go on only when an item was seen to: what comes before a call is told before the call is made."""
        for other in waits_for[number]:
            await over[other].wait()
        async with turns.places, closing(streams[number]()) as items:
            on_its_way.add(number)
            try:
                async for item in items:
                    on_its_way.discard(number)
                    seen = asyncio.Event()
                    await told.put((number, item, seen))
                    await seen.wait()
            finally:
                on_its_way.discard(number)
        over[number].set()

    tasks = [asyncio.create_task(_reporting(follow(number), told)) for number in streams]
    try:
        left = len(tasks)
        while left:
            item = await told.get()
            if isinstance(item, _End):
                await _check(item, on_its_way, told)
                left -= 1
            elif not isinstance(item, _Aside):
                number, one, seen = item
                yield number, one
                on_its_way.add(number)
                seen.set()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _check(
    end: _End, on_its_way: Collection[int], told: "asyncio.Queue[tuple[int, T, asyncio.Event] | _End | _Aside]"
) -> None:
    """Raise what a stream broke off with, if it did."""
    if end.error is not None:
        if isinstance(end.error, PassingError):
            await _there(on_its_way, told)
        raise end.error


async def _there(
    on_its_way: Collection[int], told: "asyncio.Queue[tuple[int, T, asyncio.Event] | _End | _Aside]"
) -> None:
    """Those that are on their way now have come to their next item or their end, or wait for their turn; what they tell is told again by the run that goes on."""
    now = set(on_its_way)
    while now.intersection(on_its_way):
        await told.get()


async def _reporting(
    work: Awaitable[None], told: "asyncio.Queue[tuple[int, T, asyncio.Event] | _End | _Aside]"
) -> None:
    """Do the work; say how it ended, unless whoever listens has ended it."""
    try:
        await work
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        await told.put(_End(error))
    except Exception as error:  # noqa: BLE001  # raised again where the items are taken
        await told.put(_End(error))
    else:
        await told.put(_End())


@asynccontextmanager
async def closing(source: AsyncIterator[T]) -> AsyncGenerator[AsyncIterator[T], None]:
    """The iterator itself; closed at the end of the block where it is a generator."""
    try:
        yield source
    finally:
        if isinstance(source, AsyncGenerator):
            await cast("AsyncGenerator[T, None]", source).aclose()
