"""Recall by what requests ask for, whatever they ask it about."""

from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from agent.memory.long_term import LongTermMemory
from agent.memory.path_reuse import find_next_tool
from agent.memory.request_patterns import build_pattern, compute_pattern_similarity, split_pattern_words
from domain.memory import RecalledMemory
from domain.tool import FINISH, ToolId
from domain.trajectory import SolvedRequest
from graph.backends.sqlite_memories import SqliteMemories
from retriever.embedders.onnx_embedder import OnnxEmbedder

PLACES, WEATHER, BOOKS = (ToolId(f"c/s/{name}") for name in ("places", "weather", "books"))
SOLVED = [
    SolvedRequest("What is the temperature in Oslo right now?", (PLACES, WEATHER)),
    SolvedRequest('Who wrote "The Velvet Lantern"?', (BOOKS,)),
]


async def all_present(ids: Iterable[ToolId]) -> set[ToolId]:
    """Every tool is there."""
    return set(ids)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteMemories]:
    memories = SqliteMemories(tmp_path / "memories.db")
    await memories.setup()
    yield memories
    await memories.close()


@pytest.fixture
async def memory(store: SqliteMemories) -> LongTermMemory:
    kept = LongTermMemory(store, OnnxEmbedder())
    await kept.keep(SOLVED)
    assert await kept.embed() == len(SOLVED)
    return kept


def paths(recalled: list[RecalledMemory]) -> list[tuple[ToolId, ...]]:
    """The paths recalled, in order."""
    return [one.memory.path for one in recalled]


async def test_the_way_is_recalled_for_another_value(memory: LongTermMemory) -> None:
    recalled = await memory.recall("Tell me the temperature in Lisbon at the moment", 3, all_present)
    assert paths(recalled)[:1] == [(PLACES, WEATHER)]
    assert recalled[0].similarity > 0.5


async def test_a_request_without_telling_words_recalls_nothing(memory: LongTermMemory) -> None:
    assert await memory.recall("Lisbon right now, please.", 3, all_present) == []


async def test_a_path_that_lost_a_tool_is_passed_over(memory: LongTermMemory) -> None:
    async def without_weather(ids: Iterable[ToolId]) -> set[ToolId]:
        return set(ids) - {WEATHER}

    assert (PLACES, WEATHER) not in paths(await memory.recall(SOLVED[0].request, 3, without_weather))


async def test_a_memory_whose_path_keeps_failing_is_forgotten(memory: LongTermMemory, store: SqliteMemories) -> None:
    for _ in range(3):
        found = await memory.recall(SOLVED[0].request, 3, all_present)
        await memory.judge(found[0].memory.id, good=False)
    assert (PLACES, WEATHER) not in paths(await memory.recall(SOLVED[0].request, 3, all_present))
    assert await store.count() == len(SOLVED) - 1


async def test_keeping_twice_equals_keeping_once(memory: LongTermMemory, store: SqliteMemories) -> None:
    await memory.keep(SOLVED)
    assert await memory.embed() == 0
    assert await store.count() == len(SOLVED)


async def test_another_owner_sees_the_shared_ones_only(store: SqliteMemories, memory: LongTermMemory) -> None:
    own = LongTermMemory(store, OnnxEmbedder(), owner="ada")
    await own.keep([SolvedRequest("What is the temperature in my garden right now?", (WEATHER,))])
    await own.embed()
    asked = "What is the temperature in my garden right now?"
    assert (WEATHER,) in paths(await own.recall(asked, 5, all_present))
    assert (WEATHER,) not in paths(await memory.recall(asked, 5, all_present))
    assert (PLACES, WEATHER) in paths(await own.recall(asked, 5, all_present))


def test_values_leave_the_pattern() -> None:
    assert build_pattern("Convert 250 VDK on 2026-03-01") == build_pattern("Convert 31 VDK on 2025-12-24")
    assert "Oslo" not in build_pattern("What is the temperature in Oslo?")


def test_words_that_are_not_shared_count_against_a_likeness() -> None:
    asked = "on which place of the table is <name>"
    assert compute_pattern_similarity(0.9, asked, asked) == pytest.approx(0.9)
    assert compute_pattern_similarity(0.9, "book a table at <name>", asked) <= 0.81
    assert split_pattern_words("what is <name> now") == {"what", "is", "name", "now"}


@pytest.mark.parametrize(
    ("walked", "following"),
    [((), PLACES), ((PLACES,), WEATHER), ((PLACES, PLACES), WEATHER), ((PLACES, WEATHER), FINISH), ((BOOKS,), None)],
)
def test_what_follows_on_a_remembered_path(walked: tuple[ToolId, ...], following: ToolId | None) -> None:
    assert find_next_tool((PLACES, WEATHER), walked) == following
