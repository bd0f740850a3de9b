"""Stores that a run goes on without: out of reach, they refuse what they are asked, and end no run."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NoReturn, TypeVar

from agent.memory.recall import SECONDS as RECALL_SECONDS
from domain.errors import FootpathError, PassingError, StoreUnreachableError, UnavailableError

T = TypeVar("T")


async def within_reach(
    opened: Callable[[], Awaitable[T]], what: str, *, on_server: bool, seconds: float = RECALL_SECONDS
) -> "T | OutOfReach":
    """What ``opened`` gives, or, where that fails or a server takes more than ``seconds``, a store that refuses whatever it is asked.

    A file is waited for as long as it takes: it is slow where the machine is busy, and a server where it is ill.
    """
    try:
        async with asyncio.timeout(seconds if on_server else None):
            return await opened()
    except TimeoutError:
        return OutOfReach(StoreUnreachableError(f"the {what} could not be opened within {seconds:g} seconds"))
    except FootpathError as error:
        return OutOfReach(error)


class OutOfReach:
    """A store of memories, of solutions or of patterns that could not be opened: whatever is asked of it raises ``UnavailableError`` with the reason."""

    def __init__(self, reason: FootpathError) -> None:
        self._reason = reason

    async def _refuse(self, *given: object, **named: object) -> NoReturn:
        del given, named
        # Who asks has to know whether asking later may help.
        kind = type(self._reason) if isinstance(self._reason, PassingError) else UnavailableError
        raise kind(str(self._reason)) from self._reason

    setup = add = without_vector = put_vectors = near = judge = judge_anew = remove = count = _refuse
    earlier = drop_programs = get = put = change = of_program = on_path = known = _refuse

    async def all(self) -> AsyncIterator[Any]:
        await self._refuse()
        yield  # pyright: ignore

    async def close(self) -> None:
        """Nothing was opened."""
