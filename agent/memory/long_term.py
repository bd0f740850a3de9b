"""Long-term memory (thesis 4.3.2.4): solved requests with their paths, recalled by similarity and rated by use."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Protocol

from agent.memory.request_patterns import (
    MIN_PATTERN_WORDS,
    build_pattern,
    compute_pattern_similarity,
    split_pattern_words,
)
from domain.memory import Memory, MemoryStore, RecalledMemory, make_memory_id
from domain.tool import ToolId
from domain.trajectory import SolvedRequest
from retriever.experience import VOTE_EXPONENT
from retriever.index import Embedder

MIN_SIMILARITY = 0.35
"""Similarity below which a memory is not recalled."""
_MAX_EXCESS_FAILURES = 3
"""Failures in excess of successes at which a memory is forgotten."""
_EMBEDDING_BATCH_SIZE = 256
"""Memories embedded at once."""
_OVERSAMPLING = 6
"""Factor by which more memories are read than recalled, as the words of the requests reorder them."""

PresentToolsFinder = Callable[[Iterable[ToolId]], Awaitable[set[ToolId]]]
"""Returns which of some tools are still in the store."""


class MemoryRecaller(Protocol):
    """The part of long-term memory that a search needs."""

    async def recall(self, request: str, k: int, present: PresentToolsFinder) -> list[RecalledMemory]:
        """Return the ``k`` best memories of similar requests, best first."""
        ...


class LongTermMemory:
    """The shared memories and those of one owner; only the shared ones if ``owner`` is empty."""

    def __init__(self, store: MemoryStore, embedder: Embedder, owner: str = "") -> None:
        self._store = store
        self._embedder = embedder
        self._owner = owner

    async def recall(self, request: str, k: int, present: PresentToolsFinder) -> list[RecalledMemory]:
        """Return the ``k`` best memories of similar requests, by similarity times trust in their paths.

        Memories whose paths have lost a tool are skipped; those that have failed too often are deleted.
        """
        request_pattern = build_pattern(request)
        if len(split_pattern_words(request_pattern)) < MIN_PATTERN_WORDS:
            return []
        vector = (await self._embedder.embed([request_pattern], "query"))[0]
        memories = await self._store.find_similar(
            vector.tolist(), self._embedder.identity, self._owner, _OVERSAMPLING * k
        )
        scale = (await self._embedder.get_cosine_scale()).requests
        memories = [
            memory.model_copy(
                update={
                    "similarity": compute_pattern_similarity(
                        scale.map(memory.similarity), request_pattern, memory.memory.pattern
                    )
                }
            )
            for memory in memories
        ]
        worn_out_ids = [memory.memory.id for memory in memories if _is_worn_out(memory.memory)]
        if worn_out_ids:
            await self._store.remove(worn_out_ids)
        present_tools = await present({tool for memory in memories for tool in memory.memory.path})
        recallable = [
            memory
            for memory in memories
            if memory.similarity >= MIN_SIMILARITY
            and memory.memory.id not in worn_out_ids
            and present_tools.issuperset(memory.memory.path)
        ]
        return sorted(recallable, key=lambda one: (-one.similarity * compute_trust(one.memory), one.memory.id))[:k]

    async def keep(self, solved: Sequence[SolvedRequest]) -> list[str]:
        """Store solved requests for the owner, and return their ids; known ones stay as they are.

        They can be recalled after :meth:`embed`.
        """
        memories = [_build_memory(self._owner, request) for request in solved]
        await self._store.add(memories)
        return [memory.id for memory in memories]

    async def keep_shared(self, solved: Sequence[SolvedRequest]) -> None:
        """Store requests of imported trajectories, which are shared by all owners."""
        await self._store.add([_build_memory("", request) for request in solved])

    async def embed(self, progress: Callable[[int], None] | None = None) -> int:
        """Embed the memories without a vector, and return their number; an interrupted run can be repeated.

        ``progress`` is called with the number done so far.
        """
        embedded_count = 0
        identity = self._embedder.identity
        while batch := await self._store.list_without_vector(identity, _EMBEDDING_BATCH_SIZE):
            vectors = await self._embedder.embed([memory.pattern for memory in batch], "query")
            rows = zip((memory.id for memory in batch), vectors.tolist(), strict=True)
            await self._store.put_vectors(identity, list(rows))
            embedded_count += len(batch)
            if progress:
                progress(embedded_count)
        return embedded_count

    async def judge(self, memory: str, *, good: bool, key: str = "") -> None:
        """Record whether the path of a memory, given by id, served a run; the same ``key`` is counted once."""
        await self._store.judge(memory, good=good, key=key)

    async def forget(self, memories: Iterable[str]) -> None:
        """Delete memories by their ids."""
        await self._store.remove(memories)


def compute_trust(memory: Memory) -> float:
    """Return the trust in a memory's path, in (0, 1]: the share of good uses, counting the run it was made from."""
    return (memory.good + 1) / (memory.good + memory.bad + 1)


def compute_vote(recalled: RecalledMemory) -> float:
    """Return the weight of a memory's vote: its trust times a power of its similarity."""
    return compute_trust(recalled.memory) * max(0.0, recalled.similarity) ** VOTE_EXPONENT


def _is_worn_out(memory: Memory) -> bool:
    return memory.bad - memory.good >= _MAX_EXCESS_FAILURES


def _build_memory(owner: str, solved: SolvedRequest) -> Memory:
    request_pattern = build_pattern(solved.request)
    return Memory(
        id=make_memory_id(owner, request_pattern, solved.path),
        owner=owner,
        request=solved.request,
        pattern=request_pattern,
        path=solved.path,
        bindings=solved.bindings,
        at=datetime.now(UTC),
    )
