"""The contract of the graph store, on every back end."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from graph.links import LinkedGraph
from tests.contract.entity_marks import EntityMarkContract
from tests.contract.feed_marks import FeedMarkContract
from tests.contract.graph_answers import GraphAnswers
from tests.contract.graph_around import GraphAround
from tests.contract.graph_at_once import GraphAtOnce
from tests.contract.graph_documents import GraphDocuments
from tests.contract.graph_evidence import GraphEvidence
from tests.contract.graph_moving import GraphMoving
from tests.contract.graph_refusals import GraphRefusals
from tests.contract.graph_removal import GraphRemoval
from tests.contract.graph_store import GraphStoreContract
from tests.contract.link_store import LinkStoreContract
from tests.support.graph_backends import BACKENDS


class TestGraphStore(
    GraphStoreContract,
    GraphAnswers,
    GraphAround,
    GraphDocuments,
    GraphMoving,
    GraphRefusals,
    GraphRemoval,
    GraphEvidence,
    GraphAtOnce,
    LinkStoreContract,
    EntityMarkContract,
    FeedMarkContract,
):
    @pytest.fixture(params=sorted(BACKENDS))
    async def graph(self, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[LinkedGraph]:
        async with BACKENDS[request.param](tmp_path) as graph:
            yield graph
