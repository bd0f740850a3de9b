"""An event loop in a thread of its own: what is asynchronous is called from where there is no loop, or one that must not be held up."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class LoopThread(Generic[T]):
    """A thread that opens a context, works with what it gives, and closes it: opening and closing in one task, as contexts want it."""

    def __init__(self, context: AbstractAsyncContextManager[T]) -> None:
        self._context = context
        self._ready: Future[T] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = asyncio.Event()
        self._work: set[asyncio.Task[Any]] = set()
        self._thread = Thread(target=lambda: asyncio.run(self._life()), name="footpath", daemon=True)

    def start(self) -> T:
        """What the context gives; raises what opening it raises."""
        self._thread.start()
        try:
            return self._ready.result()
        except Exception:
            self._thread.join()
            raise

    async def _life(self) -> None:
        self._loop = asyncio.get_running_loop()
        try:
            async with self._context as given:
                self._ready.set_result(given)
                await self._over.wait()
                left = [task for task in self._work if task.cancel()]
                await asyncio.gather(*left, return_exceptions=True)
        except Exception as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        """Its result. Interrupted, it is cancelled, and has ended before this raises."""
        begun = self._begin(work)
        try:
            return begun.told.result()
        finally:
            begun.end()

    def iterate(self, items: AsyncGenerator[R]) -> Generator[R]:
        """Its items as they come. Closed early, the rest is cancelled, and has ended before the next line runs."""
        queue: SimpleQueue[tuple[R] | None] = SimpleQueue()
        begun = self._begin(_put(items, queue.put))
        try:
            while (item := queue.get()) is not None:
                yield item[0]
            begun.told.result()
        finally:
            begun.end()

    async def awaited(self, work: Coroutine[Any, Any, R]) -> R:
        """As :meth:`run`, for another loop, which goes on meanwhile."""
        begun = self._begin(work)
        try:
            return await asyncio.wrap_future(begun.told)
        finally:
            await begun.ended_beside()

    async def iterated(self, items: AsyncGenerator[R]) -> AsyncGenerator[R]:
        """As :meth:`iterate`, for another loop, which goes on meanwhile."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[tuple[R] | None] = asyncio.Queue()
        begun = self._begin(_put(items, lambda item: loop.call_soon_threadsafe(queue.put_nowait, item)))
        try:
            while (item := await queue.get()) is not None:
                yield item[0]
            await asyncio.wrap_future(begun.told)
        finally:
            await begun.ended_beside()

    def _begin(self, work: Coroutine[Any, Any, R]) -> "_Begun[R]":
        if self._loop is None or not self._thread.is_alive():
            work.close()
            raise RuntimeError("this store is closed; open it again")
        ended = Event()
        return _Begun(asyncio.run_coroutine_threadsafe(self._noted(work, ended), self._loop), ended)

    async def _noted(self, work: Coroutine[Any, Any, R], ended: Event) -> R:
        """The work as a task that can be waited for when it was cancelled."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  told to the type checker
        self._work.add(task)
        try:
            return await work
        finally:
            self._work.discard(task)
            ended.set()

    def stop(self) -> None:
        """Close the context and end the thread; a second time does nothing."""
        if self._thread.is_alive() and self._loop is not None:
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join()


@dataclass(frozen=True, slots=True)
class _Begun(Generic[R]):
    """Work that goes on in the thread. ``ended``: set once nothing of it runs any more."""

    told: Future[R]
    ended: Event

    def end(self) -> None:
        """Cancel it where it has not ended, and wait for its end."""
        self.told.cancel()
        self.ended.wait()

    async def ended_beside(self) -> None:
        """As :meth:`end`, without holding up the loop that waits."""
        self.told.cancel()
        if not self.ended.is_set():
            await asyncio.shield(asyncio.to_thread(self.ended.wait))


async def _put(items: AsyncGenerator[R], put: Callable[[tuple[R] | None], object]) -> None:
    """Each item as it comes, and that there are no more."""
    try:
        async with aclosing(items):
            async for item in items:
                put((item,))
    finally:
        put(None)
