"""Embedded to a real Neo4j and back: the same file each time."""

from pathlib import Path

from graph.backends.neo4j import Neo4jGraph
from tests.unit.graph.transfer.small_stores import exported, fill, imported, opened


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
