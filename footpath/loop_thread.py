"""Event loop in a thread of its own, to use asynchronous objects from synchronous code or from another loop."""

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
    """Thread with an event loop that holds an asynchronous context open and runs coroutines beside it.

    One task opens and closes the context, since cancel scopes and task groups must be left by the task that entered
    them.
    """

    def __init__(self, context: AbstractAsyncContextManager[T]) -> None:
        self._context = context
        self._ready: Future[T] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop_requested = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._thread = Thread(target=lambda: asyncio.run(self._hold_context()), name="footpath", daemon=True)

    def start(self) -> T:
        """Start the thread and return the value of the opened context. Errors of opening are raised here."""
        self._thread.start()
        try:
            return self._ready.result()
        except Exception:
            self._thread.join()
            raise

    async def _hold_context(self) -> None:
        """Hold the context open until :meth:`stop`, then cancel the remaining work before it is closed."""
        self._loop = asyncio.get_running_loop()
        try:
            async with self._context as opened:
                self._ready.set_result(opened)
                await self._stop_requested.wait()
                cancelled_tasks = [task for task in self._tasks if task.cancel()]
                await asyncio.gather(*cancelled_tasks, return_exceptions=True)
        except Exception as error:
            # Before the context is open, start() waits for the error; later, nobody does.
            if self._ready.done():
                raise
            self._ready.set_exception(error)

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine in the thread and return its result.

        If the caller is interrupted, the coroutine is cancelled, and has ended before the exception propagates.
        """
        submitted = self._submit(coroutine)
        try:
            return submitted.future.result()
        finally:
            submitted.cancel_and_wait()

    def iterate(self, items: AsyncGenerator[R]) -> Generator[R]:
        """Yield the items of an asynchronous generator as they come.

        If this generator is closed early, the other one is cancelled, and has ended before ``close()`` returns.
        """
        # Items are wrapped in tuples, so that None can mark the end.
        queue: SimpleQueue[tuple[R] | None] = SimpleQueue()
        submitted = self._submit(_forward_items(items, queue.put))
        try:
            while (item := queue.get()) is not None:
                yield item[0]
            submitted.future.result()  # raises the error that ended the generator, if any
        finally:
            submitted.cancel_and_wait()

    async def run_async(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine as :meth:`run` does, without blocking the caller's event loop."""
        submitted = self._submit(coroutine)
        try:
            return await asyncio.wrap_future(submitted.future)
        finally:
            await submitted.cancel_and_wait_async()

    async def iterate_async(self, items: AsyncGenerator[R]) -> AsyncGenerator[R]:
        """Yield items as :meth:`iterate` does, without blocking the caller's event loop."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[tuple[R] | None] = asyncio.Queue()
        submitted = self._submit(_forward_items(items, lambda item: loop.call_soon_threadsafe(queue.put_nowait, item)))
        try:
            while (item := await queue.get()) is not None:
                yield item[0]
            await asyncio.wrap_future(submitted.future)
        finally:
            await submitted.cancel_and_wait_async()

    def _submit(self, coroutine: Coroutine[Any, Any, R]) -> "SubmittedWork[R]":
        """Start a coroutine in the thread. ``RuntimeError`` where the context is closed."""
        if self._loop is None or not self._thread.is_alive():
            coroutine.close()  # prevents the warning that the coroutine was never awaited
            raise RuntimeError("this store is closed; open it again")
        ended = Event()
        return SubmittedWork(asyncio.run_coroutine_threadsafe(self._run_tracked(coroutine, ended), self._loop), ended)

    async def _run_tracked(self, coroutine: Coroutine[Any, Any, R], ended: Event) -> R:
        """Run a coroutine as a tracked task, so that :meth:`stop` can cancel it, and set ``ended`` when it is over.

        A cancelled future is done at once, while the task behind it may still be cleaning up; ``ended`` tells when it
        is not.
        """
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  for the type checker: this runs in a task
        self._tasks.add(task)
        try:
            return await coroutine
        finally:
            self._tasks.discard(task)
            ended.set()

    def stop(self) -> None:
        """Close the context and end the thread. Idempotent."""
        if self._thread.is_alive() and self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop_requested.set)
            self._thread.join()


@dataclass(frozen=True, slots=True)
class SubmittedWork(Generic[R]):
    """A coroutine that was submitted to the thread."""

    future: Future[R]
    """Its result. Cancelled at once by a cancellation, before the coroutine has cleaned up."""
    ended: Event
    """Set when the coroutine has ended, its cleanup included."""

    def cancel_and_wait(self) -> None:
        """Cancel the coroutine if it still runs, and wait until it has ended. Blocks."""
        self.future.cancel()
        self.ended.wait()

    async def cancel_and_wait_async(self) -> None:
        """Do the same as :meth:`cancel_and_wait` without blocking the caller's event loop."""
        self.future.cancel()
        if not self.ended.is_set():
            # Shielded, so that cancelling the caller again does not cancel the future of the waiting thread.
            await asyncio.shield(asyncio.to_thread(self.ended.wait))


async def _forward_items(items: AsyncGenerator[R], put: Callable[[tuple[R] | None], object]) -> None:
    """Put each item as it comes, in a tuple, and None at the end, also after an error."""
    try:
        async with aclosing(items):
            async for item in items:
                put((item,))
    finally:
        put(None)
