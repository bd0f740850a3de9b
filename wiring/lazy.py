"""Objects that are opened when first needed, once, even if several callers need them at the same time."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Generic, Protocol, TypeVar


class OpenableStore(Protocol):
    """Object that is set up before it is used, and closed after."""

    async def setup(self) -> None: ...

    async def close(self) -> None: ...


T = TypeVar("T")
S = TypeVar("S", bound=OpenableStore)


class Lazy(Generic[T]):
    """Object made by the first :meth:`get`, for which other callers wait.

    After a failure or cancellation, the next call tries again.
    """

    def __init__(self, make: Callable[[], Awaitable[T]]) -> None:
        self._create = make
        self._value: tuple[T] | None = None  # a tuple, so that None can be an object
        self._lock = asyncio.Lock()

    async def get(self) -> T:
        """Return the object."""
        if self._value is None:
            async with self._lock:
                if self._value is None:
                    self._value = (await self._create(),)
        return self._value[0]


async def set_up(store: S, stack: AsyncExitStack) -> S:
    """Return the store, set up, to be closed with the stack.

    It is closed at once where the setup fails, since it may be tried often.
    """
    try:
        await store.setup()
    except BaseException:
        await store.close()
        raise
    stack.push_async_callback(store.close)
    return store
