"""Memories without those of the evaluated request or near duplicates: they would give the answer away."""

from collections.abc import Sequence

from domain.memory import NearMemories, Recalled
from evaluation.overlap import Requests


class OtherRequests:
    """Memories of other requests than the excluded one and those nearly equal to it (:meth:`ask`).

    ``met`` holds the requests that were remembered. The graph was learnt from them as well, so there should be none.
    """

    def __init__(self, memories: NearMemories) -> None:
        self.met: set[str] = set()
        self._memories = memories
        self._asked = ""

    def ask(self, request: str) -> None:
        """Exclude this request from now on."""
        self._asked = request

    async def near(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[Recalled]:
        """Return the most similar memories of other requests, best first."""
        # Twice as many as needed, since those of near duplicates are dropped.
        found = await self._memories.near(vector, identity, owner, 2 * limit)
        near = Requests([self._asked])
        others = [one for one in found if not near.near(one.memory.request)]
        if len(others) < len(found):
            self.met.add(self._asked)
        return others[:limit]


class NoMemories:
    """A memory that remembers nothing."""

    async def near(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[Recalled]:
        """Return no memories."""
        del vector, identity, owner, limit
        return []
