"""Optional stores: out of reach, they refuse every call, and end no run."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NoReturn, TypeVar

from agent.memory.recall import SECONDS as RECALL_SECONDS
from domain.errors import FootpathError, PassingError, StoreUnreachableError, UnavailableError

T = TypeVar("T")


async def within_reach(
    opened: Callable[[], Awaitable[T]], what: str, *, on_server: bool, seconds: float = RECALL_SECONDS
) -> "T | OutOfReach":
    """Open a store with ``opened``; return one that refuses every call where that fails.

    It also fails where a server takes more than ``seconds``. A file is waited for as long as it takes: a slow file
    means a busy machine, and a slow server a broken one. ``what``: the name of the store, for the reason.
    """
    try:
        async with asyncio.timeout(seconds if on_server else None):
            return await opened()
    except TimeoutError:
        return OutOfReach(StoreUnreachableError(f"the {what} could not be opened within {seconds:g} seconds"))
    except FootpathError as error:
        return OutOfReach(error)


class OutOfReach:
    """Store that could not be opened: every call raises ``UnavailableError`` with the reason.

    It stands for a store of memories, of solutions or of patterns.
    """

    def __init__(self, reason: FootpathError) -> None:
        self._reason = reason

    async def _refuse(self, *given: object, **named: object) -> NoReturn:
        del given, named
        # A PassingError tells the caller that a later try may succeed.
        kind = type(self._reason) if isinstance(self._reason, PassingError) else UnavailableError
        raise kind(str(self._reason)) from self._reason

    setup = add = without_vector = put_vectors = near = judge = judge_anew = remove = count = _refuse
    earlier = drop_programs = get = put = change = of_program = on_path = known = _refuse

    async def all(self) -> AsyncIterator[Any]:
        await self._refuse()
        yield  # pyright: ignore

    async def close(self) -> None:
        """Do nothing: nothing was opened."""
