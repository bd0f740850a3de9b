"""What every vector index promises. Test classes inherit this and give the fixture ``index``, set up as :data:`IDENTITY`."""

import asyncio

import numpy as np
import pytest
from numpy.typing import NDArray

from domain.errors import StoreVersionError, UnavailableError
from domain.tool import ToolId, make_tool_id
from retriever.index import VectorIndex, VectorPoint

IDENTITY, DIMENSION = "model:text1", 8
A, B, C, D = (make_tool_id("weather", "tool set/ü", f"api {n}") for n in range(4))


def unit(*values: float) -> NDArray[np.float32]:
    """A vector of unit length that begins like this."""
    vector = np.zeros(DIMENSION, np.float32)
    vector[: len(values)] = values
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def point(tool: ToolId, vector: NDArray[np.float32], digest: str = "d", category: str = "weather") -> VectorPoint:
    return VectorPoint(tool, vector, digest, category)


class VectorIndexContract:
    async def test_empty(self, index: VectorIndex) -> None:
        assert await index.count() == 0
        assert await index.fetch_digests() == {}
        assert await index.search(unit(1), 5) == []
        assert await index.fetch_vectors([A]) == {}
        assert await index.compute_cosines(np.stack([unit(1)]), [A]) == {}

    async def test_nearest_first_with_cosines(self, index: VectorIndex) -> None:
        await index.put([point(A, unit(1)), point(B, unit(1, 1)), point(C, unit(0, 1)), point(D, unit(-1))])
        hits = await index.search(unit(1), 10)
        assert [hit.id for hit in hits] == [A, B, C, D]
        assert [hit.score for hit in hits] == pytest.approx([1, 2**-0.5, 0, -1], abs=1e-5)

    async def test_limit(self, index: VectorIndex) -> None:
        await index.put([point(A, unit(1)), point(B, unit(1, 1))])
        assert [hit.id for hit in await index.search(unit(1), 1)] == [A]
        assert await index.search(unit(1), 0) == []

    async def test_ties_are_broken_by_id_whatever_the_order_of_arrival(self, index: VectorIndex) -> None:
        """More of them than are asked for, and than are read at once."""
        tied = [make_tool_id("weather", "copies", str(number)) for number in range(60)]
        for part in (tied[1::2], tied[::2]):
            await index.put([point(tool, unit(3, 4)) for tool in part])
        await index.put([point(A, unit(1))])
        for limit in (1, 2, 9, 59):
            assert [hit.id for hit in await index.search(unit(1), limit)] == [A, *sorted(tied)][:limit]

    async def test_put_replaces(self, index: VectorIndex) -> None:
        await index.put([point(A, unit(1), "old")])
        await index.put([point(A, unit(0, 1), "new", "books")])
        assert await index.fetch_digests() == {A: "new"}
        assert (await index.search(unit(0, 1), 1, {"category": "books"}))[0].score == pytest.approx(1, abs=1e-5)
        assert await index.search(unit(0, 1), 1, {"category": "weather"}) == []

    async def test_the_last_of_one_batch_counts(self, index: VectorIndex) -> None:
        await index.put([point(A, unit(1), "first"), point(A, unit(0, 1), "last")])
        assert await index.fetch_digests() == {A: "last"}

    async def test_filters(self, index: VectorIndex) -> None:
        await index.put([point(A, unit(1)), point(B, unit(1, 1), category="books")])
        assert [hit.id for hit in await index.search(unit(1), 5, {"category": "books"})] == [B]
        assert await index.search(unit(1), 5, {"category": "no such"}) == []
        assert await index.search(unit(1), 5, {"no_such_field": "weather"}) == []

    async def test_remove(self, index: VectorIndex) -> None:
        await index.put([point(A, unit(1)), point(B, unit(1, 1))])
        await index.remove([A, C])
        await index.remove([])
        assert await index.fetch_digests() == {B: "d"}
        assert [hit.id for hit in await index.search(unit(1), 5)] == [B]

    async def test_vectors_come_back(self, index: VectorIndex) -> None:
        await index.put([point(A, unit(3, 4)), point(B, unit(1))])
        found = await index.fetch_vectors([A, C])
        assert list(found) == [A]
        assert found[A] == pytest.approx(unit(3, 4), abs=1e-6)

    async def test_cosines_with_several_at_once(self, index: VectorIndex) -> None:
        await index.put([point(A, unit(1)), point(B, unit(3, 4)), point(D, unit(0, 0, 1))])
        asked = np.stack([unit(1), unit(0, 1), unit(-1)])
        found = await index.compute_cosines(asked, [B, C, A])
        assert list(found) == [B, A], "in the order asked for, unknown ones left out"
        assert found[A] == pytest.approx([1, 0, -1], abs=1e-6)
        assert found[B] == pytest.approx([0.6, 0.8, -0.6], abs=1e-6)
        assert await index.compute_cosines(asked, []) == {}
        assert await index.compute_cosines(asked, [C]) == {}

    async def test_cosines_are_of_the_vectors_as_they_are_now(self, index: VectorIndex) -> None:
        await index.put([point(A, unit(1)), point(B, unit(1))])
        asked = np.stack([unit(1)])
        before = {tool: float(row[0]) for tool, row in (await index.compute_cosines(asked, [A, B])).items()}
        assert before == pytest.approx({A: 1, B: 1}, abs=1e-5)
        await index.put([point(A, unit(0, 1))])
        await index.remove([B])
        now = {tool: float(row[0]) for tool, row in (await index.compute_cosines(asked, [A, B])).items()}
        assert now == pytest.approx({A: 0}, abs=1e-5)

    async def test_setup_again_changes_nothing(self, index: VectorIndex) -> None:
        await index.put([point(A, unit(1))])
        await index.setup(IDENTITY, DIMENSION)
        assert await index.count() == 1

    async def test_another_encoder_is_refused(self, index: VectorIndex) -> None:
        await index.put([point(A, unit(1))])
        with pytest.raises(StoreVersionError):
            await index.setup("other model", DIMENSION)

    async def test_without_vectors_it_belongs_to_nobody(self, index: VectorIndex) -> None:
        await index.put([point(A, unit(1))])
        await index.remove([A])
        await index.close()
        await index.setup("other model", 3)
        await index.put([point(B, np.array([1, 0, 0], np.float32))])
        assert await index.fetch_digests() == {B: "d"}

    async def test_concurrent_use(self, index: VectorIndex) -> None:
        tools = [make_tool_id("c", "t", str(n)) for n in range(60)]
        await asyncio.gather(
            *(index.put([point(tool, unit(1, n))]) for n, tool in enumerate(tools)),
            *(index.search(unit(1), 3) for _ in range(20)),
        )
        assert set(await index.fetch_digests()) == set(tools)

    async def test_closed(self, index: VectorIndex) -> None:
        await index.close()
        await index.close()
        with pytest.raises(UnavailableError, match="not open"):
            await index.count()
