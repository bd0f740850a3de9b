import pytest

from domain.tool import FINISH, ToolDoc, ToolId, make_tool_id
from evaluation.api_names import ApiName, normalize_api_name
from evaluation.queries import RetrievalQuery
from evaluation.retrieval import LENIENT, MEASURES, Scores, compute_measures, rank, rank_all, tabulate_means
from evaluation.retrieval_figures import Row, collect_api_knowledge, compare_rankings, compute_row
from graph.backends.in_memory import InMemoryGraph
from graph.facts import GraphBatch
from retriever.search import ToolHit

WALKED, LAST, NEVER = (make_tool_id("Sky", "Sky Net", api) for api in ("rain", "wind", "snow"))
COPY = make_tool_id("Other", "sky-net", "Rain")
MISSING = normalize_api_name("gone", "gone")


def keys(*tools: ToolId) -> frozenset[ApiName]:
    return frozenset(normalize_api_name("Sky Net", tool.rsplit("/", 1)[1]) for tool in tools)


class FixedSearch:
    """Finds the same tools, whatever is asked."""

    def __init__(self, *tools: ToolId) -> None:
        self._tools = tools

    async def find_tools(self, request: str, limit: int) -> list[ToolHit]:
        return [ToolHit(tool, 1 - place / 10, 0, 0) for place, tool in enumerate(self._tools[:limit])]


@pytest.fixture
async def graph() -> InMemoryGraph:
    graph = InMemoryGraph()
    await graph.setup()
    documents = [
        ToolDoc(id=tool, category="c", toolset="t", api="a", function="f") for tool in (WALKED, LAST, NEVER, COPY)
    ]
    await graph.put_tools(documents)
    batch = GraphBatch("k")
    batch.transitions.update({(COPY, LAST): 2, (LAST, FINISH): 2})
    await graph.apply(batch)
    return graph


async def figures(queries: list[RetrievalQuery], search: FixedSearch, graph: InMemoryGraph) -> Row:
    return compute_row(await rank(queries, search, 50), await collect_api_knowledge(queries, graph))


async def test_groups_splits_and_the_missing(graph: InMemoryGraph) -> None:
    queries = [
        RetrievalQuery("G1_tool", "a", keys(WALKED)),
        RetrievalQuery("G1_category", "b", keys(NEVER) | {MISSING}),
        RetrievalQuery("G3_instruction", "c", keys(NEVER)),
    ]
    told = await figures(queries, FixedSearch(COPY, WALKED, NEVER), graph)
    assert {name: part["n"] for name, part in told["groups"].items()} == {"I1": 2, "I3": 1, "all": 3}
    assert sorted(told["splits"]) == ["G1_category", "G1_tool", "G3_instruction"]
    assert told["splits"]["G1_tool"]["ndcg@1"] == 1
    assert told["splits"]["G1_category"]["recall@10"] == 0.5  # a relevant API without a document is a miss
    assert told["splits"]["G1_category"]["ndcg@5"] < told["splits"]["G1_category"][LENIENT]
    assert told["groups"]["I1"]["mrr"] == pytest.approx((1 + 1 / 2) / 2)  # two copies of one API take one place
    low, high = told["groups"]["I1"]["intervals"]["ndcg@1"]
    assert (low, high) == (0, 1)  # one of two was right: nothing is known
    facts = await collect_api_knowledge(queries, graph)
    assert (len(facts.relevant), len(facts.documented), len(facts.seen)) == (3, 2, 1)


async def test_seen_and_unseen_apart(graph: InMemoryGraph) -> None:
    """A copy of the API in another category was walked, so it is seen; each half is ranked without the other."""
    told = await figures(
        [RetrievalQuery("G2_category", "a", keys(WALKED, LAST, NEVER))], FixedSearch(WALKED, NEVER, LAST), graph
    )
    assert told["seen"]["I2"]["ndcg@5"] == 1
    assert told["unseen"]["I2"]["ndcg@1"] == 1
    assert told["unseen"]["I2"]["recall@5"] == 1
    assert told["zero_shot"] == {}  # it has an API that was walked


async def test_zero_shot_takes_nothing_out_of_the_ranking(graph: InMemoryGraph) -> None:
    queries = [RetrievalQuery("G1_tool", "a", keys(NEVER)), RetrievalQuery("G1_tool", "b", keys(LAST))]
    told = await figures(queries, FixedSearch(WALKED, NEVER), graph)
    assert told["zero_shot"]["all"]["n"] == 1
    assert told["zero_shot"]["all"]["ndcg@1"] == 0
    assert told["zero_shot"]["I1"]["mrr"] == 0.5


async def test_what_was_trained_on_is_seen_though_no_path_went_through_it(graph: InMemoryGraph) -> None:
    queries = [RetrievalQuery("G1_tool", "a", keys(NEVER, LAST))]
    assert (await collect_api_knowledge(queries, graph)).seen == keys(LAST)
    assert (await collect_api_knowledge(queries, graph, keys(NEVER, WALKED))).seen == keys(LAST, NEVER)


async def test_nothing_to_score(graph: InMemoryGraph) -> None:
    told = await figures([], FixedSearch(), graph)
    assert all(parts == {} for parts in told.values())


async def test_rows_are_compared_request_by_request(graph: InMemoryGraph) -> None:
    """Each request is better by half: certain, although the requests themselves differ."""
    queries = [RetrievalQuery("G1_tool", str(n), keys(NEVER if n % 2 else LAST)) for n in range(20)]
    scores: Scores = {}
    await rank_all(queries, {"good": FixedSearch(NEVER, LAST), "bad": FixedSearch(WALKED, LAST, NEVER)}, scores)
    facts = await collect_api_knowledge(queries, graph)
    more = compare_rankings(scores["good"], scores["bad"], facts)["groups"]["all"]
    assert more["mrr"] == pytest.approx((2 / 3 + 0) / 2)
    assert more["ndcg@1"] == 0.5
    low, high = more["intervals"]["ndcg@1"]
    assert 0 < low < 0.5 < high < 1
    same = compare_rankings(scores["good"], scores["good"], facts)["groups"]["all"]
    assert set(MEASURES) == {name for name in same if same[name] == 0}


async def test_what_was_scored_before_a_stop_is_compared_on_the_same_requests(graph: InMemoryGraph) -> None:
    class Stopping(FixedSearch):
        async def find_tools(self, request: str, limit: int) -> list[ToolHit]:
            if request == "third":
                raise KeyboardInterrupt
            return await super().find_tools(request, limit)

    queries = [RetrievalQuery("G1_tool", text, keys(NEVER)) for text in ("first", "second", "third")]
    scores: Scores = {}
    with pytest.raises(KeyboardInterrupt):
        await rank_all(queries, {"one": FixedSearch(NEVER), "two": Stopping(LAST)}, scores)
    assert {name: len(part) for name, part in scores.items()} == {"one": 2, "two": 2}
    assert (
        compare_rankings(scores["one"], scores["two"][:1], await collect_api_knowledge(queries, graph))["groups"][
            "all"
        ]["n"]
        == 1
    )


async def test_a_table_of_means_alone(graph: InMemoryGraph) -> None:
    found = tabulate_means(
        await rank([RetrievalQuery("G1_tool", "a", keys(NEVER))], FixedSearch(NEVER), 5), lambda query: query.group
    )
    assert found == {"I1": {"n": 1, **dict.fromkeys(MEASURES, 1.0)}}


def test_measures_of_an_empty_ranking() -> None:
    assert set(compute_measures([], keys(WALKED)).values()) == {0.0}
