"""Re-ranker of the settings for the encoder in use, and the experience of a store that it takes as evidence."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from agent.memory.recall import RECALL_TIMEOUT_SECONDS
from domain.errors import FootpathError, UsageError
from domain.memory import MemorySearch
from domain.tool import FINISH, ToolId
from graph.facts import Edge
from retriever.experience import Precedent, TransitionCount
from retriever.index import Embedder
from wiring.settings import Settings

_log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from retriever.reranker import Reranker


async def get_reranker(settings: Settings, embedder: Embedder) -> "Reranker | None":
    """Return the re-ranker for an encoder; None where none is wanted or the encoder's cosines say too little.

    The bundled one serves other encoders too: it gets their cosines on the scale that it learnt with. Raises as
    :func:`read_chosen_reranker`, and ``UnavailableError`` where the encoder cannot be asked.
    """
    reranker = await read_chosen_reranker(settings, embedder.identity)
    if reranker is None or reranker.encoder == embedder.identity:
        return reranker
    return reranker if (await embedder.get_cosine_scale()).comparable else None


async def read_chosen_reranker(settings: Settings, encoder: str) -> "Reranker | None":
    """Return the re-ranker of the settings, None where none is wanted.

    Raises:
        UsageError: the settings name one that learnt with another encoder. UnavailableError: it cannot be read.
    """
    from retriever.reranker import BUNDLED_RERANKER, read_reranker

    if not settings.rerank:
        return None
    chosen_file = settings.reranker_file
    reranker = await asyncio.to_thread(read_reranker, chosen_file or BUNDLED_RERANKER)
    if chosen_file and reranker.encoder != encoder:
        raise UsageError(
            f"{chosen_file} was learnt with {reranker.encoder}, and the encoder in use is {encoder}: "
            "teach one for it with scripts/train_reranker.py, or leave FOOTPATH_RERANKER_FILE empty"
        )
    return reranker


_SHARED = ""


class TransitionReader(Protocol):
    """Access to the transitions of a graph; see ``graph.store.GraphStore``."""

    async def find_adjacent_edges(self, tools: Iterable[ToolId]) -> list[Edge]: ...


class StoreExperience:
    """Transitions of imported trajectories and live runs, and shared memories of served requests.

    A banned or muted transition counts for nothing. Created for one run, as its search is, and dropped with it.

    Of memories only shared ones are read: one owner's requests must not show in another's offers.
    """

    def __init__(self, graph: TransitionReader, memories: MemorySearch, embedder: Embedder) -> None:
        self._graph = graph
        self._memories = memories
        self._embedder = embedder
        self._read_tools: set[ToolId] = set()
        self._transitions: dict[tuple[ToolId, ToolId], TransitionCount] = {}
        self._precedents: dict[bytes, tuple[int, Sequence[Precedent]]] = {}

    async def find_transitions(self, tools: Iterable[ToolId]) -> Sequence[TransitionCount]:
        """Return every transition out of one of these tools or into one, by source and target. Each tool is read once."""
        tool_ids = {tool for tool in tools if tool != FINISH}
        if new := sorted(tool_ids - self._read_tools):
            for edge in await self._graph.find_adjacent_edges(new):
                if edge.mark not in ("ban", "mute") and (count := edge.imported + edge.live):
                    self._transitions[edge.source, edge.target] = TransitionCount(edge.source, edge.target, count)
            self._read_tools.update(new)
        return [transition for ends, transition in sorted(self._transitions.items()) if not tool_ids.isdisjoint(ends)]

    async def find_precedents(self, request: NDArray[np.float32], limit: int) -> Sequence[Precedent]:
        """Return the shared memories most like a request, best first; each request is looked up once.

        Empty where they are out of reach, since a search goes on without them.
        """
        key = request.tobytes()
        known_limit, precedents = self._precedents.get(key, (0, ()))
        if known_limit < limit:
            precedents = await self._recall_similar(request, limit)
            self._precedents[key] = (limit, precedents)
        return precedents[:limit]

    async def _recall_similar(self, request: NDArray[np.float32], limit: int) -> Sequence[Precedent]:
        try:
            async with asyncio.timeout(RECALL_TIMEOUT_SECONDS):
                recalled = await self._memories.find_similar(request.tolist(), self._embedder.identity, _SHARED, limit)
                scale = (await self._embedder.get_cosine_scale()).requests
        except TimeoutError:
            _log.warning(
                "a search goes on without long-term memory: it did not answer within %g seconds", RECALL_TIMEOUT_SECONDS
            )
            return ()
        except FootpathError as error:
            _log.warning("a search goes on without long-term memory: %s", error)
            return ()
        return [
            Precedent(recalled_memory.memory.path, scale.map(recalled_memory.similarity))
            for recalled_memory in recalled
        ]
