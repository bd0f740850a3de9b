"""An owner who is gone leaves neither solutions nor memories behind, nor their vectors; all others' stay."""

from datetime import UTC, datetime
from pathlib import Path

from agent.solutions.library import SolutionLibrary
from domain.memory import Memory, MemoryStore
from graph.backends.in_memory import InMemoryPatterns, InMemorySolutions
from graph.backends.sqlite_memories import SqliteMemories
from retriever.embedders.onnx_embedder import OnnxEmbedder
from tests.support.scholar_tools import COLLEAGUES, COUNT, Catalogue, solution
from wiring.forgetting import forget_owner

WHO, MANY = "Who are the colleagues of {name}?", "How many papers has {name} written?"


class Kept:
    """Stores of all owners."""

    def __init__(self, memories: MemoryStore) -> None:
        self.store, self.index, self.embedder = InMemorySolutions(), InMemoryPatterns(), OnnxEmbedder()
        self._memories = memories

    async def memories(self) -> MemoryStore:
        return self._memories

    async def solutions(self, owner: str | None = None) -> SolutionLibrary:
        return SolutionLibrary(self.store, self.index, self.embedder, owner or "", Catalogue())


async def test_what_one_owner_had_is_forgotten(tmp_path: Path) -> None:
    memories = SqliteMemories(tmp_path / "memories.db")
    await memories.setup()
    kept = Kept(memories)
    named = dict[str, str]()
    for owner in ("", "ann", "bob"):
        (named[owner],) = await (await kept.solutions(owner)).add([solution(COLLEAGUES, WHO, MANY)])
        at = datetime(2026, 5, 4, tzinfo=UTC)
        await memories.add([Memory(id=f"of {owner}", owner=owner, request=WHO, pattern=WHO, path=(), at=at)])
    await (await kept.solutions("ann")).add([solution(COUNT, MANY)])
    await forget_owner(kept, "ann")
    assert {one.owner async for one in kept.store.stream_all()} == {"", "bob"}
    assert await kept.index.count_patterns(named.values(), kept.embedder.identity) == {named[""]: 2, named["bob"]: 2}
    assert {one.id async for one in memories.stream_all()} == {"of ", "of bob"}
    await memories.close()
