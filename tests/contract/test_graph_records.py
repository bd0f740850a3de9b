"""Keys of records: what a batch marks as applied besides its own key, in every back end."""

from collections import Counter
from pathlib import Path

import pytest

from domain.tool import FINISH, make_tool_id
from graph.facts import GraphBatch
from tests.support.graph_backends import BACKENDS

A = make_tool_id("C", "T", "a")


def batch(key: str, *records: str) -> GraphBatch:
    return GraphBatch(key, Counter({(A, FINISH): 1}), records=set(records))


@pytest.mark.parametrize("backend", sorted(BACKENDS))
async def test_a_batch_marks_its_records(backend: str, tmp_path: Path) -> None:
    async with BACKENDS[backend](tmp_path) as store:
        assert await store.apply(batch("one", "r1", "r2"))
        assert await store.find_applied(["one", "r1", "r2", "r3"]) == {"one", "r1", "r2"}


@pytest.mark.parametrize("backend", sorted(BACKENDS))
async def test_a_batch_with_a_record_applied_before_changes_nothing(backend: str, tmp_path: Path) -> None:
    async with BACKENDS[backend](tmp_path) as store:
        await store.apply(batch("one", "r1"))
        assert not await store.apply(batch("two", "r1", "r2"))
        assert not await store.apply(batch("r1"))
        assert await store.find_applied(["two", "r2"]) == set()
        assert [edge.edge.imported for edge in await store.get_out_edges(A)] == [1]
        assert await store.apply(batch("two", "r2"))
        assert [edge.edge.imported for edge in await store.get_out_edges(A)] == [2]


def test_merged_batches_keep_all_records() -> None:
    merged = batch("one", "r1")
    merged.merge(batch("two", "r2"))
    assert (merged.key, merged.records) == ("one", {"r1", "r2"})
