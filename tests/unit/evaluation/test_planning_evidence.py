"""Groups by what the graph knows, and differences of two methods on the same requests."""

from collections import Counter

import pytest

from domain.tool import FINISH, make_tool_id
from evaluation.api_names import ApiName, normalize_api_name
from evaluation.graph_evidence import LINKED, UNKNOWN, WALKED, collect_linked_pairs, group_by_evidence
from evaluation.intervals import compute_paired_difference
from evaluation.planning import PlannedQuery
from evaluation.queries import RetrievalQuery
from graph.backends.in_memory import InMemoryGraph
from graph.facts import GraphBatch

A, B, C = (make_tool_id("c", "set", name) for name in "abc")


def planned(*relevant: str) -> PlannedQuery:
    keys: frozenset[ApiName] = frozenset(normalize_api_name("set", name) for name in relevant)
    return PlannedQuery(RetrievalQuery("G1_tool", "|".join(relevant), keys), (), 0.0)


async def test_requests_are_grouped_by_the_most_that_is_known_of_their_apis() -> None:
    store = InMemoryGraph()
    await store.setup()
    await store.apply(GraphBatch(key="one", transitions=Counter({(A, B): 2, (B, FINISH): 2})))
    asked = [planned("a", "b"), planned("b", "a"), planned("a", "c"), planned("c")]
    groups = group_by_evidence(asked, await collect_linked_pairs(store))
    assert {name: [one.query.query for one in part] for name, part in groups.items()} == {
        LINKED: ["a|b", "b|a"],
        WALKED: ["a|c"],
        UNKNOWN: ["c"],
    }


def test_a_difference_is_of_pairs_and_its_interval_tells_chance_from_gain() -> None:
    better = compute_paired_difference([0.6, 0.7, 0.8] * 20, [0.5, 0.6, 0.7] * 20)
    low, high = better["interval"]  # type: ignore[misc]
    assert better["difference"] == pytest.approx(0.1)
    assert low == pytest.approx(0.1)
    assert high == pytest.approx(0.1)
    same = compute_paired_difference([0.0, 1.0] * 30, [1.0, 0.0] * 30)
    low, high = same["interval"]  # type: ignore[misc]
    assert low < 0 < high
    with pytest.raises(ValueError, match=r"shorter|longer"):
        compute_paired_difference([1.0], [])
