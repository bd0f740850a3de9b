"""Long-term memory (thesis 4.3.2.4): solved requests with their paths, recalled by similarity, judged by what became of them."""

from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, date, datetime

from agent.pattern import pattern
from agent.transcript import Transcript
from domain.event import EventRecord
from domain.memory import Memory, MemoryStore, Recalled
from domain.tool import ToolId
from retriever.index import Embedder

NEAR = 0.5
"""Similarity below which a memory is not worth showing."""
_WORN_OUT = 3
"""So many failures more than successes, and a memory is forgotten."""


class LongTermMemory:
    """Memories of one owner, and those shared by all. ``today`` is what relative dates are recognised by."""

    def __init__(
        self, store: MemoryStore, embedder: Embedder, owner: str = "", today: Callable[[], date] | None = None
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._owner = owner
        self._today = today or _today

    async def recall(
        self, request: str, k: int, present: Callable[[Iterable[ToolId]], Awaitable[set[ToolId]]]
    ) -> list[Recalled]:
        """The ``k`` most telling memories of similar requests: similarity, weighted by how their paths have done since.

        ``present``: which of some tools are there. A memory whose path has lost a tool is forgotten, as is one whose path has
        failed too often.
        """
        text = pattern(request, self._today())
        vector = (await self._embedder.embed([text], "query"))[0]
        found = await self._store.near(vector.tolist(), self._embedder.identity, self._owner, 3 * k)
        tools = await present({tool for one in found for tool in one.memory.path})
        gone = [one.memory.id for one in found if not tools.issuperset(one.memory.path) or _worn_out(one.memory)]
        if gone:
            await self._store.remove(gone)
        kept = [one for one in found if one.memory.id not in gone and one.similarity >= NEAR]
        return sorted(kept, key=lambda one: (-one.similarity * standing(one.memory), one.memory.id))[:k]

    async def remember(self, records: Iterable[EventRecord]) -> None:
        """Keep what an answered run did; the pattern of its request and path that is known already counts once more."""
        kept = list(records)
        transcript = Transcript.of(kept)
        if transcript.end is None or transcript.end.outcome != "answered" or not transcript.steps:
            return
        done = [transcript.steps[step] for step in sorted(transcript.steps)]
        memory = Memory(
            id=kept[0].run,
            owner=self._owner,
            request=transcript.request,
            pattern=pattern(transcript.request, self._today()),
            path=tuple(result.tool for result in done),
            bindings=tuple(result.provenance for result in done),
            at=datetime.now(UTC),
        )
        vector = (await self._embedder.embed([memory.pattern], "query"))[0]
        await self._store.put(memory, vector.tolist(), self._embedder.identity)

    async def judge(self, used: Recalled, *, good: bool) -> None:
        """What became of a run that took a memory's path."""
        await self._store.judge(used.memory.id, good=good)


def standing(memory: Memory) -> float:
    """How far a memory's path is to be trusted, in (0, 1]: the share of good uses, its own run one of them."""
    return (memory.good + 1) / (memory.good + memory.bad + 1)


def _worn_out(memory: Memory) -> bool:
    return memory.bad - memory.good >= _WORN_OUT


def _today() -> date:
    return datetime.now().astimezone().date()
