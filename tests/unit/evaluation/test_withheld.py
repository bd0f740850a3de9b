"""What an evaluation must not know: what calls tell of tools, and memories of the requests that it measures."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from agent.memory.long_term import PresentToolsFinder
from domain.memory import Memory, RecalledMemory
from domain.tool import ToolId, make_tool_id
from evaluation.cached_retrieval import CachedOtherMemories, CachedToolFinder
from evaluation.graph_variants import WithoutCallEvidence
from graph.backends.in_memory import InMemoryGraph
from graph.facts import GraphBatch, ToolFacts
from retriever.search import ToolHit

A, B = make_tool_id("c", "set", "a"), make_tool_id("c", "set", "b")


async def test_edges_stay_and_what_calls_tell_goes() -> None:
    store = InMemoryGraph()
    await store.setup()
    await store.apply(
        GraphBatch(key="one", transitions=Counter({(A, B): 2}), calls=Counter({B: 3}), successes=Counter({B: 1}))
    )
    graph = WithoutCallEvidence(store)
    assert (await store.get_facts([B]))[B].calls == 3
    around = await graph.load_neighbourhoods([A, B])
    assert {tool: known.facts for tool, known in around.items()} == {A: ToolFacts(), B: ToolFacts()}
    assert [(way.edge.target, way.edge.imported, way.facts) for way in around[A].out] == [(B, 2, ToolFacts())]
    assert [edge.source for edge in around[B].into] == [A]


class Asked:
    def __init__(self) -> None:
        self.asked: list[object] = []

    async def find_tools_for_all(self, requests: Sequence[str], limit: int) -> list[list[ToolHit]]:
        self.asked.append((tuple(requests), limit))
        return [[ToolHit(A, 0.9, 0.9, 0.9)] for _ in requests]

    async def score_relevance(self, texts: object, ids: list[str]) -> dict[str, tuple[float, ...]]:
        self.asked.append((texts, tuple(ids)))
        return {tool: (0.5,) for tool in ids if tool == A}


async def test_the_retriever_is_asked_once() -> None:
    finder = Asked()
    kept = CachedToolFinder(finder)  # type: ignore[arg-type]
    for _ in range(2):
        assert [hits[0].id for hits in await kept.find_tools_for_all(["r", "s"], 3)] == [A, A]
        assert await kept.score_relevance(["r"], [A, B]) == {A: (0.5,)}
    assert finder.asked == [(("r", "s"), 3), (("r",), (A, B))]
    await kept.find_tools_for_all(["s", "t"], 3)
    assert finder.asked[2:] == [(("t",), 3)]


class Recalls:
    async def recall(self, request: str, k: int, present: PresentToolsFinder) -> list[RecalledMemory]:
        del request, present
        requests = ["the weather in Rome today", "the weather in Oslo today", "songs of the charts"]
        memories = [Memory(id=r, request=r, pattern=r, path=(A,), at=datetime.now(UTC)) for r in requests]
        return [RecalledMemory(memory=memory, similarity=0.9) for memory in memories][:k]


async def present(ids: object) -> set[ToolId]:
    del ids
    return set()


async def test_memories_of_the_request_itself_are_left_out_and_counted() -> None:
    others = CachedOtherMemories(Recalls())  # type: ignore[arg-type]
    assert [one.memory.request for one in await others.recall("The weather in Rome, today?", 2, present)] == [
        "songs of the charts"
    ]
    assert len(await others.recall("something else altogether", 2, present)) == 2
    assert others.met == {"The weather in Rome, today?"}
