"""What a Qdrant server adds to the contract, over HTTP and gRPC."""

import asyncio
import random
from collections.abc import AsyncIterator
from functools import partial

import numpy as np
import pytest

from domain.errors import StoreVersionError, UnavailableError
from domain.tool import make_tool_id
from retriever.index import VectorIndex, VectorPoint
from tests.contract.test_vector_agreement import CATEGORIES, TOOLS, Operation, Put, Remove, compare, vector
from tests.servers.qdrant.places import MakeIndex, QdrantPlace
from tests.support.vector_index_contract import DIMENSION, IDENTITY, A, B, VectorIndexContract, point, unit


class OnQdrant(VectorIndexContract):
    """Needs a fixture ``make``: indexes with collections of their own."""

    @pytest.fixture
    async def index(self, make: MakeIndex) -> VectorIndex:
        index = make()
        await index.setup(IDENTITY, DIMENSION)
        return index

    async def test_processes_share_the_vectors(self, make: MakeIndex) -> None:
        one, other = make(), make()
        await asyncio.gather(one.setup(IDENTITY, DIMENSION), other.setup(IDENTITY, DIMENSION))
        await one.put([point(A, unit(1))])
        assert await other.fetch_digests() == {A: "d"}
        await other.remove([A])
        assert await one.count() == 0

    async def test_more_than_one_batch_and_page(self, index: VectorIndex) -> None:
        tools = [make_tool_id("c", "t", str(n)) for n in range(2_100)]
        await index.put([point(tool, unit(1, n)) for n, tool in enumerate(tools)])
        assert set(await index.fetch_digests()) == set(tools)
        assert set(await index.fetch_vectors(tools)) == set(tools)
        await index.remove(tools[1:])
        assert await index.fetch_digests() == {tools[0]: "d"}

    async def test_a_reindex_is_seen_by_nobody_before_the_switch_and_by_all_after_it(self, make: MakeIndex) -> None:
        served, beside = make(), make()
        await served.setup(IDENTITY, DIMENSION)
        await served.put([point(A, unit(1), "old")])
        await beside.setup_staging(IDENTITY, DIMENSION)
        assert await beside.fetch_digests() == {}
        await beside.put([point(A, unit(1), "new"), point(B, unit(0, 1), "new")])
        assert await served.fetch_digests() == {A: "old"}
        await beside.activate()
        assert await served.fetch_digests() == await beside.fetch_digests() == {A: "new", B: "new"}
        assert len(await beside.drop_older()) == 1
        assert await beside.drop_older() == []
        assert await served.fetch_digests() == {A: "new", B: "new"}

    async def test_an_interrupted_reindex_goes_on(self, make: MakeIndex) -> None:
        served, first, second = make(), make(), make()
        await served.setup(IDENTITY, DIMENSION)
        await first.setup_staging(IDENTITY, DIMENSION)
        await first.put([point(A, unit(1), "new")])
        await first.close()
        await second.setup_staging(IDENTITY, DIMENSION)
        assert await second.fetch_digests() == {A: "new"}
        assert await served.fetch_digests() == {}

    async def test_another_encoder_is_indexed_beside_and_leaves_the_old_one_serving(self, make: MakeIndex) -> None:
        old, new = make(), make()
        await old.setup(IDENTITY, DIMENSION)
        await old.put([point(A, unit(1))])
        with pytest.raises(StoreVersionError, match="reindex"):
            await new.setup("other model", 3)
        await new.setup_staging("other model", 3)
        await new.put([point(A, np.array([1, 0, 0], np.float32), "other")])
        await new.activate()
        assert (await old.fetch_digests(), await new.fetch_digests()) == ({A: "d"}, {A: "other"})
        await make().setup("other model", 3)
        assert await new.drop_older() == []
        assert len(await new.delete(IDENTITY, DIMENSION, staged=False)) == 1
        for use in (
            old.fetch_digests,
            old.count,
            old.read_notes,
            lambda: old.write_note("words", "w"),
            lambda: old.search(unit(1), 1),
        ):
            with pytest.raises(StoreVersionError, match=rf"the vectors of {IDENTITY} .* were dropped"):
                await use()
        with pytest.raises(StoreVersionError, match="other model"):
            await make().setup(IDENTITY, DIMENSION)

    async def test_an_encoder_that_left_no_vectors_is_refused_once_another_has_some(self, make: MakeIndex) -> None:
        left, filled = make(), make()
        await left.setup("left none", 32)
        await filled.setup(IDENTITY, DIMENSION)
        assert await filled.list_active_encoders() == []
        await filled.put([point(A, unit(1))])
        assert await filled.list_active_encoders() == [(IDENTITY, DIMENSION)]
        with pytest.raises(StoreVersionError, match=rf"made by {IDENTITY} "):
            await make().setup("left none", 32)

    async def test_nothing_is_dropped_before_the_switch(self, make: MakeIndex) -> None:
        beside = make()
        await beside.setup_staging(IDENTITY, DIMENSION)
        with pytest.raises(UnavailableError, match="switch"):
            await beside.drop_older()

    async def test_notes(self, make: MakeIndex) -> None:
        one, other = make(), make()
        await one.setup(IDENTITY, DIMENSION)
        await one.write_note("words", "first")
        await one.write_note("words", "second")
        await other.setup(IDENTITY, DIMENSION)
        assert (await other.read_notes())["words"] == "second"
        assert (await other.read_notes())["identity"] == IDENTITY

    async def test_a_vector_of_another_size_changes_nothing(self, index: VectorIndex) -> None:
        wrong = np.ones(DIMENSION + 1, np.float32)
        with pytest.raises(StoreVersionError, match="does not fit"):
            await index.put([point(A, unit(1)), point(B, wrong)])
        with pytest.raises(StoreVersionError, match="does not fit"):
            await index.search(wrong, 1)
        assert await index.count() == 0

    async def test_quantised_search_finds_the_same_of_a_few(self, make: MakeIndex) -> None:
        index = make(quantization=True)
        await index.setup(IDENTITY, DIMENSION)
        await index.put([point(A, unit(1)), point(B, unit(0, 1))])
        hits = await index.search(unit(1, 0.1), 2)
        assert [hit.id for hit in hits] == [A, B]
        assert hits[0].score == pytest.approx(float(unit(1) @ unit(1, 0.1)), abs=1e-3)

    async def test_random_operations_leave_what_the_exact_index_has(self, make: MakeIndex) -> None:
        numbers = random.Random(7)
        steps: list[Operation] = []
        for _ in range(40):
            tools = numbers.choices(TOOLS, k=numbers.randrange(6))
            points = [VectorPoint(one, vector(numbers.randrange(99)), "d", numbers.choice(CATEGORIES)) for one in tools]
            steps.append(Remove(tools) if numbers.random() < 0.3 else Put(points))
        await compare(make(), steps, 3)


class TestQdrantServer(OnQdrant):
    @pytest.fixture
    async def make(self, qdrant_server: QdrantPlace) -> AsyncIterator[MakeIndex]:
        async with qdrant_server.indexes() as make:
            yield make


class TestQdrantServerOverGrpc(OnQdrant):
    @pytest.fixture
    async def make(self, qdrant_server: QdrantPlace) -> AsyncIterator[MakeIndex]:
        async with qdrant_server.indexes() as make:
            yield partial(make, prefer_grpc=True)
