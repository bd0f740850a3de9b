"""Long-term memory: past requests, the paths that served them, and how these have done since."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any, Protocol

from domain.model import Model
from domain.plan import Binding
from domain.program import ProgramPlan
from domain.tool import ToolId

LEGACY_PROGRAM_KEY = "program"
"""The key under which versions before solutions stored a memory's program."""


class Memory(Model):
    """A request that was served, with the path that served it."""

    id: str
    owner: str = ""
    """Empty if shared by all."""
    request: str
    pattern: str
    """The request with its values left out."""
    path: tuple[ToolId, ...]
    bindings: tuple[tuple[Binding, ...], ...] = ()
    """For each step, where the argument values came from in the remembered run; empty for imported memories."""
    at: datetime
    good: int = 0
    """How often the path has served a later request."""
    bad: int = 0
    """How often the path has failed a later request."""


@dataclass(frozen=True, slots=True)
class LegacyMemory:
    """A memory of a version before solutions, with the program that served its request."""

    memory: Memory
    program: ProgramPlan


def read_memory(stored: Mapping[str, Any]) -> tuple[Memory, ProgramPlan | None]:
    """Parse a memory as stores and exports of any version hold it.

    Returns:
        The memory, and its program if an earlier version stored one.
    """
    program = stored.get(LEGACY_PROGRAM_KEY)
    memory = Memory.model_validate({name: value for name, value in stored.items() if name != LEGACY_PROGRAM_KEY})
    return memory, None if program is None else ProgramPlan.model_validate(program)


class RecalledMemory(Model):
    """A memory with the cosine similarity of its pattern to that of the request, in [-1, 1]."""

    memory: Memory
    similarity: float


def make_memory_id(owner: str, pattern: str, path: Sequence[ToolId]) -> str:
    """Return the id of one path for one pattern, so that remembering it twice stores it once."""
    return blake2b("\0".join((owner, pattern, *path)).encode(), digest_size=16).hexdigest()


class MemorySearch(Protocol):
    """The part of a memory store that a search reads; see :class:`MemoryStore`."""

    async def find_similar(
        self, vector: Sequence[float], identity: str, owner: str, limit: int
    ) -> list[RecalledMemory]: ...


class MemoryStore(Protocol):
    """Storage of memories and of their vectors, which are kept separately for each encoder ``identity``.

    All methods may raise ``UnavailableError``.
    """

    async def setup(self) -> None:
        """Create missing structure; idempotent."""
        ...

    async def add(self, memories: Sequence[Memory]) -> None:
        """Insert memories; one whose id is known stays as it is."""
        ...

    async def list_without_vector(self, identity: str, limit: int) -> list[Memory]:
        """Return up to ``limit`` memories that have no vector of this encoder. Reads only those."""
        ...

    async def put_vectors(self, identity: str, vectors: Sequence[tuple[str, Sequence[float]]]) -> None:
        """Store vectors of unit length, by memory id."""
        ...

    async def find_similar(
        self, vector: Sequence[float], identity: str, owner: str, limit: int
    ) -> list[RecalledMemory]:
        """Return the most similar memories that are shared or belong to this owner, best first.

        ``vector``: the request's vector, of unit length.
        """
        ...

    async def judge(self, memory: str, *, good: bool, key: str = "") -> None:
        """Count a success or failure of a memory's path; unknown ids are ignored.

        ``key``: identifies the judgement, so that it counts once however often it is sent; empty to count each time.
        """
        ...

    async def reset_judgements(self, tools: Iterable[ToolId]) -> None:
        """Reset the counts of paths with one of these tools, because the tools have changed."""
        ...

    async def list_legacy(self, limit: int) -> list[LegacyMemory]:
        """Return up to ``limit`` memories whose programs an earlier version stored. Reads only those."""
        ...

    async def drop_programs(self, memories: Iterable[str]) -> None:
        """Delete the stored programs of these memories; unknown ids are ignored."""
        ...

    def stream_all(self) -> AsyncIterator[Memory]:
        """Stream the memories of all owners, ordered by id."""
        ...

    async def remove(self, memories: Iterable[str]) -> None:
        """Delete by id; unknown ids are ignored."""
        ...

    async def count(self) -> int:
        """Return the number of memories of all owners."""
        ...

    async def close(self) -> None:
        """Release all resources; idempotent."""
        ...
