"""Long-term memory (thesis 4.3.2.4): solved requests with their paths, recalled by similarity, judged by what became of them."""

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
"""Likeness below which a memory is not worth showing."""
_WORN_OUT = 3
"""So many failures more than successes, and a memory is forgotten."""
_EMBEDDED = 256
_LOOKED_AT = 6
"""So many times as many memories are taken from the encoder's order, for the words to choose from."""

Present = Callable[[Iterable[ToolId]], Awaitable[set[ToolId]]]
"""Which of some tools are there."""


class Recalls(Protocol):
    """The part of long-term memory that a walk needs."""

    async def recall(self, request: str, k: int, present: Present) -> list[RecalledMemory]:
        """The ``k`` most telling memories of similar requests, best first."""
        ...


class LongTermMemory:
    """The memories that one owner shares with all, and the owner's own. An empty owner: the shared ones alone."""

    def __init__(self, store: MemoryStore, embedder: Embedder, owner: str = "") -> None:
        self._store = store
        self._embedder = embedder
        self._owner = owner

    async def recall(self, request: str, k: int, present: Present) -> list[RecalledMemory]:
        """The ``k`` most telling memories of similar requests: similarity, weighted by how their paths have done since.

        A memory whose path has lost a tool is passed over; one that has failed too often is forgotten.
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
        """Remember solved requests, and return their ids; what is known already stays as it is.

        They are recalled once they are embedded.
        """
        memories = [_memory(self._owner, one) for one in solved]
        await self._store.add(memories)
        return [memory.id for memory in memories]

    async def keep_shared(self, solved: Sequence[SolvedRequest]) -> None:
        """Remember for all what nobody's run has solved: imported trajectories."""
        await self._store.add([_memory("", one) for one in solved])

    async def embed(self, progress: Callable[[int], None] | None = None) -> int:
        """Make what was kept recallable; the number of memories. Interrupted, it goes on where it was."""
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
        """What became of a run that took a memory's path; by the memory's id. With a ``key``, counted once."""
        await self._store.judge(memory, good=good, key=key)

    async def forget(self, memories: Iterable[str]) -> None:
        """What was kept is recalled no more; by the memories' ids."""
        await self._store.remove(memories)


def standing(memory: Memory) -> float:
    """How far a memory's path is to be trusted, in (0, 1]: the share of good uses, its own run one of them."""
    return (memory.good + 1) / (memory.good + memory.bad + 1)


def vote(one: RecalledMemory) -> float:
    """What a memory counts where several are asked: how it has done, times how similar it is."""
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
