"""Cached retrieval and memory shared by all rows of a table, without memories that would give the answer away."""

from collections.abc import Mapping, Sequence

from agent.memory.long_term import LongTermMemory, PresentToolsFinder
from agent.offer.tool_evidence import RetrievedTool, ToolFinder
from domain.memory import RecalledMemory
from domain.tool import ToolId
from evaluation.overlap import ReferenceRequests


class CachedToolFinder:
    """A retriever whose results are cached."""

    def __init__(self, finder: ToolFinder) -> None:
        self._finder = finder
        self._start_tools: dict[tuple[str, int], Sequence[RetrievedTool]] = {}
        self._relevance: dict[tuple[tuple[str, ...], ToolId], tuple[float, ...] | None] = {}

    async def find_tools_for_all(self, requests: Sequence[str], limit: int) -> Sequence[Sequence[RetrievedTool]]:
        """Return the retriever's results, from the cache where possible."""
        new = [request for request in dict.fromkeys(requests) if (request, limit) not in self._start_tools]
        if new:
            results = await self._finder.find_tools_for_all(new, limit)
            self._start_tools |= {(request, limit): hits for request, hits in zip(new, results, strict=True)}
        return [self._start_tools[request, limit] for request in requests]

    async def score_relevance(self, texts: Sequence[str], ids: Sequence[ToolId]) -> Mapping[ToolId, tuple[float, ...]]:
        """Return the retriever's scores, from the cache where possible."""
        key = tuple(texts)
        new = [tool for tool in ids if (key, tool) not in self._relevance]
        if new:
            scores = await self._finder.score_relevance(key, new)
            self._relevance |= {(key, tool): scores.get(tool) for tool in new}
        cached = {tool: self._relevance[key, tool] for tool in ids}
        return {tool: values for tool, values in cached.items() if values is not None}

    async def count_tools(self) -> int:
        """Return the number of tools."""
        return await self._finder.count_tools()


class CachedOtherMemories:
    """Long-term memory without the memories of requests that equal, or nearly equal, the evaluated one.

    ``met`` holds the requests that memory knew. The graph was learnt from them as well, so there should be none.
    """

    def __init__(self, memory: LongTermMemory) -> None:
        self.met: set[str] = set()
        self._memory = memory
        self._recalled: dict[tuple[str, int], list[RecalledMemory]] = {}

    async def recall(self, request: str, k: int, present: PresentToolsFinder) -> list[RecalledMemory]:
        """Return the ``k`` best memories of other requests."""
        if (request, k) not in self._recalled:
            excluded = ReferenceRequests([request])
            # Twice as many as needed, since those of near duplicates are dropped.
            memories = await self._memory.recall(request, 2 * k, present)
            others = [one for one in memories if not excluded.has_near_duplicate(one.memory.request)]
            if len(others) < len(memories):
                self.met.add(request)
            self._recalled[request, k] = others[:k]
        return self._recalled[request, k]
