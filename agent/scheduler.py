"""Concurrent execution of the subtasks of a request: each starts when those that it depends on have ended."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import TypeVar, cast

from domain.errors import TransientError

T = TypeVar("T")
SubtaskWork = Callable[[], Coroutine[None, None, None]]
"""The work of one subtask."""


class SubtaskScheduler:
    """Runs the subtasks of one request concurrently, and knows which of them are active.

    A subtask is active except while it waits for its turn or for an event to be handled. A run that is to be resumed
    later is broken off only where none is active.
    """

    def __init__(self, max_parallel: int) -> None:
        """Run at most ``max_parallel`` subtasks at a time."""
        self._slots = asyncio.Semaphore(max_parallel)
        self._ended: dict[int, asyncio.Event] = {}
        self._active: set[int] = set()
        self._idle_event = asyncio.Event()
        self._is_aborting = False

    async def run_all(
        self, work_by_subtask: Mapping[int, SubtaskWork], dependencies: Mapping[int, Collection[int]]
    ) -> None:
        """Run all subtasks, given by number; each starts when those that it waits for have ended.

        The first failure cancels all others and is raised. After a ``TransientError`` the run is resumed later, so each
        active subtask may first continue to the next event that it emits: no call is cut off.

        Args:
            work_by_subtask: the work of each subtask.
            dependencies: numbers of the subtasks that each one depends on; the caller rules out cycles, which never start.
        """
        if len(work_by_subtask) == 1:  # nothing runs concurrently, so no tasks are needed
            for work in work_by_subtask.values():
                await work()
            return
        self._ended = {number: asyncio.Event() for number in work_by_subtask}
        tasks = [
            asyncio.create_task(self._run_subtask(number, work, dependencies[number]))
            for number, work in work_by_subtask.items()
        ]
        try:
            await self._await_tasks(tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _run_subtask(self, number: int, work: SubtaskWork, dependencies: Collection[int]) -> None:
        """Run one subtask when its dependencies have ended and a slot is free."""
        for other in dependencies:
            await self._ended[other].wait()
        async with self._slots:
            self._active.add(number)
            try:
                await work()
            except TransientError:
                self._is_aborting = True
                raise
            finally:
                self._mark_idle(number)
        self._ended[number].set()

    async def _await_tasks(self, tasks: "Collection[asyncio.Task[None]]") -> None:
        """Wait until all tasks have ended; raise the error of the first that fails."""
        pending: Collection[asyncio.Task[None]] = tasks
        while pending:
            ended, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                error = asyncio.CancelledError() if task.cancelled() else task.exception()
                if isinstance(error, TransientError):
                    await self._wait_until_idle()
                if error is not None:
                    raise error

    async def _wait_until_idle(self) -> None:
        """Wait until each subtask that is active now has emitted an event, waits for another one, or has ended."""
        active_now = set(self._active)
        while active_now & self._active:
            self._idle_event.clear()
            await self._idle_event.wait()

    def _mark_idle(self, number: int) -> None:
        self._active.discard(number)
        self._idle_event.set()

    @asynccontextmanager
    async def pause_activity(self, number: int) -> AsyncGenerator[None]:
        """Mark a subtask as idle in the context, in which no call of it is under way.

        If the run is being broken off, the subtask neither enters nor leaves the context: it blocks until cancelled.
        """
        if number not in self._active:
            yield
            return
        self._mark_idle(number)
        await self._block_if_aborting()
        yield
        await self._block_if_aborting()
        self._active.add(number)

    async def _block_if_aborting(self) -> None:
        """Block until cancelled if the run is being broken off."""
        if self._is_aborting:
            await asyncio.Event().wait()

    async def wait_for_turn(self, number: int) -> None:
        """Wait, within a subtask, until all subtasks of lower numbers have ended.

        The subtask gives up its slot meanwhile; otherwise those that it waits for might never get one (deadlock).
        """
        earlier = [ended for other, ended in self._ended.items() if other < number and not ended.is_set()]
        if not earlier:
            return
        async with self.pause_activity(number):
            self._slots.release()
            for ended in earlier:
                await ended.wait()
            await self._slots.acquire()


@asynccontextmanager
async def closing(source: AsyncIterator[T]) -> AsyncGenerator[AsyncIterator[T], None]:
    """Close an iterator at the end of the context if it is a generator.

    Like ``contextlib.aclosing``, but for any iterator.
    """
    try:
        yield source
    finally:
        if isinstance(source, AsyncGenerator):
            await cast("AsyncGenerator[T, None]", source).aclose()
