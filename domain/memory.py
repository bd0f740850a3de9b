"""Long-term memory: what was asked, the path that served it, and how it has done since."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from domain.model import Model
from domain.plan import Binding
from domain.tool import ToolId


class Memory(Model):
    """A request that was served. ``owner`` empty: shared by all. ``pattern``: the request with its values left out.

    ``bindings``: per step of ``path``, where each argument came from; values are not kept. ``good`` and ``bad``: how often
    its path served, or failed, a later request.
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


class Recalled(Model):
    """A memory with the cosine similarity of its pattern to that of the request, in [-1, 1]."""

    memory: Memory
    similarity: float


class MemoryStore(Protocol):
    """Memories by vector, for one encoder ``identity``. All methods may raise ``UnavailableError``."""

    async def setup(self) -> None:
        """Create what is missing; idempotent."""
        ...

    async def put(self, memory: Memory, vector: Sequence[float], identity: str) -> None:
        """Insert; where a memory of that id, or of the same owner, pattern and path is there, add one to its ``good``."""
        ...

    async def near(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[Recalled]:
        """The most similar memories that are shared or of this owner, best first. ``vector`` has unit length."""
        ...

    async def judge(self, memory: str, *, good: bool) -> None:
        """Count one more success or failure of its path; unknown ids are ignored."""
        ...

    async def remove(self, memories: Iterable[str]) -> None:
        """Forget by id; unknown ids are ignored."""
        ...

    async def count(self) -> int:
        """How many memories there are, of all owners and encoders."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...
