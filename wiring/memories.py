"""Where long-term memory lies: a Qdrant server, or a file of the store's folder; or out of reach, which ends no run."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import NoReturn

from agent.memory.recall import SECONDS as RECALL_SECONDS
from domain.errors import FootpathError, UnavailableError
from domain.memory import Memory, MemoryStore
from wiring.settings import Settings
from wiring.store_servers import vector_address


def memories_of(settings: Settings, file: Path, *, on_server: bool) -> MemoryStore:
    """A store of memories that is not open yet."""
    if on_server:
        from retriever.backends.qdrant_memories import QdrantMemories

        return QdrantMemories(vector_address(settings), name=settings.vector_collection)
    from graph.backends.sqlite_memories import SqliteMemories

    return SqliteMemories(file)


async def within_reach(
    opened: Callable[[], Awaitable[MemoryStore]], seconds: float | None = RECALL_SECONDS
) -> MemoryStore:
    """What ``opened`` gives, or, where that fails or takes more than ``seconds``, a store that refuses whatever it is asked.

    None waits as long as it takes: a file of this machine is slow where the machine is busy, and a server where it is ill.
    """
    try:
        async with asyncio.timeout(seconds):
            return await opened()
    except TimeoutError:
        return OutOfReach(UnavailableError(f"the memories could not be opened within {seconds:g} seconds"))
    except FootpathError as error:
        return OutOfReach(error)


class OutOfReach:
    """A ``MemoryStore`` that could not be opened: whatever is asked of it raises ``UnavailableError`` with the reason."""

    def __init__(self, reason: FootpathError) -> None:
        self._reason = reason

    async def _refuse(self, *given: object, **named: object) -> NoReturn:
        del given, named
        raise UnavailableError(str(self._reason)) from self._reason

    setup = add = without_vector = put_vectors = near = judge = judge_anew = remove = count = _refuse

    async def all(self) -> AsyncIterator[Memory]:
        await self._refuse()
        yield  # pyright: ignore

    async def close(self) -> None:
        """Nothing was opened."""
