"""Memories without those of the request that is measured, or nearly so: it would be told what it is asked."""

from collections.abc import Sequence

from domain.memory import NearMemories, Recalled
from evaluation.overlap import Requests


class OtherRequests:
    """Memories of other requests than the one that is asked and those that are nearly it (:meth:`ask`).

    ``met``: the requests that were remembered. The graph was learnt from them as well, so that there should be none.
    """

    def __init__(self, memories: NearMemories) -> None:
        self.met: set[str] = set()
        self._memories = memories
        self._asked = ""

    def ask(self, request: str) -> None:
        """From now on nothing is known of this request."""
        self._asked = request

    async def near(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[Recalled]:
        """The most similar memories of other requests, best first."""
        found = await self._memories.near(vector, identity, owner, 2 * limit)
        near = Requests([self._asked])
        others = [one for one in found if not near.near(one.memory.request)]
        if len(others) < len(found):
            self.met.add(self._asked)
        return others[:limit]


class NoMemories:
    """Nothing is remembered."""

    async def near(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[Recalled]:
        """None."""
        del vector, identity, owner, limit
        return []
