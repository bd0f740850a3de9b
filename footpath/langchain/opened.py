"""Access to an open store, blocking or asynchronous, from LangChain's synchronous and asynchronous methods."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, TypeVar

from domain.errors import UsageError
from footpath.asynchronous import AsyncFootpath
from footpath.loop_thread import LoopThread
from footpath.synchronous import Footpath, behind

R = TypeVar("R")

Store = Footpath | AsyncFootpath
"""An open store. A ``Footpath`` supports all methods of LangChain, an ``AsyncFootpath`` those that are awaited."""


class Opened:
    """Runs operations on a store, whether it is a ``Footpath`` or an ``AsyncFootpath``."""

    def __init__(self, footpath: Store) -> None:
        self._thread: LoopThread[AsyncFootpath] | None = None
        if isinstance(footpath, Footpath):
            self._thread, self._opened = behind(footpath)
        else:
            self._opened = footpath

    def run(self, work: Callable[[AsyncFootpath], Coroutine[Any, Any, R]]) -> R:
        """Run an operation and return its result. ``UsageError`` for an ``AsyncFootpath``, which has no thread."""
        return self._of_a_thread().run(work(self._opened))

    async def awaited(self, work: Callable[[AsyncFootpath], Coroutine[Any, Any, R]]) -> R:
        """Run an operation without blocking the caller's event loop."""
        if self._thread is None:
            return await work(self._opened)
        return await self._thread.awaited(work(self._opened))

    def iterate(self, work: Callable[[AsyncFootpath], AsyncGenerator[R]]) -> Generator[R]:
        """Yield the items of an operation as they come. ``UsageError`` as for :meth:`run`."""
        return self._of_a_thread().iterate(work(self._opened))

    def iterated(self, work: Callable[[AsyncFootpath], AsyncGenerator[R]]) -> AsyncGenerator[R]:
        """Yield the items of an operation without blocking the caller's event loop."""
        items = work(self._opened)
        return items if self._thread is None else self._thread.iterated(items)

    def _of_a_thread(self) -> LoopThread[AsyncFootpath]:
        if self._thread is None:
            raise UsageError(
                "an AsyncFootpath is called within its event loop: use ainvoke or astream, or open a Footpath"
            )
        return self._thread
