"""Long-term memory (thesis 4.3.2.4): solved requests with their paths, recalled by similarity and rated by use."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Protocol

from agent.memory.similarity import LEAST, likeness, pattern, telling
from domain.memory import Memory, MemoryStore, RecalledMemory, make_memory_id
from domain.tool import ToolId
from domain.trajectory import SolvedRequest
from retriever.experience import VOTE_EXPONENT
from retriever.index import Embedder

NEAR = 0.35
"""Similarity below which a memory is not recalled."""
_WORN_OUT = 3
"""Failures in excess of successes at which a memory is forgotten."""
_EMBEDDED = 256
"""Memories embedded at once."""
_LOOKED_AT = 6
"""Factor by which more memories are read than recalled, as the words of the requests reorder them."""

Present = Callable[[Iterable[ToolId]], Awaitable[set[ToolId]]]
"""Returns which of some tools are still in the store."""


class Recalls(Protocol):
    """The part of long-term memory that a search needs."""

    async def recall(self, request: str, k: int, present: Present) -> list[RecalledMemory]:
        """Return the ``k`` best memories of similar requests, best first."""
        ...


class LongTermMemory:
    """The shared memories and those of one owner; only the shared ones if ``owner`` is empty."""

    def __init__(self, store: MemoryStore, embedder: Embedder, owner: str = "") -> None:
        self._store = store
        self._embedder = embedder
        self._owner = owner

    async def recall(self, request: str, k: int, present: Present) -> list[RecalledMemory]:
        """Return the ``k`` best memories of similar requests, by similarity times trust in their paths.

        Memories whose paths have lost a tool are skipped; those that have failed too often are deleted.
        """
        asked = pattern(request)
        if len(telling(asked)) < LEAST:
            return []
        vector = (await self._embedder.embed([asked], "query"))[0]
        found = await self._store.find_similar(vector.tolist(), self._embedder.identity, self._owner, _LOOKED_AT * k)
        scale = (await self._embedder.scale()).requests
        found = [
            one.model_copy(update={"similarity": likeness(scale.map(one.similarity), asked, one.memory.pattern)})
            for one in found
        ]
        worn = [one.memory.id for one in found if _worn_out(one.memory)]
        if worn:
            await self._store.remove(worn)
        tools = await present({tool for one in found for tool in one.memory.path})
        kept = [
            one
            for one in found
            if one.similarity >= NEAR and one.memory.id not in worn and tools.issuperset(one.memory.path)
        ]
        return sorted(kept, key=lambda one: (-one.similarity * standing(one.memory), one.memory.id))[:k]

    async def keep(self, solved: Sequence[SolvedRequest]) -> list[str]:
        """Store solved requests for the owner, and return their ids; known ones stay as they are.

        They can be recalled after :meth:`embed`.
        """
        memories = [_memory(self._owner, one) for one in solved]
        await self._store.add(memories)
        return [memory.id for memory in memories]

    async def keep_shared(self, solved: Sequence[SolvedRequest]) -> None:
        """Store requests of imported trajectories, which are shared by all owners."""
        await self._store.add([_memory("", one) for one in solved])

    async def embed(self, progress: Callable[[int], None] | None = None) -> int:
        """Embed the memories without a vector, and return their number; an interrupted run can be repeated.

        ``progress`` is called with the number done so far.
        """
        done = 0
        identity = self._embedder.identity
        while batch := await self._store.list_without_vector(identity, _EMBEDDED):
            vectors = await self._embedder.embed([memory.pattern for memory in batch], "query")
            rows = zip((memory.id for memory in batch), vectors.tolist(), strict=True)
            await self._store.put_vectors(identity, list(rows))
            done += len(batch)
            if progress:
                progress(done)
        return done

    async def judge(self, memory: str, *, good: bool, key: str = "") -> None:
        """Record whether the path of a memory, given by id, served a run; the same ``key`` is counted once."""
        await self._store.judge(memory, good=good, key=key)

    async def forget(self, memories: Iterable[str]) -> None:
        """Delete memories by their ids."""
        await self._store.remove(memories)


def standing(memory: Memory) -> float:
    """Return the trust in a memory's path, in (0, 1]: the share of good uses, counting the run it was made from."""
    return (memory.good + 1) / (memory.good + memory.bad + 1)


def vote(one: RecalledMemory) -> float:
    """Return the weight of a memory's vote: its trust times a power of its similarity."""
    return standing(one.memory) * max(0.0, one.similarity) ** VOTE_EXPONENT


def _worn_out(memory: Memory) -> bool:
    return memory.bad - memory.good >= _WORN_OUT


def _memory(owner: str, solved: SolvedRequest) -> Memory:
    asked = pattern(solved.request)
    return Memory(
        id=make_memory_id(owner, asked, solved.path),
        owner=owner,
        request=solved.request,
        pattern=asked,
        path=solved.path,
        bindings=solved.bindings,
        at=datetime.now(UTC),
    )
