"""Lazy objects: opened at the first asking, once, however many ask at the same time."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Generic, Protocol, TypeVar


class Store(Protocol):
    """What is set up before it is used, and closed after."""

    async def setup(self) -> None: ...

    async def close(self) -> None: ...


T = TypeVar("T")
S = TypeVar("S", bound=Store)


class Lazy(Generic[T]):
    """``make`` runs in the first :meth:`get`; who asks meanwhile waits for it. Where it fails, or is cancelled, the next one tries again."""

    def __init__(self, make: Callable[[], Awaitable[T]]) -> None:
        self._make = make
        self._made: tuple[T] | None = None
        self._lock = asyncio.Lock()

    async def get(self) -> T:
        """What was made."""
        if self._made is None:
            async with self._lock:
                if self._made is None:
                    self._made = (await self._make(),)
        return self._made[0]


async def set_up(store: S, stack: AsyncExitStack) -> S:
    """The store, set up and closed with the stack; closed at once where that fails, since it may be tried often."""
    try:
        await store.setup()
    except BaseException:
        await store.close()
        raise
    stack.push_async_callback(store.close)
    return store
