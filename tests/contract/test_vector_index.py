"""The contract of the vector index, on every back end."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from retriever.index import VectorIndex
from tests.contract.vector_backends import BACKENDS
from tests.support.vector_index_contract import DIMENSION, IDENTITY, VectorIndexContract


class TestVectorIndex(VectorIndexContract):
    @pytest.fixture(params=sorted(BACKENDS))
    async def index(self, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VectorIndex]:
        index = BACKENDS[request.param](tmp_path)
        await index.setup(IDENTITY, DIMENSION)
        yield index
        await index.close()
