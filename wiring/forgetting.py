"""Removal of all that is kept for one owner: memories and solutions, with the vectors of both.

What came from the owner and is shared without an administrator's approval is removed too.
"""

from typing import Protocol

from agent.solutions.library import SolutionLibrary
from domain.memory import MemoryStore


class OwnerStores(Protocol):
    """Stores of memories and solutions: a container."""

    async def memories(self) -> MemoryStore:
        """Return the memories of all owners."""
        ...

    async def solutions(self, owner: str | None = None) -> SolutionLibrary:
        """Return the solutions of one owner, with those that all share."""
        ...


async def forget_owner(container: OwnerStores, owner: str) -> None:
    """Forget an owner's data for good. ``UnavailableError``: a store is out of reach, and some of it may remain."""
    if not owner:
        raise ValueError("what all share belongs to no owner")
    await withdraw_shared(container, owner)
    library = await container.solutions(owner)
    await library.forget([entry.id async for entry in library.iterate_all() if entry.owner == owner])
    memories = await container.memories()
    await memories.remove([entry.id async for entry in memories.stream_all() if entry.owner == owner])


async def withdraw_shared(container: OwnerStores, owner: str) -> None:
    """Stop sharing what came from this owner without an administrator's approval. Raises as :func:`forget_owner`."""
    await (await container.solutions("")).withdraw_shared(owner)
