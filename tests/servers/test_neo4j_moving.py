"""Embedded to a real Neo4j and back: the same file each time."""

from dataclasses import replace
from pathlib import Path

import pytest

from domain.tool import ToolId
from graph.backends.neo4j_graph import Neo4jGraph
from graph.facts import Edge, LiveBatch, LiveOutcome, ToolFacts
from tests.servers.neo4j.server import Neo4jServer
from tests.support.graph_samples import NOON, A, B, C, batch, walked
from tests.support.small_stores import exported, fill, imported, opened


async def test_embedded_to_neo4j_to_embedded(neo4j_graph: Neo4jGraph, tmp_path: Path) -> None:
    one, two, three = (tmp_path / name for name in ("one.gz", "two.gz", "three.gz"))
    old, _ = await opened(tmp_path, "old")
    new, _ = await opened(tmp_path, "new")
    try:
        await fill(old)
        first = await exported(old, one)
        assert await imported(one, neo4j_graph) == 16
        assert await imported(one, neo4j_graph) == 0
        assert await exported(neo4j_graph, two) == first
        await imported(two, new)
        assert await exported(new, three) == first
        assert one.read_bytes() == two.read_bytes() == three.read_bytes()
    finally:
        await old.close()
        await new.close()


async def test_what_neo4j_counted_and_learnt_moves(neo4j_graph: Neo4jGraph, tmp_path: Path) -> None:
    await fill(neo4j_graph)
    new, _ = await opened(tmp_path, "new")
    try:
        report = await exported(neo4j_graph, tmp_path / "e")
        await imported(tmp_path / "e", new)
        assert await exported(new, tmp_path / "again") == report
    finally:
        await new.close()


async def test_an_older_graph_gets_its_live_evidence_from_its_counts(
    neo4j_graph: Neo4jGraph, neo4j_server: Neo4jServer
) -> None:
    good: list[tuple[ToolId, LiveOutcome]] = [(A, "ok")] * 60
    bad: list[tuple[ToolId, LiveOutcome]] = [(A, "gone")] * 4
    await neo4j_graph.learn(LiveBatch("r", {(A, B): 3}, (), (*good, *bad), at=NOON))
    await neo4j_graph.apply(batch("k", {(A, C): 7}, {B: 4}, {B: 3}))
    known = (await neo4j_graph.get_facts([A]))[A]
    with neo4j_server.driver() as driver:
        driver.execute_query("MATCH (t:Tool) REMOVE t.good, t.bad, t.trouble, t.heard")
        driver.execute_query("MATCH ()-[r:NEXT]->() REMOVE r.strength")
        driver.execute_query("MATCH (mark:Footpath) REMOVE mark.living")
    assert [edge async for edge in neo4j_graph.stream_edges()] == [Edge(A, B, 0, 3), Edge(A, C, 7)]
    for _ in range(2):
        older = Neo4jGraph(neo4j_server.url, neo4j_server.user, neo4j_server.password)
        await older.setup()
        expected = replace(
            known, good=50 / 76 * 60, bad=50 / 76 * 16, trouble=-known.reliability, heard=NOON.timestamp()
        )
        assert await older.get_facts([A, B]) == {A: expected, B: ToolFacts(4, 3)}
        assert [edge async for edge in older.stream_edges()] == [Edge(A, B, 0, 3, None, 3.0), Edge(A, C, 7)]
        await older.close()
    await neo4j_graph.learn(walked("r2", A, B))
    assert (await neo4j_graph.get_facts([A]))[A].good == pytest.approx(50 / 76 * 60 * 0.98 + 1)
