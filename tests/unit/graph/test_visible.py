"""A graph as somebody sees it who may not see one of its tools: no read names it, and nothing that reads tools is forgotten."""

from typing import Any

import pytest

from domain.tool import FINISH
from graph.backends.in_memory import InMemoryGraph
from graph.links import FeedLink, LinkedGraph, LinkStore, SubstituteLink, ToolLinks
from graph.store import GraphStore
from graph.visibility import FILTERED_READS, filter_graph
from tests.support.graph_samples import A, B, C, batch, document, walked

NOT_OF_TOOLS = {"setup", "close", "find_applied", "stream_applied_keys", "compute_statistics", "count_links"}
WRITES = {
    "put_tools", "remove_tools", "reset_tools", "apply", "learn", "forget", "learn_answers", "mark",
    "mark_into", "restore", "expect_links", "put_links"
}  # fmt: skip
HIDDEN = frozenset({B})


@pytest.fixture
async def graph() -> LinkedGraph:
    """B is walked from A and to C, feeds C and does the job of A."""
    made = InMemoryGraph()
    await made.put_tools([document(A), document(B), document(C)])
    await made.apply(batch("k", {(A, B): 2, (B, C): 2, (A, C): 1, (C, FINISH): 3}))
    await made.learn(walked("r", A, B, C))
    await made.put_links([
        ToolLinks(A, [FeedLink(C, A, "a", "a", 0.9)], [SubstituteLink(A, B, 0.9), SubstituteLink(A, C, 0.8)]),
        ToolLinks(B, [FeedLink(A, B, "a", "a", 0.9)], [SubstituteLink(B, A, 0.9)]),
        ToolLinks(C, [FeedLink(B, C, "a", "a", 0.9), FeedLink(A, C, "a", "a", 0.8)]),
    ])  # fmt: skip
    return made


async def read(graph: LinkedGraph, name: str) -> Any:
    """All that a read gives of the three tools."""
    method, ids = getattr(graph, name), (A, B, C)
    if name in ("stream_documents", "stream_nodes", "stream_edges", "stream_lessons"):
        return [one async for one in method()]
    if name == "get_link_states":
        return await method()
    if name == "find_function":
        return await method("f")
    if name in (
        "get_tools",
        "get_removed_tools",
        "get_facts",
        "find_adjacent_edges",
        "load_neighbourhoods",
        "find_linked_tools",
    ):
        return await method(ids)
    return [await method(tool) for tool in ids]


async def test_no_read_names_a_hidden_tool(graph: LinkedGraph) -> None:
    seen = filter_graph(graph, HIDDEN)
    for name in sorted(FILTERED_READS - {"get_removed_tools"}):
        whole, narrowed = await read(graph, name), await read(seen, name)
        assert B in repr(whole) or (name == "get_lessons" and len(whole[1]) == 1), name
        assert B not in repr(narrowed), name
        assert A in repr(narrowed) or C in repr(narrowed) or name == "get_lessons", name
    assert (await read(seen, "get_lessons"))[1] == []
    await graph.remove_tools([A, B])
    assert list(await seen.get_removed_tools([A, B])) == [A]


async def test_whoever_may_see_all_has_the_graph_itself(graph: LinkedGraph) -> None:
    assert filter_graph(graph, frozenset()) is graph
    assert await filter_graph(graph, HIDDEN).compute_statistics() == await graph.compute_statistics()


def test_each_method_of_a_graph_is_narrowed_or_known_not_to_tell_of_tools() -> None:
    """A new read has to be narrowed first."""
    methods = {name for base in (GraphStore, LinkStore) for name in vars(base) if not name.startswith("_")}
    assert methods == FILTERED_READS | NOT_OF_TOOLS | WRITES
