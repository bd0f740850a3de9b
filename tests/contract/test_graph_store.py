"""The contract of the graph store, on every back end."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from graph.store import GraphStore
from tests.contract.graph_backends import BACKENDS
from tests.contract.graph_moving import GraphMoving
from tests.contract.graph_refusals import GraphRefusals
from tests.contract.graph_store import GraphStoreContract


class TestGraphStore(GraphStoreContract, GraphMoving, GraphRefusals):
    @pytest.fixture(params=sorted(BACKENDS))
    async def graph(self, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[GraphStore]:
        async with BACKENDS[request.param](tmp_path) as graph:
            yield graph
