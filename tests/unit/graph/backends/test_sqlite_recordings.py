"""Recorded calls in SQLite: kept once, returned whole and in order."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import StoreVersionError, UnavailableError, UsageError
from domain.tool import ToolId
from domain.trajectory import RecordedCall, RecordedOutcome
from graph.backends.sqlite_graph import SqliteGraph
from graph.backends.sqlite_recordings import SqliteRecordings
from tests.support.graph_samples import A, B


def call(response: str = "r", arguments: str = "{}", outcome: RecordedOutcome = RecordedOutcome.OK) -> RecordedCall:
    return RecordedCall("Weather", "meteo", "current", arguments, response, outcome)


async def opened(folder: Path) -> SqliteRecordings:
    recordings = SqliteRecordings(folder / "recordings.db")
    await recordings.setup()
    return recordings


async def test_calls_come_back_by_tool_in_order(tmp_path: Path) -> None:
    recordings = await opened(tmp_path)
    assert await recordings.add("k1", [(A, call("1")), (B, call("2")), (A, call("3", outcome=RecordedOutcome.FAILED))])
    assert await recordings.add("k0", [(A, call("0"))])
    assert await recordings.list_calls(A) == [call("1"), call("3", outcome=RecordedOutcome.FAILED), call("0")]
    assert await asyncio.to_thread(recordings.read_calls, B) == [call("2")]
    assert await recordings.list_calls(ToolId("no/such/tool")) == []
    assert await recordings.count() == 4
    await recordings.close()


async def test_a_key_is_added_once_and_survives_reopening(tmp_path: Path) -> None:
    recordings = await opened(tmp_path)
    assert await recordings.add("k", [(A, call())])
    await recordings.close()
    again = await opened(tmp_path)
    assert not await again.add("k", [(A, call()), (B, call())])
    assert (await again.count(), await again.list_calls(B)) == (1, [])
    await again.close()


async def test_what_is_forgotten_of_a_tool_does_not_come_again(tmp_path: Path) -> None:
    recordings = await opened(tmp_path)
    assert await recordings.add("k1", [(A, call("1")), (B, call("2")), (A, call("3"))])
    assert await recordings.add("k2", [(A, call("4"))])
    for _ in range(2):
        await recordings.forget([A, ToolId("no/such/tool")])
    assert (await recordings.list_calls(A), await recordings.list_calls(B), await recordings.count()) == (
        [],
        [call("2")],
        1,
    )
    assert [batch async for batch in recordings.iterate_batches()] == [("k1", [(B, call("2"))]), ("k2", [])]
    assert not await recordings.add("k2", [(A, call("4"))])
    await recordings.close()


async def test_of_one_key_added_at_once_one_wins(tmp_path: Path) -> None:
    recordings = await opened(tmp_path)
    assert sorted(await asyncio.gather(*(recordings.add("k", [(A, call())]) for _ in range(6)))) == [False] * 5 + [True]
    assert await recordings.count() == 1
    await recordings.close()


async def test_nothing_recorded_is_a_batch_too(tmp_path: Path) -> None:
    recordings = await opened(tmp_path)
    assert await recordings.count() == 0
    assert await recordings.add("empty", [])
    assert not await recordings.add("empty", [])
    with pytest.raises(UsageError, match="key"):
        await recordings.add("", [(A, call())])
    await recordings.close()


async def test_half_a_surrogate_pair_costs_one_character(tmp_path: Path) -> None:
    recordings = await opened(tmp_path)
    await recordings.add("k", [(A, call("cut \ud83d")), (A, call("whole \U0001f600"))])
    assert [c.response for c in await recordings.list_calls(A)] == ["cut ?", "whole \U0001f600"]
    await recordings.close()


async def test_a_huge_response_is_kept_whole_and_small(tmp_path: Path) -> None:
    recordings = await opened(tmp_path)
    huge = '{"items": [1, 2, 3], "more": true}' * 1_000_000
    await recordings.add("k", [(A, call(huge))])
    assert await recordings.list_calls(A) == [call(huge)]
    await recordings.close()
    assert (tmp_path / "recordings.db").stat().st_size < 1_000_000


async def test_a_graph_is_no_recordings(tmp_path: Path) -> None:
    graph = SqliteGraph(tmp_path / "recordings.db")
    await graph.setup()
    await graph.close()
    recordings = SqliteRecordings(tmp_path / "recordings.db")
    with pytest.raises(StoreVersionError, match="holds no Footpath recordings"):
        await recordings.count()
    await recordings.close()
    with pytest.raises(UnavailableError, match="closed"):
        await recordings.count()


texts = st.text(max_size=20)
calls = st.builds(RecordedCall, texts, texts, texts, texts, texts, st.sampled_from(RecordedOutcome))


@given(st.lists(st.tuples(st.sampled_from((A, B)), calls), max_size=8))
@settings(max_examples=25)
def test_whatever_was_recorded_comes_back(
    tmp_path_factory: pytest.TempPathFactory, added: list[tuple[ToolId, RecordedCall]]
) -> None:
    async def round_trip() -> None:
        recordings = await opened(tmp_path_factory.mktemp("recordings"))
        await recordings.add("k", added)
        for tool in (A, B):
            assert await recordings.list_calls(tool) == [recorded for owner, recorded in added if owner == tool]
        await recordings.close()

    asyncio.run(round_trip())
