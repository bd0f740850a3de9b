"""Shuffled graphs: degrees stay, ends do not, and what a link says stays true of the tool that it says it of."""

from collections import Counter
from collections.abc import Iterable

import pytest

from domain.tool import ToolDoc, ToolId, make_tool_id
from evaluation.graph_variants import Edges, RewiredGraph, build_variant, rewire_edges, rewire_feeds, rewire_substitutes
from graph.backends.in_memory import InMemoryGraph
from graph.facts import Edge, GraphBatch
from graph.links import FeedLink, SubstituteLink, ToolLinks

TOOLS = [make_tool_id("c", "set", f"t{number:02}") for number in range(40)]
PAIRS = list(
    dict.fromkeys(
        (TOOLS[n], TOOLS[other]) for n in range(40) for step in range(3) if (other := (n * n + 3 * step + 1) % 40) != n
    )
)
EDGES = [Edge(one, other, imported=n + 1) for n, (one, other) in enumerate(PAIRS)]
FEEDS = [
    FeedLink(one, other, f"{one}.field{field}", f"{other}.parameter{field}", (n % 7) / 10)
    for n, (one, other) in enumerate(PAIRS)
    for field in range(1 + n % 3)
]
SUBSTITUTES = [SubstituteLink(one, other, (n % 9) / 10, {"a": "b"}) for n, (one, other) in enumerate(PAIRS)]


def degrees(pairs: Iterable[tuple[ToolId, ToolId]]) -> tuple[Counter[ToolId], Counter[ToolId]]:
    found = set(pairs)
    return Counter(one for one, _ in found), Counter(other for _, other in found)


def test_transitions_keep_degrees_and_the_counts_of_their_source() -> None:
    made = rewire_edges(EDGES, seed=7)
    pairs = [(edge.source, edge.target) for edge in made]
    assert degrees(pairs) == degrees(PAIRS)
    assert len(set(pairs)) == len(PAIRS), "no edge twice"
    assert not any(one == other for one, other in pairs)
    assert len(set(pairs) & set(PAIRS)) < len(PAIRS) / 4
    assert [(edge.source, edge.imported) for edge in made] == [(edge.source, edge.imported) for edge in EDGES]
    assert rewire_edges(EDGES, seed=7) == made != rewire_edges(EDGES, seed=8)


def test_feeds_keep_degrees_parameters_with_their_tool_and_fields_with_theirs() -> None:
    made = rewire_feeds(FEEDS, seed=7)
    pairs = [(feed.source, feed.target) for feed in made]
    assert degrees(pairs) == degrees(PAIRS)
    assert len(set(pairs) & set(PAIRS)) < len(PAIRS) / 4
    assert Counter((feed.target, feed.parameter, feed.score) for feed in made) == Counter(
        (feed.target, feed.parameter, feed.score) for feed in FEEDS
    )
    assert all(feed.field.startswith(f"{feed.source}.") for feed in made)


def test_substitutes_keep_degrees_and_forget_whose_parameters_take_what() -> None:
    made = rewire_substitutes(SUBSTITUTES, seed=7)
    assert degrees((one.one, one.other) for one in made) == degrees(PAIRS)
    assert Counter((one.one, one.score) for one in made) == Counter((one.one, one.score) for one in SUBSTITUTES)
    assert not any(one.parameters for one in made)


def test_nothing_and_a_single_pair_stay_as_they_are() -> None:
    assert rewire_edges([], seed=7) == []
    assert rewire_feeds(FEEDS[:1], seed=7) == FEEDS[:1]


async def graph_of_all() -> InMemoryGraph:
    graph = InMemoryGraph()
    await graph.setup()
    await graph.put_tools(
        [ToolDoc(id=tool, category="c", toolset="set", api=tool[-3:], function=tool[-3:]) for tool in TOOLS]
    )
    await graph.apply(GraphBatch("k", Counter({(edge.source, edge.target): edge.imported for edge in EDGES})))
    await graph.put_links(
        [
            ToolLinks(tool, [f for f in FEEDS if f.target == tool], [s for s in SUBSTITUTES if s.one == tool])
            for tool in TOOLS
        ]
    )
    return graph


@pytest.mark.parametrize(
    ("edges", "walked", "linked"),
    [("real", True, True), ("none", False, False), ("shuffled", True, True), ("coupling", False, True)],
)
async def test_what_is_left_of_a_graph(edges: Edges, walked: bool, linked: bool) -> None:
    """Every reading of a variant agrees with every other; documents stay."""
    graph = await build_variant(await graph_of_all(), edges)
    around = await graph.load_neighbourhoods(TOOLS)
    assert all(known.document is not None for known in around.values())
    out = {(way.edge.source, way.edge.target) for known in around.values() for way in known.out}
    into = {(edge.source, edge.target) for known in around.values() for edge in known.into}
    beside = {(edge.source, edge.target) for edge in await graph.find_adjacent_edges(TOOLS)}
    fed = {feed for known in around.values() for feed in known.feeds}
    assert out == into == beside
    assert (bool(out), bool(fed), any(known.substitutes for known in around.values())) == (walked, linked, linked)
    assert (out == set(PAIRS)) == (edges == "real")
    assert (fed == set(FEEDS)) == (edges in ("real", "coupling"))
    if isinstance(graph, RewiredGraph) and edges == "shuffled":
        real = {(feed.source, feed.target) for feed in FEEDS}
        assert graph.kept_shares["transitions"] == len(out & set(PAIRS)) / len(PAIRS)
        assert graph.kept_shares["feeds"] == len({(feed.source, feed.target) for feed in fed} & real) / len(PAIRS)
    if edges != "none":
        assert degrees((feed.source, feed.target) for feed in fed) == degrees(PAIRS)
