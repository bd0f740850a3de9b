"""Imports into the reference store: what is counted once, what is skipped, and what an interruption leaves."""

import asyncio
import contextlib
import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from domain.errors import BrokenInputError, UnavailableError, UsageError
from domain.tool import FINISH, ToolId, make_tool_id
from graph import blocks
from graph.backends.in_memory import InMemoryGraph
from graph.counting_pool import open_counting_pool
from graph.facts import GraphBatch
from graph.ingest import GraphImporter, ImportResult
from graph.input_files import read_records, read_tools
from graph.response_fields import output_fields

A, B = make_tool_id("C", "T", "a"), make_tool_id("C", "T", "b")
Record = dict[str, Any]


def quiet(stage: str, done: int, total: int | None) -> None:
    """No progress is shown."""


def tool(api: str, **more: object) -> Record:
    return {"category": "C", "tool_name": "T", "api_name": api, "function": f"{api}_for_t", **more}


def trajectory(number: int, *apis: str) -> Record:
    calls = [{"function": f"{api}_for_t", "ok": True} for api in apis]
    return {"id": str(number), "source": "s", "query": "", "calls": calls, "finish": "give_answer"}


def lines(path: Path, records: Sequence[Record | bytes]) -> Path:
    path.write_bytes(b"".join((r if isinstance(r, bytes) else orjson.dumps(r)) + b"\n" for r in records))
    return path


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    return lines(tmp_path / "tools.jsonl", [tool("a"), tool("b")])


async def ingest(store: InMemoryGraph, tools: Path, *trajectories: Path, strict: bool = False) -> ImportResult:
    run = GraphImporter(store, None, quiet, strict=strict)
    names = await run.import_tools([tools])
    for path in trajectories:
        await run.import_records(await asyncio.to_thread(read_records, path, "trajectories"), names)
    return run.result


async def counts(store: InMemoryGraph) -> dict[tuple[ToolId, ToolId], int]:
    return {(n.edge.source, n.edge.target): n.edge.imported for t in (A, B) for n in await store.get_out_edges(t)}


async def test_the_same_source_twice_equals_once(tmp_path: Path, tools: Path) -> None:
    store, path = InMemoryGraph(), lines(tmp_path / "t.jsonl", [trajectory(1, "a", "b"), trajectory(2, "a", "b")])
    first, second = await ingest(store, tools, path), await ingest(store, tools, path)
    assert await counts(store) == {(A, B): 2, (B, FINISH): 2}
    assert (await store.get_facts([A]))[A].calls == 2
    assert (first.already_known, second.already_known) == (0, 2)
    assert first.tally == second.tally


async def test_packed_and_plain_are_one_source(tmp_path: Path, tools: Path) -> None:
    store, path = InMemoryGraph(), lines(tmp_path / "t.jsonl", [trajectory(1, "a")])
    packed = tmp_path / "t.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    await ingest(store, tools, path, packed)
    assert await counts(store) == {(A, FINISH): 1}


async def test_a_source_that_grew_was_mended_and_moved_adds_what_is_new(
    tmp_path: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, records = InMemoryGraph(), [trajectory(n, "a", "b") for n in range(7)]
    broken = await ingest(store, tools, lines(tmp_path / "t.jsonl", [*records[:3], b"{broken", *records[3:5]]))
    assert [(s.line, s.file) for s in broken.skipped] == [(4, str(tmp_path / "t.jsonl"))]
    monkeypatch.setattr(blocks, "LINES_A_BLOCK", 2)
    grown = await ingest(store, tools, lines(tmp_path / "u.jsonl", list(reversed(records))))
    assert grown.already_known == 5
    assert await counts(store) == {(A, B): 7, (B, FINISH): 7}


async def test_a_line_counts_as_often_as_its_file_holds_it(tmp_path: Path, tools: Path) -> None:
    store, record = InMemoryGraph(), trajectory(1, "a")
    path = lines(tmp_path / "t.jsonl", [record] * 3)
    await ingest(store, tools, path)
    await ingest(store, tools, lines(path, [record] * 5))
    assert await counts(store) == {(A, FINISH): 5}


async def test_figures_describe_the_source_and_broken_records_are_named(tmp_path: Path, tools: Path) -> None:
    path = lines(tmp_path / "t.jsonl", [trajectory(1, "a"), trajectory(2), b"\xff", {"calls": 3}, b""])
    result = await ingest(InMemoryGraph(), tools, path)
    assert (result.tally.trajectories, result.tally.kept, result.tally.dropped) == (2, 1, {"no_calls": 1})
    assert [str(s).removeprefix(str(path)) for s in result.skipped] == [
        ":3: not UTF-8 (byte 0); convert the file to UTF-8",
        ":4: 'calls' must be a list, not a number",
    ]


async def test_strict_stops_at_the_first_with_whole_blocks_behind_it(
    tmp_path: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "LINES_A_BLOCK", 2)
    store = InMemoryGraph()
    path = lines(tmp_path / "t.jsonl", [trajectory(n, "a") for n in range(3)] + [b"{", trajectory(9, "b")])
    with pytest.raises(BrokenInputError, match=r"t\.jsonl:4: not JSON"):
        await ingest(store, tools, path, strict=True)
    assert await counts(store) == {(A, FINISH): 2}


@pytest.mark.parametrize("content", [b"", b"\n\n", gzip.compress(b"", mtime=0)])
async def test_an_empty_file_or_folder_is_named(tmp_path: Path, tools: Path, content: bytes) -> None:
    path, folder = tmp_path / "t.jsonl", tmp_path / "folder"
    path.write_bytes(content)
    folder.mkdir()
    result = await ingest(InMemoryGraph(), tools, path, folder)
    assert [(s.file, "nothing to read" in s.reason) for s in result.skipped] == [(str(path), True), (str(folder), True)]


async def test_two_different_documents_of_one_id_are_told(tmp_path: Path) -> None:
    path = lines(tmp_path / "tools.jsonl", [tool("a"), tool("a"), tool("a", description="other")])
    store = InMemoryGraph()
    result = await ingest(store, path)
    assert (result.duplicates, result.documents) == ([A], 1)
    assert (await store.get_tools([A]))[A].description == ""


async def test_two_tools_of_one_name_are_ambiguous(tmp_path: Path) -> None:
    path = lines(tmp_path / "tools.jsonl", [tool("a"), {**tool("a"), "category": "D"}])
    result = await ingest(InMemoryGraph(), path, lines(tmp_path / "t.jsonl", [trajectory(1, "a")]))
    assert result.tally.ambiguous == {"a_for_t": 1}


async def test_documents_of_an_earlier_import_still_resolve(tmp_path: Path, tools: Path) -> None:
    store = InMemoryGraph()
    await ingest(store, tools)
    later = lines(tmp_path / "more.jsonl", [tool("c")])
    result = await ingest(store, later, lines(tmp_path / "t.jsonl", [trajectory(1, "a")]))
    assert not result.tally.unresolved


async def test_answers_tell_what_documents_do_not(tmp_path: Path, tools: Path) -> None:
    """Of trajectories and of recorded calls; of failed ones nothing, and never a value."""
    calls = [
        {
            "function": "a_for_t",
            "ok": True,
            "arguments": {"city": "oslo"},
            "observation": '{"oslo": {"lat": 59.9, "code": "X17"}}',
        },
        {"function": "b_for_t", "ok": False, "observation": '{"message": "down"}'},
        {"function": "b_for_t", "ok": True, "observation": "no structure"},
    ]
    past = lines(tmp_path / "past.jsonl", [{**trajectory(1), "calls": calls}])
    recorded = {"category": "C", "tool_name": "T", "api_name": "b", "arguments": "{}", "error": "", "kind": "ok"}
    seen = lines(tmp_path / "seen.jsonl", [{**recorded, "response": '[{"id": "7"}]'}])
    store = InMemoryGraph()
    run = GraphImporter(store, None, quiet)
    names = await run.import_tools([tools])
    await run.import_records(await asyncio.to_thread(read_records, past, "trajectories"), names)
    await run.import_records(await asyncio.to_thread(read_records, seen, "calls"), names)
    known = await store.get_tools([A, B])
    assert orjson.loads(known[A].learnt_response or "") == {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {"lat": {"type": "number"}, "code": {"type": "string"}},
            "required": ["code", "lat"],
        },
    }
    assert [field.path for field in output_fields(known[B])] == ["[].id"]


def test_a_missing_path_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such file or folder"):
        read_tools(tmp_path / "none")
    with pytest.raises(UsageError, match="there is no such file or folder"):
        read_records(tmp_path / "none", "calls")


class FullDisk(InMemoryGraph):
    """Refuses every write after ``room`` batches."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    async def apply(self, batch: GraphBatch) -> bool:
        if self.room == 0:
            raise UnavailableError("the disk is full")
        self.room -= 1
        return await super().apply(batch)


async def test_after_a_full_disk_it_goes_on_where_it_was(
    tmp_path: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "LINES_A_BLOCK", 2)
    path = lines(tmp_path / "t.jsonl", [trajectory(n, "a", "b") for n in range(9)])
    store = FullDisk(room=2)
    with pytest.raises(UnavailableError):
        await ingest(store, tools, path)
    store.room = 99
    assert (await ingest(store, tools, path)).already_known == 4
    assert await counts(store) == {(A, B): 9, (B, FINISH): 9}


@pytest.mark.parametrize("moment", range(8))
async def test_cancelled_at_any_moment_a_second_run_completes(
    tmp_path: Path, tools: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    monkeypatch.setattr(blocks, "LINES_A_BLOCK", 2)
    path = lines(tmp_path / "t.jsonl", [trajectory(n, "a", "b") for n in range(9)])
    store, seen = InMemoryGraph(), 0

    def interrupt(stage: str, done: int, total: int | None) -> None:
        nonlocal seen
        seen += 1
        if seen > moment:
            raise KeyboardInterrupt

    async def first() -> None:
        run = GraphImporter(store, None, interrupt)
        await run.import_records(read_records(path, "trajectories"), await run.import_tools([tools]))

    with contextlib.suppress(KeyboardInterrupt):
        await first()
    await ingest(store, tools, path)
    assert await counts(store) == {(A, B): 9, (B, FINISH): 9}


async def test_two_imports_at_once_count_once(tmp_path: Path, tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LINES_A_BLOCK", 3)
    store, records = InMemoryGraph(), [trajectory(n, "a", "b") for n in range(40)]
    one, two = lines(tmp_path / "one.jsonl", records), lines(tmp_path / "two.jsonl", records[::-1])
    await asyncio.gather(*(ingest(store, tools, path) for path in (one, two, one)))
    assert await counts(store) == {(A, B): 40, (B, FINISH): 40}


async def test_processes_count_the_same(tmp_path: Path, tools: Path) -> None:
    group = tmp_path / "answer" / "G1"
    group.mkdir(parents=True)
    for number in range(300):
        nodes = [
            {"node_type": "Action", "description": "a_for_t"},
            {"node_type": "Action Input", "observation_code": 0},
        ]
        end = [
            {"node_type": "Action", "description": "Finish"},
            {"node_type": "Action Input", "description": "{}", "observation_code": 3},
        ]
        (group / f"{number}.json").write_bytes(orjson.dumps({"win": True, "trys": [{"chain": nodes + end}]}))
    (group / "broken.json").write_bytes(b"{")
    here, there = InMemoryGraph(), InMemoryGraph()
    alone = await ingest(here, tools, tmp_path)
    run = GraphImporter(there, None, quiet)
    names = await run.import_tools([tools])
    async with open_counting_pool(names, 2) as count:
        await run.import_records(await asyncio.to_thread(read_records, tmp_path, "trajectories"), names, count, ahead=3)
    assert run.result.tally == alone.tally
    assert run.result.skipped == alone.skipped
    assert await counts(there) == await counts(here) == {(A, FINISH): 300}
