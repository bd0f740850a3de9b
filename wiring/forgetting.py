"""What is kept for one owner is forgotten with the owner: memories and solutions, with the vectors of both, and what was shared of them without an administrator's word."""

from typing import Protocol

from agent.solutions.library import SolutionLibrary
from domain.memory import MemoryStore


class Keeps(Protocol):
    """What holds them: a container."""

    async def memories(self) -> MemoryStore:
        """Of all owners."""
        ...

    async def solutions(self, owner: str | None = None) -> SolutionLibrary:
        """Of one owner, with those that all share."""
        ...


async def forget_owner(container: Keeps, owner: str) -> None:
    """Forget it for good. ``UnavailableError``: a store is out of reach, and some of it may be there still."""
    if not owner:
        raise ValueError("what all share belongs to no owner")
    await withdraw_shared(container, owner)
    library = await container.solutions(owner)
    await library.forget([one.id async for one in library.all() if one.owner == owner])
    memories = await container.memories()
    await memories.remove([one.id async for one in memories.all() if one.owner == owner])


async def withdraw_shared(container: Keeps, owner: str) -> None:
    """Let nobody share any longer what came from this owner without an administrator's word. Raises as :func:`forget_owner`."""
    await (await container.solutions("")).withdraw(owner)
