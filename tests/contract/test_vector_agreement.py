"""Generated sequences of operations leave every back end with what the exact one holds and finds."""

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from domain.tool import ToolId, make_tool_id
from retriever.backends.exact import ExactIndex
from retriever.index import VectorHit, VectorIndex, VectorPoint
from tests.contract.vector_backends import BACKENDS

DIMENSION = 6
TOOLS = tuple(make_tool_id("c", "t", str(n)) for n in range(8))
CATEGORIES = ("weather", "books")
NEAR = 1e-4


@dataclass(frozen=True)
class Put:
    points: list[VectorPoint]


@dataclass(frozen=True)
class Remove:
    tools: list[ToolId]


Operation = Put | Remove
seeds = st.integers(0, 10_000)
points = st.builds(
    VectorPoint,
    st.sampled_from(TOOLS),
    seeds.map(lambda seed: vector(seed)),
    st.sampled_from(("d1", "d2")),
    st.sampled_from(CATEGORIES),
)
operations: st.SearchStrategy[list[Operation]] = st.lists(
    st.lists(points, max_size=5).map(Put) | st.lists(st.sampled_from(TOOLS), max_size=3).map(Remove), max_size=8
)


def vector(seed: int) -> NDArray[np.float32]:
    values = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)
    return (values / np.linalg.norm(values)).astype(np.float32)


def agree(found: list[VectorHit], truth: list[VectorHit], scores: dict[ToolId, float]) -> None:
    """Same scores in order, and every hit has its own: hits of one score may change places."""
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in truth], abs=NEAR)
    assert all(hit.score == pytest.approx(scores[hit.id], abs=NEAR) for hit in found)
    assert len({hit.id for hit in found}) == len(found)


async def compare(index: VectorIndex, steps: list[Operation], seed: int) -> None:
    exact = ExactIndex()
    for one in (index, exact):
        await one.setup("model", DIMENSION)
        for step in steps:
            await (one.put(step.points) if isinstance(step, Put) else one.remove(step.tools))
    assert await index.fetch_digests() == await exact.fetch_digests()
    assert await index.count() == await exact.count()
    query = vector(seed)
    scores = {hit.id: hit.score for hit in await exact.search(query, 100)}
    for where in (None, *({"category": category} for category in CATEGORIES)):
        for limit in (1, 3, 100):
            agree(await index.search(query, limit, where), await exact.search(query, limit, where), scores)
    found, truth = await index.fetch_vectors(TOOLS), await exact.fetch_vectors(TOOLS)
    assert found.keys() == truth.keys()
    assert all(found[tool] == pytest.approx(truth[tool], abs=NEAR) for tool in truth)
    await index.close()


@pytest.mark.parametrize("backend", sorted(set(BACKENDS) - {"exact"}))
def test_sequences(backend: str) -> None:
    @settings(max_examples=15)
    @given(operations, seeds)
    def run(steps: list[Operation], seed: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(compare(BACKENDS[backend](Path(folder)), steps, seed))

    run()


@pytest.mark.parametrize("backend", sorted(set(BACKENDS) - {"exact"}))
async def test_recall_of_the_ten_nearest(backend: str, tmp_path: Path) -> None:
    numbers = np.random.default_rng(5)
    rows = numbers.normal(size=(3_000, 64)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index, exact = BACKENDS[backend](tmp_path), ExactIndex()
    for one in (index, exact):
        await one.setup("model", 64)
        await one.put([VectorPoint(make_tool_id("c", "t", str(n)), row, "d", "c") for n, row in enumerate(rows)])
    found = 0
    for query in rows[:50] + numbers.normal(scale=0.05, size=(50, 64)).astype(np.float32):
        query = query / np.linalg.norm(query)
        truth = {hit.id for hit in await exact.search(query, 10)}
        found += len(truth & {hit.id for hit in await index.search(query, 10)})
    await index.close()
    assert found / 500 >= 0.99
