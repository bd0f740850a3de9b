"""An open store of either form, as LangChain calls it: with an event loop and without."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, TypeVar

from domain.errors import UsageError
from footpath.asynchronous import AsyncFootpath
from footpath.loop_thread import LoopThread
from footpath.synchronous import Footpath, behind

R = TypeVar("R")

Store = Footpath | AsyncFootpath
"""With a ``Footpath`` all of LangChain's ways to call work, with an ``AsyncFootpath`` those that are awaited, in its own loop."""


class Opened:
    """What works with a store, whichever form it has."""

    def __init__(self, footpath: Store) -> None:
        self._thread: LoopThread[AsyncFootpath] | None = None
        if isinstance(footpath, Footpath):
            self._thread, self._opened = behind(footpath)
        else:
            self._opened = footpath

    def run(self, work: Callable[[AsyncFootpath], Coroutine[Any, Any, R]]) -> R:
        """What a work comes to. ``UsageError``: the store has no thread to do it in."""
        return self._of_a_thread().run(work(self._opened))

    async def awaited(self, work: Callable[[AsyncFootpath], Coroutine[Any, Any, R]]) -> R:
        """The same, while this loop goes on."""
        if self._thread is None:
            return await work(self._opened)
        return await self._thread.awaited(work(self._opened))

    def iterate(self, work: Callable[[AsyncFootpath], AsyncGenerator[R]]) -> Generator[R]:
        """The items of a work as they come. ``UsageError`` as for :meth:`run`."""
        return self._of_a_thread().iterate(work(self._opened))

    def iterated(self, work: Callable[[AsyncFootpath], AsyncGenerator[R]]) -> AsyncGenerator[R]:
        """The same, while this loop goes on."""
        items = work(self._opened)
        return items if self._thread is None else self._thread.iterated(items)

    def _of_a_thread(self) -> LoopThread[AsyncFootpath]:
        if self._thread is None:
            raise UsageError(
                "an AsyncFootpath is called within its event loop: use ainvoke or astream, or open a Footpath"
            )
        return self._thread
