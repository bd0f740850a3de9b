"""Stand-in for a store that cannot be opened: it refuses every call, so that a run can go on without the store."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NoReturn, TypeVar

from agent.memory.recall import RECALL_TIMEOUT_SECONDS as RECALL_SECONDS
from domain.errors import FootpathError, StoreUnreachableError, TransientError, UnavailableError

T = TypeVar("T")


async def open_or_unavailable(
    open_store: Callable[[], Awaitable[T]], store_name: str, *, on_server: bool, seconds: float = RECALL_SECONDS
) -> "T | UnavailableStore":
    """Open a store with ``open_store``; return one that refuses every call where that fails.

    It also fails where a server takes more than ``seconds``. A file is waited for as long as it takes: a slow file
    means a busy machine, and a slow server a broken one. ``store_name``: the name of the store, for the reason.
    """
    try:
        async with asyncio.timeout(seconds if on_server else None):
            return await open_store()
    except TimeoutError:
        return UnavailableStore(
            StoreUnreachableError(f"the {store_name} could not be opened within {seconds:g} seconds")
        )
    except FootpathError as error:
        return UnavailableStore(error)


class UnavailableStore:
    """Store that could not be opened: every call raises ``UnavailableError`` with the reason.

    It stands for a store of memories, of solutions or of patterns.
    """

    def __init__(self, reason: FootpathError) -> None:
        self._reason = reason

    async def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        del args, kwargs
        # A TransientError tells the caller that a later try may succeed.
        kind = type(self._reason) if isinstance(self._reason, TransientError) else UnavailableError
        raise kind(str(self._reason)) from self._reason

    setup = add = list_without_vector = put_vectors = find_similar = judge = reset_judgements = remove = count = _refuse
    list_legacy = drop_programs = get = put = change = list_by_program = list_by_tools = count_patterns = _refuse

    async def stream_all(self) -> AsyncIterator[Any]:
        await self._refuse()
        yield  # pyright: ignore

    async def close(self) -> None:
        """Do nothing: nothing was opened."""
