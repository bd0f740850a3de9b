"""Runs that are broken off and go on beside a memory that was in time on one side and too slow on the other."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from agent.memory.long_term import LongTermMemory
from domain.event import CallStarted, EventRecord, MemoryRecalled, StepChosen
from domain.memory import RecalledMemory
from domain.trajectory import SolvedRequest
from graph.backends.sqlite_memories import SqliteMemories
from offline.policy import OfflinePolicy
from tests.flows.test_resuming import DELETE, WEATHER, course, deps, ended, made, told
from tests.support.run_deps import change_deps
from tests.support.small_world import FORECAST, FOUND, GEOCODE, NEW_WEATHER, REMOVE, ScriptedExecutor, WordEmbedder, ok

SERVED = [
    SolvedRequest('Delete the book "Emma"', (REMOVE.id,)),
    SolvedRequest("What is the weather forecast for Rome?", (GEOCODE.id, NEW_WEATHER.id)),
]
"""The second goes another way than most walks did."""


class _Slow(SqliteMemories):
    """Memories that are searched for a minute."""

    async def find_similar(
        self, vector: Sequence[float], identity: str, owner: str, limit: int
    ) -> list[RecalledMemory]:
        await asyncio.sleep(60)
        return await super().find_similar(vector, identity, owner, limit)


@pytest.fixture
async def memories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[dict[str, LongTermMemory | None]]:
    """One store, by how soon it answers; and none."""
    monkeypatch.setattr("agent.memory.recall.RECALL_TIMEOUT_SECONDS", 0.2)
    stores = {kind.__name__: kind(tmp_path / "memories.db") for kind in (SqliteMemories, _Slow)}
    ready, slow = (LongTermMemory(store, WordEmbedder()) for store in stores.values())
    for store in stores.values():
        await store.setup()
    await ready.keep(SERVED)
    await ready.embed()
    yield {"ready": ready, "slow": slow, "none": None}
    for store in stores.values():
        await store.close()


def calls() -> ScriptedExecutor:
    return ScriptedExecutor(
        delete_book=ok({}),
        search_books=ok({"books": []}),
        search_places=FOUND,
        get_forecast=FORECAST,
        get_daily_forecast=FORECAST,
    )


async def run_with(
    folder: Path, memory: LongTermMemory | None, request: str, past: Sequence[EventRecord] = (), until: int = 10_000
) -> tuple[list[EventRecord], ScriptedExecutor]:
    """A run's records, the past ones first, and the calls that it made itself."""
    executor = calls()
    given = change_deps(await deps(folder, executor, OfflinePolicy()), memory=memory)
    return await told(request, given, past, until), executor


def of(records: Sequence[EventRecord]) -> MemoryRecalled | None:
    found = [record.event for record in records if isinstance(record.event, MemoryRecalled)]
    assert len(found) <= 1, "memory is told of once"
    return found[0] if found else None


@pytest.mark.parametrize("request_", [DELETE, WEATHER], ids=["a change", "a path"])
@pytest.mark.parametrize(
    ("before", "after"), [("ready", "slow"), ("slow", "ready"), ("none", "ready"), ("ready", "none")]
)
async def test_what_was_recalled_stays_so(
    request_: str, before: str, after: str, memories: dict[str, LongTermMemory | None], tmp_path: Path
) -> None:
    whole, _ = await run_with(tmp_path, memories[before], request_)
    recalled = of(whole)
    assert bool(recalled and recalled.memories) == (before == "ready")
    assert any(record.event.memory for record in whole if isinstance(record.event, StepChosen)) == (before == "ready")
    assert [record.event.kind for record in whole[:2]] == ["run.started", "subtask.started"]
    for cut in range(3, len(whole)):
        if isinstance(whole[cut - 1].event, CallStarted):
            continue  # what becomes of a call that is cut off has its own tests
        half, _ = await run_with(tmp_path, memories[before], request_, until=cut)
        records, again = await run_with(tmp_path, memories[after], request_, past=half)
        assert course(records) == course(whole), cut
        assert (ended(records).outcome, ended(records).answer) == (ended(whole).outcome, ended(whole).answer), cut
        assert of(records) == recalled
        assert not {(tool, str(told)) for tool, told in again.made} & set(made(half))


async def test_a_run_that_had_not_asked_yet_asks(memories: dict[str, LongTermMemory | None], tmp_path: Path) -> None:
    half, _ = await run_with(tmp_path, memories["slow"], WEATHER, until=2)
    assert [record.event.kind for record in half] == ["run.started", "subtask.started"]
    records, again = await run_with(tmp_path, memories["ready"], WEATHER, past=half)
    recalled = of(records)
    assert recalled is not None
    assert recalled.memories
    assert [tool for tool, _ in again.made] == ["search_places", "get_daily_forecast"]


async def test_votes_are_those_of_then(memories: dict[str, LongTermMemory | None], tmp_path: Path) -> None:
    ready = memories["ready"]
    assert ready is not None
    whole, _ = await run_with(tmp_path, ready, WEATHER)
    recalled = of(whole)
    assert recalled is not None
    for _ in range(2):
        await ready.judge(recalled.memories[0].id, good=False)
    later, _ = await run_with(tmp_path, ready, WEATHER)
    now = of(later)
    assert now is not None
    assert (recalled.memories[0].bad, now.memories[0].bad) == (0, 2)
