"""Memories without those of the evaluated request or near duplicates: they would give the answer away."""

from collections.abc import Sequence

from domain.memory import MemorySearch, RecalledMemory
from evaluation.overlap import ReferenceRequests


class WithheldMemories:
    """Memories without those of one request and its near duplicates, which would give its answer away.

    ``met`` has the requests that were remembered. The graph was learnt from the same runs, so there should be none.
    """

    def __init__(self, memories: MemorySearch) -> None:
        self.met: set[str] = set()
        self._memories = memories
        self._excluded = ""

    def exclude_request(self, request: str) -> None:
        """Exclude this request from now on."""
        self._excluded = request

    async def find_similar(
        self, vector: Sequence[float], identity: str, owner: str, limit: int
    ) -> list[RecalledMemory]:
        """Return the most similar memories of other requests, best first."""
        # Twice as many as needed, since those of near duplicates are dropped.
        memories = await self._memories.find_similar(vector, identity, owner, 2 * limit)
        excluded = ReferenceRequests([self._excluded])
        others = [one for one in memories if not excluded.has_near_duplicate(one.memory.request)]
        if len(others) < len(memories):
            self.met.add(self._excluded)
        return others[:limit]


class NoMemories:
    """A memory that remembers nothing."""

    async def find_similar(
        self, vector: Sequence[float], identity: str, owner: str, limit: int
    ) -> list[RecalledMemory]:
        """Return no memories."""
        del vector, identity, owner, limit
        return []
