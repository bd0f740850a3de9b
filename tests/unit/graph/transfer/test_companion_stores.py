"""Memories and flows move with the graph: between a file and a Qdrant server too, and older exports are read without them."""

import json
from collections.abc import AsyncGenerator
from hashlib import blake2b
from pathlib import Path

import pytest

from domain.errors import UnavailableError, UsageError
from domain.memory import Memory, MemoryStore
from domain.program import Program, ProgramPlan
from domain.tool import ToolId
from domain.trajectory import TakenValue
from graph.backends.in_memory import InMemoryGraph, InMemorySolutions
from graph.backends.sqlite_flows import SqliteFlows
from graph.backends.sqlite_memories import SqliteMemories
from graph.backends.sqlite_solutions import SqliteSolutions
from graph.transfer.companion_stores import CompanionStores, decode_companion
from graph.transfer.line_fields import LineError
from graph.transfer.store_export import ExportResult, export_store
from graph.transfer.store_import import check_export, import_store
from retriever.backends.qdrant_connection import QdrantAddress
from retriever.backends.qdrant_memories import QdrantMemories
from tests.support.memory_store_contract import memory
from tests.support.small_stores import fill, quiet, run_changed
from tests.support.solution_store_contract import solution

A, B = ToolId("c/s/a"), ToolId("c/s/b")
ODD = ProgramPlan(program=Program(text="1", tools={}), inputs={"n": {"type": "integer", "maximum": 2**80}})
TAKEN = [TakenValue(A, B, "q", ("x[].id", "y")), TakenValue(A, B, "q", ("y",)), TakenValue(B, A, "ü\u2028", ("z",))]


def memories_at(folder: Path, kind: str) -> MemoryStore:
    return QdrantMemories(QdrantAddress(":memory:")) if kind == "qdrant" else SqliteMemories(folder / "memories.db")


@pytest.fixture
async def full(tmp_path: Path) -> AsyncGenerator[CompanionStores]:
    """Three memories with judgements, two solutions, and flows."""
    solutions = InMemorySolutions()
    await solutions.put([solution("x \u2028 ü"), solution("x", "ann").model_copy(update={"plan": ODD})])
    beside = CompanionStores(memories_at(tmp_path, "sqlite"), SqliteFlows(tmp_path / "flows.db"), solutions)
    assert beside.memories is not None
    assert beside.flows is not None
    await beside.memories.setup()
    await beside.flows.setup()
    kept = [memory("weather in <name>"), memory("weather in <name>", "ann"), memory("zug \u2028 ü")]
    await beside.memories.add(kept)
    for good in (True, True, False):
        await beside.memories.judge(kept[1].id, good=good)
    await beside.flows.add("k1", TAKEN)
    await beside.flows.add("k2", [])
    yield beside
    await beside.memories.close()
    await beside.flows.close()


async def exported(path: Path, beside: CompanionStores) -> ExportResult:
    graph = InMemoryGraph()
    await fill(graph)
    return await export_store(graph, None, path, quiet, replace=True, companions=beside)


async def imported(path: Path, beside: CompanionStores | None) -> int:
    return await import_store(path, await check_export(path, quiet), InMemoryGraph(), None, quiet, beside)


async def all_of(store: MemoryStore | None) -> list[Memory]:
    assert store is not None
    return [one async for one in store.stream_all()]


@pytest.mark.parametrize("first", ["sqlite", "qdrant"])
@pytest.mark.parametrize("then", ["sqlite", "qdrant"])
async def test_judgements_and_flows_come_along(full: CompanionStores, first: str, then: str, tmp_path: Path) -> None:
    path, known = tmp_path / "0", await exported(tmp_path / "0", full)
    assert (known.counts.memories, known.counts.flow_keys, known.counts.flows) == (3, 2, 2)
    assert known.counts.solutions == 2
    for number, kind in enumerate((first, then)):
        folder = tmp_path / f"in{number}"
        folder.mkdir()
        kept = SqliteSolutions(folder / "solutions.db")
        await kept.setup()
        new = CompanionStores(memories_at(folder, kind), SqliteFlows(folder / "flows.db"), kept)
        assert new.memories is not None
        assert new.flows is not None
        await new.memories.setup()
        await new.flows.setup()
        assert await imported(path, new) == 16 + 9
        assert full.solutions is not None
        assert [one async for one in kept.stream_all()] == [one async for one in full.solutions.stream_all()]
        assert await all_of(new.memories) == await all_of(full.memories)
        assert {(m.owner, m.good, m.bad) for m in await all_of(new.memories)} == {("", 0, 0), ("ann", 2, 1)}
        assert full.flows is not None
        assert await new.flows.find_flows_into([A, B]) == await full.flows.find_flows_into([A, B])
        assert not await new.flows.add("k1", TAKEN)
        path = tmp_path / f"again{number}"
        assert await exported(path, new) == known
        for one in (new.memories, new.flows, kept):
            await one.close()


async def test_an_interrupted_import_goes_on_and_other_memories_are_refused(
    full: CompanionStores, tmp_path: Path
) -> None:
    await exported(tmp_path / "e", full)
    solutions = InMemorySolutions()
    part = CompanionStores(SqliteMemories(tmp_path / "part.db"), SqliteFlows(tmp_path / "part.flows.db"), solutions)
    assert part.memories is not None
    assert part.flows is not None
    await part.memories.setup()
    await part.flows.setup()
    first = (await all_of(full.memories))[0]
    await part.memories.add([first])
    await solutions.put([solution("x \u2028 ü")])
    assert await imported(tmp_path / "e", part) == 16 + 7
    assert await imported(tmp_path / "e", part) == 16
    await solutions.put([solution("more")])
    with pytest.raises(UsageError, match="Solution more"):
        await imported(tmp_path / "e", part)
    await solutions.remove(["more"])
    await part.memories.judge(first.id, good=False)
    with pytest.raises(UsageError, match="Memory"):
        await imported(tmp_path / "e", part)
    await part.memories.close()
    await part.flows.close()


async def test_without_a_place_for_memories_nothing_is_lost_in_silence(full: CompanionStores, tmp_path: Path) -> None:
    await exported(tmp_path / "e", full)
    with pytest.raises(UnavailableError, match="no place"):
        await imported(tmp_path / "e", None)


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
async def test_exports_of_earlier_versions_are_read(version: int, tmp_path: Path) -> None:
    await exported(tmp_path / "e", CompanionStores())
    run_changed(tmp_path / "e", lambda lines: _as_of(version, lines))
    assert await imported(tmp_path / "e", CompanionStores()) == (13 if version == 1 else 16)


def _as_of(version: int, lines: list[bytes]) -> list[bytes]:
    """The lines as that version wrote them: the first knew no lessons and no marks, the second counted neither memories nor flows, and
    the third knew no live evidence beside its counts.
    """
    flows = {"memories", "flow_keys", "flows"} if version < 3 else set[str]()
    later = flows | {"solutions"} | ({"lessons"} if version == 1 else set[str]())
    rows = [json.loads(line) for line in lines]
    rows[0]["version"] = version
    evidence = {"good", "bad", "trouble", "heard", "strength"} if version < 4 else set[str]()
    rows = [{key: value for key, value in row.items() if key not in evidence} for row in rows]
    if version == 1:
        rows = [row for row in rows if row["kind"] != "lesson" and row.get("imported", 1) + row.get("live", 1)]
        rows[-1]["counts"]["edges"] -= 1  # the one that a mark alone has made
        rows = [{key: value for key, value in row.items() if key != "mark"} for row in rows]
    written = [json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for row in rows[:-1]]
    counts = {name: count for name, count in rows[-1]["counts"].items() if name not in later}
    digest = blake2b(b"".join(written), digest_size=32).hexdigest()
    return [*written, json.dumps({"kind": "end", "counts": counts, "digest": digest}).encode() + b"\n"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ({"kind": "memory", "id": "x"}, "request"),
        ({"kind": "flow", "target": "a", "parameter": "p", "source": "b", "total": 1, "fields": {"f": "1"}}, "f is"),
        ({"kind": "flow", "target": "a", "parameter": "p", "source": "b", "total": 1, "fields": []}, "fields"),
        ({"kind": "flow_key"}, "key"),
        ({"kind": "dream"}, "'dream' is no kind"),
    ],
)
def test_a_broken_line_says_what_is_wrong(line: dict[str, object], says: str) -> None:
    with pytest.raises(LineError, match=says):
        decode_companion(line)
