"""What every graph store promises where many runs learn at once while an administrator marks and links are computed."""

import asyncio
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from domain.tool import ToolId
from graph.facts import Edge, Mark
from graph.links import FeedLink, LinkedGraph, SubstituteLink, ToolLinks
from tests.support.graph_samples import A, B, C, batch, document, left_after, walked

RUNS = 50
PATHS = ((A, B, C), (C, B, A), (B, A))
FEED, PAIR = FeedLink(A, B, "items[].id", "item", 0.95), SubstituteLink(B, C, 0.9, {"q": "query"})


class GraphAtOnce:
    """Needs a fixture ``graph``: an empty store, set up."""

    async def test_facts_are_the_sum_of_runs_and_marks_and_links_stay(self, graph: LinkedGraph) -> None:
        await graph.put_tools([document(A), document(B), document(C)])
        await graph.apply(batch("k", {(A, B): 3, (B, C): 1}))
        told = [graph.learn(walked(f"r{n}", *PATHS[n % 3], decay=1.0)) for n in range(RUNS)]
        again = [graph.learn(walked(f"r{n}", *PATHS[n % 3], decay=1.0)) for n in range(0, RUNS, 5)]
        others = [
            graph.mark(A, B, "pin"),
            graph.put_links([ToolLinks(B, [FEED], [PAIR])]),
            graph.mark(C, A, "ban"),
        ]
        learnt = (await asyncio.gather(*told, *again, *others))[: len(told) + len(again)]
        assert sum(map(bool, learnt)) == RUNS
        steps: Counter[tuple[ToolId, ToolId]] = Counter()
        calls: Counter[ToolId] = Counter()
        for n in range(RUNS):
            path = PATHS[n % 3]
            steps.update(pairwise(path))
            calls.update(path)
        imported = {(A, B): 3, (B, C): 1}
        marks: dict[tuple[ToolId, ToolId], Mark] = {(A, B): "pin", (C, A): "ban"}
        pairs = sorted(imported.keys() | steps.keys() | marks.keys())
        expected = [Edge(a, b, imported.get((a, b), 0), steps[a, b], marks.get((a, b))) for a, b in pairs]
        found = [edge async for edge in graph.stream_edges()]
        assert [replace(edge, strength=0.0) for edge in found] == expected
        for tool in (A, B, C):
            walks = sum(count for (source, _), count in steps.items() if source == tool)
            strength = sum(edge.strength for edge in found if edge.source == tool)
            assert strength == pytest.approx(left_after(walks))
        facts = await graph.get_facts([A, B, C])
        assert {tool: found.ok for tool, found in facts.items()} == calls
        assert {tool: found.quality for tool, found in facts.items()} == {t: float(n) for t, n in calls.items()}
        assert await graph.get_feeds_into(B) == [FEED]
        assert await graph.get_substitutes(B) == [PAIR]
        assert (await graph.compute_statistics()).batches == RUNS + 1
