"""Cached retrieval and memory shared by all rows of a table, without memories that would give the answer away."""

from collections.abc import Mapping, Sequence

from agent.memory.long_term import LongTermMemory, Present
from agent.offer.tool_facts import FoundTool, ToolFinder
from domain.memory import Recalled
from domain.tool import ToolId
from evaluation.overlap import Requests


class KeptFinder:
    """A retriever whose results are cached."""

    def __init__(self, finder: ToolFinder) -> None:
        self._finder = finder
        self._found: dict[tuple[str, int], Sequence[FoundTool]] = {}
        self._relevance: dict[tuple[tuple[str, ...], ToolId], tuple[float, ...] | None] = {}

    async def start_tools_of(self, requests: Sequence[str], limit: int) -> Sequence[Sequence[FoundTool]]:
        """Return the retriever's results, from the cache where possible."""
        new = [request for request in dict.fromkeys(requests) if (request, limit) not in self._found]
        if new:
            found = await self._finder.start_tools_of(new, limit)
            self._found |= {(request, limit): hits for request, hits in zip(new, found, strict=True)}
        return [self._found[request, limit] for request in requests]

    async def relevance(self, texts: Sequence[str], ids: Sequence[ToolId]) -> Mapping[ToolId, tuple[float, ...]]:
        """Return the retriever's scores, from the cache where possible."""
        asked = tuple(texts)
        new = [tool for tool in ids if (asked, tool) not in self._relevance]
        if new:
            told = await self._finder.relevance(asked, new)
            self._relevance |= {(asked, tool): told.get(tool) for tool in new}
        known = {tool: self._relevance[asked, tool] for tool in ids}
        return {tool: values for tool, values in known.items() if values is not None}

    async def size(self) -> int:
        """Return the number of tools."""
        return await self._finder.size()


class OtherMemories:
    """Long-term memory without the memories of requests that equal, or nearly equal, the evaluated one.

    ``met`` holds the requests that memory knew. The graph was learnt from them as well, so there should be none.
    """

    def __init__(self, memory: LongTermMemory) -> None:
        self.met: set[str] = set()
        self._memory = memory
        self._recalled: dict[tuple[str, int], list[Recalled]] = {}

    async def recall(self, request: str, k: int, present: Present) -> list[Recalled]:
        """Return the ``k`` best memories of other requests."""
        if (request, k) not in self._recalled:
            near = Requests([request])
            # Twice as many as needed, since those of near duplicates are dropped.
            found = await self._memory.recall(request, 2 * k, present)
            others = [one for one in found if not near.near(one.memory.request)]
            if len(others) < len(found):
                self.met.add(request)
            self._recalled[request, k] = others[:k]
        return self._recalled[request, k]
