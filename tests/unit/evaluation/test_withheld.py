"""What an evaluation must not know: what calls tell of tools, and memories of the requests that it measures."""

from collections import Counter
from datetime import UTC, datetime

from agent.memory import Present
from domain.memory import Memory, Recalled
from domain.tool import ToolId, tool_id
from evaluation.kept import KeptFinder, OtherMemories
from evaluation.withheld import CallsWithheld
from graph.backends.memory import MemoryGraph
from graph.facts import GraphBatch, ToolFacts
from retriever.search import ToolHit

A, B = tool_id("c", "set", "a"), tool_id("c", "set", "b")


async def test_edges_stay_and_what_calls_tell_goes() -> None:
    store = MemoryGraph()
    await store.setup()
    await store.apply(
        GraphBatch(key="one", transitions=Counter({(A, B): 2}), calls=Counter({B: 3}), successes=Counter({B: 1}))
    )
    graph = CallsWithheld(store)
    assert (await store.facts([B]))[B].calls == 3
    assert await graph.facts([B]) == {B: ToolFacts()}
    ways = await graph.out_edges(A)
    assert [(way.edge.target, way.edge.imported, way.facts) for way in ways] == [(B, 2, ToolFacts())]
    assert [edge.source for edge in await graph.in_edges(B)] == [A]


class Asked:
    def __init__(self) -> None:
        self.asked: list[object] = []

    async def start_tools(self, request: str, limit: int, where: object = None) -> list[ToolHit]:
        self.asked.append((request, limit, where))
        return [ToolHit(A, 0.9, 0.9, 0.9)]

    async def relevance(self, texts: object, ids: list[str]) -> dict[str, tuple[float, ...]]:
        self.asked.append((texts, tuple(ids)))
        return {tool: (0.5,) for tool in ids if tool == A}


async def test_the_retriever_is_asked_once() -> None:
    finder = Asked()
    kept = KeptFinder(finder)  # type: ignore[arg-type]
    for _ in range(2):
        assert (await kept.start_tools("r", 3))[0].id == A
        assert await kept.relevance(["r"], [A, B]) == {A: (0.5,)}
    assert finder.asked == [("r", 3, None), (("r",), (A, B))]
    await kept.start_tools("r", 3, {"category": "c"})
    await kept.start_tools("r", 3, {"category": "c"})
    assert len(finder.asked) == 4  # with a filter it is asked each time


class Recalls:
    async def recall(self, request: str, k: int, present: Present) -> list[Recalled]:
        del request, present
        requests = ["the weather in Rome today", "the weather in Oslo today", "songs of the charts"]
        memories = [Memory(id=r, request=r, pattern=r, path=(A,), at=datetime.now(UTC)) for r in requests]
        return [Recalled(memory=memory, similarity=0.9) for memory in memories][:k]


async def present(ids: object) -> set[ToolId]:
    del ids
    return set()


async def test_memories_of_the_request_itself_are_left_out_and_counted() -> None:
    others = OtherMemories(Recalls())  # type: ignore[arg-type]
    assert [one.memory.request for one in await others.recall("The weather in Rome, today?", 2, present)] == [
        "songs of the charts"
    ]
    assert len(await others.recall("something else altogether", 2, present)) == 2
    assert others.met == {"The weather in Rome, today?"}
