"""Concurrent execution of a request's subtasks ("parts"): each starts when those that it depends on have ended."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import TypeVar, cast

from domain.errors import PassingError

T = TypeVar("T")
Part = Callable[[], Coroutine[None, None, None]]


class Parts:
    """Runs the parts of one request, and knows which of them are at work."""

    def __init__(self, at_once: int) -> None:
        """Run at most ``at_once`` parts at a time."""
        self._places = asyncio.Semaphore(at_once)
        self._over: dict[int, asyncio.Event] = {}
        self._at_work: set[int] = set()
        self._rested = asyncio.Event()
        self._breaking_off = False

    async def do(self, parts: Mapping[int, Part], waits_for: Mapping[int, Collection[int]]) -> None:
        """Run all parts, given by number; a part starts when those that it waits for have ended.

        The first failure cancels all others and is raised. After a ``PassingError`` the run is resumed later, so each part at work
        may first continue to the next event that it emits: no call is cut off. Parts that wait for each other would never start;
        the caller must rule that out.
        """
        if len(parts) == 1:  # nothing runs concurrently, so no tasks are needed
            for part in parts.values():
                await part()
            return
        self._over = {number: asyncio.Event() for number in parts}
        tasks = [asyncio.create_task(self._do(number, part, waits_for[number])) for number, part in parts.items()]
        try:
            await self._see_to(tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _do(self, number: int, part: Part, waits_for: Collection[int]) -> None:
        for other in waits_for:
            await self._over[other].wait()
        async with self._places:
            self._at_work.add(number)
            try:
                await part()
            except PassingError:
                self._breaking_off = True
                raise
            finally:
                self._rest(number)
        self._over[number].set()

    async def _see_to(self, tasks: "Collection[asyncio.Task[None]]") -> None:
        """Wait until all tasks have ended; raise the error of the first that fails."""
        left: Collection[asyncio.Task[None]] = tasks
        while left:
            ended, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                error = asyncio.CancelledError() if task.cancelled() else task.exception()
                if isinstance(error, PassingError):
                    await self._let_rest()
                if error is not None:
                    raise error

    async def _let_rest(self) -> None:
        """Wait until each part that is at work now has emitted an event, waits for another part, or has ended."""
        now = set(self._at_work)
        while now & self._at_work:
            self._rested.clear()
            await self._rested.wait()

    def _rest(self, number: int) -> None:
        self._at_work.discard(number)
        self._rested.set()

    @asynccontextmanager
    async def resting(self, number: int) -> AsyncGenerator[None]:
        """Mark a part as idle while it emits an event or waits for another part: no call of it is under way then.

        If the run is being broken off, the part does not continue past this context.
        """
        if number not in self._at_work:
            yield
            return
        self._rest(number)
        await self._go_no_further()
        yield
        await self._go_no_further()
        self._at_work.add(number)

    async def _go_no_further(self) -> None:
        """Block until cancelled if the parts are being broken off."""
        if self._breaking_off:
            await asyncio.Event().wait()

    async def turn(self, number: int) -> None:
        """Wait, within a part, until all parts of lower numbers have ended.

        Meanwhile the part gives up its slot; otherwise the parts that it waits for might never get one (deadlock).
        """
        earlier = [over for other, over in self._over.items() if other < number and not over.is_set()]
        if not earlier:
            return
        async with self.resting(number):
            self._places.release()
            for over in earlier:
                await over.wait()
            await self._places.acquire()


@asynccontextmanager
async def closing(source: AsyncIterator[T]) -> AsyncGenerator[AsyncIterator[T], None]:
    """Return the iterator and close it at the end of the block if it is a generator.

    Like ``contextlib.aclosing``, but for any iterator.
    """
    try:
        yield source
    finally:
        if isinstance(source, AsyncGenerator):
            await cast("AsyncGenerator[T, None]", source).aclose()
