"""Pool with one item for each user, which is reused by the user's next run and closed when idle for a while."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class PoolItem(Protocol):
    """Item of a pool."""

    async def close(self) -> None: ...


T = TypeVar("T", bound=PoolItem)


@dataclass
class _PooledItem(Generic[T]):
    """An item with its use."""

    item: T
    borrowers: int
    idle_since: float


class UserPool(Generic[T]):
    """Pool of items, one for each user, which ``make`` creates from the user's id.

    At most ``most`` idle items are kept, each for at most ``seconds``; a borrowed item is never closed. :meth:`close`
    closes all at the end.
    """

    def __init__(
        self, create_item: Callable[[str], Awaitable[T]], *, max_idle: int = 32, idle_seconds: float = 300.0
    ) -> None:
        self._create_item = create_item
        self._max_idle = max_idle
        self._idle_seconds = idle_seconds
        self._entries: OrderedDict[str, _PooledItem[T]] = OrderedDict()
        self._creation_lock = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    @asynccontextmanager
    async def borrow(self, user_id: str) -> AsyncGenerator[T]:
        """Borrow the user's item for the time of the block; several runs of the user may borrow it at the same time."""
        async with self._creation_lock:  # otherwise two runs that start together would create two items
            if user_id not in self._entries:
                self._entries[user_id] = _PooledItem(await self._create_item(user_id), 0, 0.0)
            entry = self._entries[user_id]
            entry.borrowers += 1
        try:
            yield entry.item
        finally:
            entry.borrowers -= 1
            entry.idle_since = asyncio.get_running_loop().time()
            if self._entries.get(user_id) is entry:
                self._entries.move_to_end(user_id)
            await self._close_idle()

    async def _close_idle(self) -> None:
        """Close items that were idle for too long, and the oldest where there are too many."""
        idle = [user_id for user_id, entry in self._entries.items() if not entry.borrowers]
        oldest = asyncio.get_running_loop().time() - self._idle_seconds
        expired = [
            user_id
            for number, user_id in enumerate(idle)
            if len(idle) - number > self._max_idle or self._entries[user_id].idle_since < oldest
        ]
        for entry in [
            self._entries.pop(user_id) for user_id in expired
        ]:  # removed at once: closing takes time, and nobody may borrow them meanwhile
            await entry.item.close()

    async def close(self) -> None:
        """Close all items."""
        while self._entries:
            await self._entries.popitem()[1].item.close()
