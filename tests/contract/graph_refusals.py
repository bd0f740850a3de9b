"""What every graph store refuses, without a change."""

import pytest

from domain.errors import UsageError
from domain.tool import FINISH
from graph.facts import GraphBatch, GraphStatistics, LiveBatch
from graph.store import GraphStore
from tests.support.graph_samples import LOST, A, B, C, batch, document


class GraphRefusals:
    """Needs a fixture ``graph``: an empty store, set up."""

    async def test_documents_are_refused_for_finish_and_unresolved_names(self, graph: GraphStore) -> None:
        for tool in (FINISH, LOST):
            with pytest.raises(UsageError):
                await graph.put_tools([document(A), document(tool)])
        assert (await graph.compute_statistics()).documents == 0

    @pytest.mark.parametrize(
        "broken",
        [
            batch("", {(A, B): 1}),
            batch("k", {(A, B): 1, (B, C): -1}),
            batch("k", {(FINISH, A): 1}),
            batch("k", {(A, B): 1}, {A: -1}),
            batch("k", {(A, B): 1}, {A: 1}, {A: 2}),
            batch("k", {(A, B): 1}, {}, {A: 1}),
        ],
    )
    async def test_a_broken_batch_is_refused_whole(self, graph: GraphStore, broken: GraphBatch) -> None:
        with pytest.raises(UsageError):
            await graph.apply(broken)
        assert await graph.compute_statistics() == GraphStatistics(0, 0, 0, 0, 0, 0)

    @pytest.mark.parametrize(
        "broken",
        [
            LiveBatch("", {(A, B): 1}, (), ()),
            LiveBatch("r", {(A, B): -1}, (), ()),
            LiveBatch("r", {(FINISH, B): 1}, (), ()),
            LiveBatch("r", {(A, B): 1}, ((A, 1.5),), ()),
            LiveBatch("r", {(A, B): 1}, ((A, float("nan")),), ()),
            LiveBatch("r", {(A, B): 1}, ((FINISH, 2.0),), ()),
            LiveBatch("r", {(A, B): 1}, (), (), half_life=0.0),
            LiveBatch("r", {(A, B): 1}, (), ((FINISH, "ok"),)),
            LiveBatch("r", {(A, B): 1}, (), (), decay=0.0),
            LiveBatch("r", {(A, B): 1}, (), (), decay=1.5),
        ],
    )
    async def test_a_broken_run_is_refused_whole(self, graph: GraphStore, broken: LiveBatch) -> None:
        with pytest.raises(UsageError):
            await graph.learn(broken)
        assert await graph.compute_statistics() == GraphStatistics(0, 0, 0, 0, 0, 0)
