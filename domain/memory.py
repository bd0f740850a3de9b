"""Long-term memory: what was asked, the path that served it, and how it has done since."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any, Protocol

from domain.model import Model
from domain.plan import Binding
from domain.program import ProgramPlan
from domain.tool import ToolId

PROGRAM = "program"
"""Where versions before solutions kept the program of a memory."""


class Memory(Model):
    """A request that was served. ``owner`` empty: shared by all. ``pattern``: the request with its values left out.

    ``bindings``: for each step where the values of its call came from, as the run that is remembered made it; empty for what was
    imported. ``good`` and ``bad``: how often its path has served, or failed, a later request.
    """

    id: str
    owner: str = ""
    request: str
    pattern: str
    path: tuple[ToolId, ...]
    bindings: tuple[tuple[Binding, ...], ...] = ()
    at: datetime
    good: int = 0
    bad: int = 0


@dataclass(frozen=True, slots=True)
class EarlierMemory:
    """A memory of a version before solutions, with the program that served its request."""

    memory: Memory
    program: ProgramPlan


def read_memory(kept: Mapping[str, Any]) -> tuple[Memory, ProgramPlan | None]:
    """A memory as stores and exports of any version have it, and its program where an earlier one kept it there."""
    program = kept.get(PROGRAM)
    memory = Memory.model_validate({name: value for name, value in kept.items() if name != PROGRAM})
    return memory, None if program is None else ProgramPlan.model_validate(program)


class Recalled(Model):
    """A memory with the cosine similarity of its pattern to that of the request, in [-1, 1]."""

    memory: Memory
    similarity: float


def memory_id(owner: str, pattern: str, path: Sequence[ToolId]) -> str:
    """One id for one way to serve one pattern, so that what is remembered twice is kept once."""
    return blake2b("\0".join((owner, pattern, *path)).encode(), digest_size=16).hexdigest()


class NearMemories(Protocol):
    """What a search reads of memories; see :class:`MemoryStore`."""

    async def near(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[Recalled]: ...


class MemoryStore(Protocol):
    """Memories, and their vectors by encoder ``identity``. All methods may raise ``UnavailableError``."""

    async def setup(self) -> None:
        """Create what is missing; idempotent."""
        ...

    async def add(self, memories: Sequence[Memory]) -> None:
        """Insert; a memory whose id is known stays as it is."""
        ...

    async def without_vector(self, identity: str, limit: int) -> list[Memory]:
        """Memories that this encoder has not seen. It reads those, and not the others beside them."""
        ...

    async def put_vectors(self, identity: str, vectors: Sequence[tuple[str, Sequence[float]]]) -> None:
        """Vectors of unit length by memory id."""
        ...

    async def near(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[Recalled]:
        """The most similar memories that are shared or of this owner, best first. ``vector`` has unit length."""
        ...

    async def judge(self, memory: str, *, good: bool, key: str = "") -> None:
        """Count one more success or failure of its path; unknown ids are ignored. With a ``key``, count it once, however often it is said."""
        ...

    async def judge_anew(self, tools: Iterable[ToolId]) -> None:
        """Forget how the paths with one of these tools have done: they lead elsewhere from now on."""
        ...

    async def earlier(self, limit: int) -> list[EarlierMemory]:
        """Some of those with which an earlier version kept programs. It reads those, and not the others beside them."""
        ...

    async def drop_programs(self, memories: Iterable[str]) -> None:
        """Keep no programs with these any more; unknown ids are ignored."""
        ...

    def all(self) -> AsyncIterator[Memory]:
        """Memories of all owners, ordered by id, streamed."""
        ...

    async def remove(self, memories: Iterable[str]) -> None:
        """Forget by id; unknown ids are ignored."""
        ...

    async def count(self) -> int:
        """How many memories there are, of all owners."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...
