from domain.tool import FINISH
from graph.backends.memory import MemoryGraph
from graph.facts import LiveBatch
from retriever.experience import Walked
from tests.contract.graph_samples import A, B, C, batch
from wiring.experience import GraphExperience


async def test_imported_and_live_walks_count_and_what_is_muted_or_banned_does_not() -> None:
    graph = MemoryGraph()
    await graph.setup()
    await graph.apply(batch("k", {(A, B): 2, (B, A): 4, (A, C): 5, (A, FINISH): 1, (B, FINISH): 9}))
    await graph.learn(LiveBatch("run", {(A, B): 3}, (), ()))
    await graph.mark(B, A, "ban")
    await graph.mark(A, C, "mute")
    experience = GraphExperience(graph)
    assert set(await experience.beside([A])) == {Walked(A, B, 5), Walked(A, FINISH, 1)}
    assert await experience.beside([FINISH, C]) == []


async def test_a_pinned_transition_that_was_never_walked_is_no_walk() -> None:
    graph = MemoryGraph()
    await graph.setup()
    await graph.apply(batch("k", {(A, FINISH): 1, (B, FINISH): 1}))
    await graph.mark(A, B, "pin")
    assert set(await GraphExperience(graph).beside([A, B])) == {Walked(A, FINISH, 1), Walked(B, FINISH, 1)}
