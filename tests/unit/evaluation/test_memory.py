"""What leaving out leaves: of two ways to word a thing the other one, of a thing said twice the other saying."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from agent.memory.long_term import LongTermMemory
from domain.tool import ToolId
from domain.trajectory import SolvedRequest
from evaluation.memory import leave_one_out, tabulate_by_bound
from graph.backends.sqlite_memories import SqliteMemories
from retriever.embedders.onnx_embedder import OnnxEmbedder

WEATHER, BOOK = (ToolId("w/s/geo"), ToolId("w/s/now")), (ToolId("b/s/find"),)


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncGenerator[LongTermMemory]:
    store = SqliteMemories(tmp_path / "memories.db")
    await store.setup()
    yield LongTermMemory(store, OnnxEmbedder())
    await store.close()


async def test_each_is_compared_with_the_others_only(memory: LongTermMemory) -> None:
    solved = [
        SolvedRequest("What is the temperature in Oslo right now?", WEATHER),
        SolvedRequest("What is the temperature in Rome right now?", WEATHER),
        SolvedRequest("What temperature is it in Paris right now?", WEATHER),
        SolvedRequest('How many pages does the book "Dune" have?', BOOK),
    ]
    told: list[None] = []
    found = await leave_one_out(solved, memory, lambda: told.append(None))
    assert len(found) == len(told) == len(solved)
    twice, again, other, alone = found
    assert twice.alone.recalled[0].memory.path == WEATHER
    assert twice.alone.recalled[0].similarity == pytest.approx(1.0, abs=0.02)
    assert [one.memory.pattern for one in twice.worded_otherwise.recalled] == [
        "What temperature is it in <name> right now?"
    ]
    assert again.alone == twice.alone
    assert {one.memory.pattern for one in other.alone.recalled} == {"What is the temperature in <name> right now?"}
    assert all(one.memory.path != BOOK for one in alone.alone.recalled)
    low, high = tabulate_by_bound(found, bounds=(0.5, 0.98))
    assert low["alone"]["agreed"] == {"n": 3, "share": 0.75, "same_path": 1.0}
    assert high["alone"]["nearest"]["n"] == 2
    assert high["worded_otherwise"]["nearest"] == {"n": 0, "share": 0.0, "same_path": None}
