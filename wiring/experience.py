"""Experience of a store as the search reads it: the graph's transitions, and the memories that all users share."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agent.memory.recall import SECONDS
from domain.errors import FootpathError
from domain.memory import MemorySearch
from domain.tool import FINISH, ToolId
from graph.facts import Edge
from retriever.experience import Precedent, TransitionCount
from retriever.index import Embedder

_SHARED = ""
_log = logging.getLogger(__name__)


class TransitionReader(Protocol):
    """Access to the transitions of a graph; see ``graph.store.GraphStore``."""

    async def edges_beside(self, tools: Iterable[ToolId]) -> list[Edge]: ...


class StoreExperience:
    """Transitions of imported trajectories and live runs, and shared memories of served requests.

    A banned or muted transition counts for nothing. Created for one run, as its search is, and dropped with it.

    Of memories only shared ones are read: one owner's requests must not show in another's offers.
    """

    def __init__(self, graph: TransitionReader, memories: MemorySearch, embedder: Embedder) -> None:
        self._graph = graph
        self._memories = memories
        self._embedder = embedder
        self._read: set[ToolId] = set()
        self._walked: dict[tuple[ToolId, ToolId], TransitionCount] = {}
        self._alike: dict[bytes, tuple[int, Sequence[Precedent]]] = {}

    async def find_transitions(self, tools: Iterable[ToolId]) -> Sequence[TransitionCount]:
        """Return every transition out of one of these tools or into one, by source and target. Each tool is read once."""
        asked = {tool for tool in tools if tool != FINISH}
        if new := sorted(asked - self._read):
            for edge in await self._graph.edges_beside(new):
                if edge.mark not in ("ban", "mute") and (count := edge.imported + edge.live):
                    self._walked[edge.source, edge.target] = TransitionCount(edge.source, edge.target, count)
            self._read.update(new)
        return [one for ends, one in sorted(self._walked.items()) if not asked.isdisjoint(ends)]

    async def find_precedents(self, request: NDArray[np.float32], limit: int) -> Sequence[Precedent]:
        """Return the shared memories most like a request, best first; each request is looked up once.

        Empty where they are out of reach, since a search goes on without them.
        """
        key = request.tobytes()
        known, found = self._alike.get(key, (0, ()))
        if known < limit:
            found = await self._recall_similar(request, limit)
            self._alike[key] = (limit, found)
        return found[:limit]

    async def _recall_similar(self, request: NDArray[np.float32], limit: int) -> Sequence[Precedent]:
        try:
            async with asyncio.timeout(SECONDS):
                recalled = await self._memories.find_similar(request.tolist(), self._embedder.identity, _SHARED, limit)
                scale = (await self._embedder.scale()).requests
        except TimeoutError:
            _log.warning("a search goes on without long-term memory: it did not answer within %g seconds", SECONDS)
            return ()
        except FootpathError as error:
            _log.warning("a search goes on without long-term memory: %s", error)
            return ()
        return [Precedent(one.memory.path, scale.map(one.similarity)) for one in recalled]
