"""Access to an open store, blocking or asynchronous, from LangChain's synchronous and asynchronous methods."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, TypeVar

from domain.errors import UsageError
from footpath.async_footpath import AsyncFootpath
from footpath.loop_thread import LoopThread
from footpath.sync_footpath import Footpath, unwrap_footpath

R = TypeVar("R")

AnyFootpath = Footpath | AsyncFootpath
"""An open store. A ``Footpath`` supports all methods of LangChain, an ``AsyncFootpath`` those that are awaited."""


class StoreRunner:
    """Runs operations on a store, whether it is a ``Footpath`` or an ``AsyncFootpath``."""

    def __init__(self, footpath: AnyFootpath) -> None:
        self._thread: LoopThread[AsyncFootpath] | None = None
        if isinstance(footpath, Footpath):
            self._thread, self._async_footpath = unwrap_footpath(footpath)
        else:
            self._async_footpath = footpath

    def run(self, operation: Callable[[AsyncFootpath], Coroutine[Any, Any, R]]) -> R:
        """Run an operation and return its result. ``UsageError`` for an ``AsyncFootpath``, which has no thread."""
        return self._require_thread().run(operation(self._async_footpath))

    async def run_async(self, operation: Callable[[AsyncFootpath], Coroutine[Any, Any, R]]) -> R:
        """Run an operation without blocking the caller's event loop."""
        if self._thread is None:
            return await operation(self._async_footpath)
        return await self._thread.run_async(operation(self._async_footpath))

    def iterate(self, operation: Callable[[AsyncFootpath], AsyncGenerator[R]]) -> Generator[R]:
        """Yield the items of an operation as they come. ``UsageError`` as for :meth:`run`."""
        return self._require_thread().iterate(operation(self._async_footpath))

    def iterate_async(self, operation: Callable[[AsyncFootpath], AsyncGenerator[R]]) -> AsyncGenerator[R]:
        """Yield the items of an operation without blocking the caller's event loop."""
        items = operation(self._async_footpath)
        return items if self._thread is None else self._thread.iterate_async(items)

    def _require_thread(self) -> LoopThread[AsyncFootpath]:
        if self._thread is None:
            raise UsageError(
                "an AsyncFootpath is called within its event loop: use ainvoke or astream, or open a Footpath"
            )
        return self._thread
