"""Long-term memory that cannot be opened, or is lost in the middle: the run answers, learns what it can, and says so."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.execution.approval import AllowChangesApprover
from agent.execution.executor import Executor
from agent.memory.long_term import LongTermMemory
from agent.run_context import RunDeps
from domain.event import Event, MemoryRecalled, RunFinished, WeightsLearned
from graph.backends.sqlite_memories import SqliteMemories
from offline.reader import EnglishReader
from retriever.backends.qdrant_connection import QdrantAddress
from retriever.backends.qdrant_memories import QdrantMemories
from tests.flows.test_runs import WEATHER
from tests.support.indexed_store import indexed_store
from tests.support.run_deps import build_deps
from tests.support.small_world import FORECAST, FOUND, TOOLS, WALKS, ScriptedExecutor, finder, graph
from wiring.container import Container, open_container
from wiring.optional_stores import UnavailableStore
from wiring.runs import build_run_deps, run_and_learn
from wiring.settings import Settings


def executor() -> ScriptedExecutor:
    return ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST, get_daily_forecast=FORECAST)


async def events_of(deps: RunDeps) -> list[Event]:
    return [record.event async for record in run_and_learn(WEATHER, deps, name="r1")]


def check(events: Sequence[Event], says: str) -> None:
    """Answered, with what was learnt of the tools, and both times a word on the memory."""
    (recalled,) = [event for event in events if isinstance(event, MemoryRecalled)]
    (learned,) = [event for event in events if isinstance(event, WeightsLearned)]
    end = events[-1]
    assert isinstance(end, RunFinished)
    assert end.outcome == "answered"
    assert recalled.memories == ()
    assert says in recalled.note
    assert says in learned.error
    assert learned.tools
    assert learned.remembered == ()


async def with_memories(store: SqliteMemories | QdrantMemories | UnavailableStore, tmp_path: Path) -> list[Event]:
    from offline.policy import OfflinePolicy
    from retriever.embedders.onnx_embedder import OnnxEmbedder

    memory = LongTermMemory(store, OnnxEmbedder())
    deps = build_deps(
        await graph(WALKS),
        await finder(tmp_path),
        OfflinePolicy(),
        executor(),
        memory=memory,
        approver=AllowChangesApprover(),
        reader=EnglishReader(),
    )
    events = await events_of(deps)
    facts = await deps.knowledge.store.get_facts([tool.id for tool in TOOLS])
    assert sum(found.ok for found in facts.values()) == 2
    return events


async def test_a_store_of_memories_that_was_closed(tmp_path: Path) -> None:
    store = SqliteMemories(tmp_path / "memories.db")
    await store.setup()
    await store.close()
    check(await with_memories(store, tmp_path), "unavailable")


async def test_a_qdrant_server_that_is_gone(tmp_path: Path) -> None:
    store = QdrantMemories(QdrantAddress("http://127.0.0.1:9", timeout=2))
    check(await with_memories(store, tmp_path), "the vector store")
    await store.close()


async def _run_in(container: Container, calls: Executor) -> list[Event]:
    return await events_of(await build_run_deps(container, "offline", calls, "dfs", approver=AllowChangesApprover()))


@pytest.mark.timeout(120)
async def test_a_file_of_memories_that_is_broken(tmp_path: Path) -> None:
    settings = Settings(store=tmp_path / "store")
    store = await indexed_store(settings.store, TOOLS, settings)
    (store / "memories.db").write_bytes(b"no database at all" * 999)
    async with open_container(settings, store) as container:
        check(await _run_in(container, executor()), "memories.db")
        facts = await container.graph.get_facts([tool.id for tool in TOOLS])
        assert sum(found.ok for found in facts.values()) == 2
