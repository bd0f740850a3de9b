import pytest

from domain.tool import FINISH, ToolDoc, ToolId, tool_id
from evaluation.names import Key, key
from evaluation.queries import Query
from evaluation.retrieval import evaluate_retrieval, measures
from graph.backends.memory import MemoryGraph
from graph.facts import GraphBatch
from retriever.search import ToolHit

WALKED, LAST, NEVER = (tool_id("Sky", "Sky Net", api) for api in ("rain", "wind", "snow"))
COPY = tool_id("Other", "sky-net", "Rain")
MISSING = key("gone", "gone")


def keys(*tools: ToolId) -> frozenset[Key]:
    return frozenset(key("Sky Net", tool.rsplit("/", 1)[1]) for tool in tools)


class FixedSearch:
    """Finds the same tools, whatever is asked."""

    def __init__(self, *tools: ToolId) -> None:
        self._tools = tools

    async def start_tools(self, request: str, limit: int) -> list[ToolHit]:
        return [ToolHit(tool, 1 - place / 10, 0, 0) for place, tool in enumerate(self._tools[:limit])]


@pytest.fixture
async def graph() -> MemoryGraph:
    graph = MemoryGraph()
    await graph.setup()
    documents = [
        ToolDoc(id=tool, category="c", toolset="t", api="a", function="f") for tool in (WALKED, LAST, NEVER, COPY)
    ]
    await graph.put_tools(documents)
    batch = GraphBatch("k")
    batch.transitions.update({(COPY, LAST): 2, (LAST, FINISH): 2})
    await graph.apply(batch)
    return graph


async def test_groups_splits_and_the_missing(graph: MemoryGraph) -> None:
    queries = [
        Query("G1_tool", "a", keys(WALKED)),
        Query("G1_category", "b", keys(NEVER) | {MISSING}),
        Query("G3_instruction", "c", keys(NEVER)),
    ]
    report = await evaluate_retrieval(queries, FixedSearch(COPY, WALKED, NEVER), graph)
    assert {name: row["n"] for name, row in report.groups.items()} == {"I1": 2, "I3": 1}
    assert sorted(report.splits) == ["G1_category", "G1_tool", "G3_instruction"]
    assert report.splits["G1_tool"]["ndcg@1"] == 1
    assert report.splits["G1_category"]["recall@10"] == 0.5  # a relevant API without a document is a miss
    assert report.groups["I1"]["mrr"] == pytest.approx((1 + 1 / 2) / 2)  # two copies of one API take one place
    assert (report.relevant, report.missing) == (3, 1)


async def test_seen_and_unseen_apart(graph: MemoryGraph) -> None:
    """A copy of the API in another category was walked, so it is seen; each half is ranked without the other."""
    report = await evaluate_retrieval(
        [Query("G2_category", "a", keys(WALKED, LAST, NEVER))], FixedSearch(WALKED, NEVER, LAST), graph
    )
    assert report.seen["I2"]["ndcg@5"] == 1
    assert report.unseen["I2"]["ndcg@1"] == 1
    assert report.unseen["I2"]["recall@5"] == 1


async def test_nothing_to_score(graph: MemoryGraph) -> None:
    report = await evaluate_retrieval([], FixedSearch(), graph)
    assert (report.groups, report.seen, report.relevant) == ({}, {}, 0)


def test_measures_of_an_empty_ranking() -> None:
    assert set(measures([], keys(WALKED)).values()) == {0.0}
