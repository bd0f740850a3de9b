import asyncio
import logging
from pathlib import Path

import numpy as np
import pytest

from domain.errors import UnavailableError
from domain.memory import MemoryStore
from domain.tool import FINISH
from graph.backends.in_memory import InMemoryGraph
from graph.backends.sqlite_memories import SqliteMemories
from graph.facts import LiveBatch
from retriever.experience import Precedent, TransitionCount
from tests.support.graph_samples import A, B, C, batch
from tests.support.memory_store_contract import memory
from tests.support.tool_samples import BagEmbedder
from wiring.optional_stores import UnavailableStore, open_or_unavailable
from wiring.reranker import StoreExperience

NOWHERE = UnavailableStore(UnavailableError("no memories are there"))
ENCODER = BagEmbedder()


async def graph_of(transitions: dict[tuple[str, str], int]) -> InMemoryGraph:
    graph = InMemoryGraph()
    await graph.setup()
    await graph.apply(batch("k", transitions))  # type: ignore[arg-type]
    return graph


async def test_imported_and_live_walks_count_and_what_is_muted_or_banned_does_not() -> None:
    graph = await graph_of({(A, B): 2, (B, A): 4, (A, C): 5, (A, FINISH): 1, (B, FINISH): 9})
    await graph.learn(LiveBatch("run", {(A, B): 3}, (), ()))
    await graph.mark(B, A, "ban")
    await graph.mark(A, C, "mute")
    experience = StoreExperience(graph, NOWHERE, ENCODER)
    assert set(await experience.find_transitions([A])) == {TransitionCount(A, B, 5), TransitionCount(A, FINISH, 1)}
    assert await experience.find_transitions([FINISH, C]) == []


async def test_a_pinned_transition_that_was_never_walked_is_no_walk() -> None:
    graph = await graph_of({(A, FINISH): 1, (B, FINISH): 1})
    await graph.mark(A, B, "pin")
    experience = StoreExperience(graph, NOWHERE, ENCODER)
    assert set(await experience.find_transitions([A, B])) == {
        TransitionCount(A, FINISH, 1),
        TransitionCount(B, FINISH, 1),
    }


async def test_precedents_are_the_shared_memories_of_this_encoder(tmp_path: Path) -> None:
    memories = SqliteMemories(tmp_path / "memories.db")
    await memories.setup()
    shared, near, owned, other = (
        memory("of all", path=(A,)),
        memory("near", path=(B, C)),
        memory("of one", owner="somebody", path=(C,)),
        memory("of another encoder", path=(C,)),
    )
    await memories.add([shared, near, owned, other])
    await memories.put_vectors(
        ENCODER.identity, [(shared.id, [0.0, 1.0]), (near.id, [1.0, 0.0]), (owned.id, [1.0, 0.0])]
    )
    await memories.put_vectors("f", [(other.id, [1.0, 0.0])])
    experience = StoreExperience(await graph_of({(A, FINISH): 1}), memories, ENCODER)
    asked = np.array([1.0, 0.0], np.float32)
    assert await experience.find_precedents(asked, 5) == [Precedent((B, C), 1.0), Precedent((A,), 0.0)]
    assert len(await experience.find_precedents(asked, 1)) == 1
    await memories.close()


async def test_a_search_goes_on_without_memories(caplog: pytest.LogCaptureFixture) -> None:
    async def broken() -> MemoryStore:
        raise UnavailableError("the disk is gone")

    experience = StoreExperience(
        await graph_of({(A, FINISH): 1}), await open_or_unavailable(broken, "memories", on_server=True), ENCODER
    )
    with caplog.at_level(logging.WARNING):
        assert await experience.find_precedents(np.zeros(2, np.float32), 5) == ()
    assert "the disk is gone" in caplog.text


async def test_a_file_on_a_busy_machine_is_waited_for_and_a_server_is_not() -> None:
    async def slow() -> MemoryStore:
        await asyncio.sleep(0.05)
        return NOWHERE

    assert await open_or_unavailable(slow, "memories", on_server=False, seconds=0.01) is NOWHERE
    refused = await open_or_unavailable(slow, "memories", on_server=True, seconds=0.01)
    with pytest.raises(UnavailableError, match=r"within 0\.01 seconds"):
        await refused.count()
