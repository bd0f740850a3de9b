"""Export, import, export again: the same bytes, on every pair of back ends, for every store."""

import asyncio
import gzip
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from domain.tool import ToolDoc, ToolId
from domain.trajectory import RecordedCall
from graph.backends.in_memory import InMemoryGraph
from graph.facts import GraphState
from graph.response_fields import output_fields
from graph.shapes import infer_shape
from graph.transfer.store_import import check_export
from tests.contract.test_graph_agreement import state
from tests.support.graph_backends import BACKENDS
from tests.support.graph_samples import A
from tests.support.small_stores import (
    batches,
    documents,
    exported,
    fill,
    imported,
    opened,
    quiet,
    sample,
    states,
)

Recorded = dict[str, list[tuple[ToolId, RecordedCall]]]


@pytest.mark.parametrize("source", sorted(BACKENDS))
@pytest.mark.parametrize("target", sorted(BACKENDS))
async def test_any_back_end_to_any_other_and_the_same_file_again(source: str, target: str, tmp_path: Path) -> None:
    for name in ("source", "target"):
        (tmp_path / name).mkdir()
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    async with BACKENDS[source](tmp_path / "source") as old, BACKENDS[target](tmp_path / "target") as new:
        await fill(old)
        first = await exported(old, one)
        assert await imported(one, new) == 16
        assert await exported(new, two) == first
        assert one.read_bytes() == two.read_bytes()
        assert await state(new) == await state(old)


async def test_what_answers_look_like_comes_along(tmp_path: Path) -> None:
    old, new = InMemoryGraph(), InMemoryGraph()
    await fill(old)
    assert await old.learn_answers({A: [infer_shape({"id": 1, "at": {"lat": 0.5}})]}) == {A}
    await exported(old, tmp_path / "one.jsonl")
    await imported(tmp_path / "one.jsonl", new)
    known = (await new.get_tools([A]))[A]
    assert known == (await old.get_tools([A]))[A]
    assert [field.path for field in output_fields(known)] == ["id", "at.lat"]


async def round_trip(folder: Path, tools: list[ToolDoc], facts: GraphState, recorded: Recorded) -> None:
    one, two = folder / "one.jsonl.gz", folder / "two.jsonl.gz"
    graph, recordings = await opened(folder, "old")
    fresh, kept = await opened(folder, "new")
    try:
        await graph.put_tools(tools)
        await graph.restore(facts)
        for key, calls in recorded.items():
            await recordings.add(key, calls)
        first = await exported(graph, one, recordings)
        await imported(one, fresh, kept)
        assert await exported(fresh, two, kept) == first
        assert one.read_bytes() == two.read_bytes()
        assert [b async for b in kept.iterate_batches()] == [b async for b in recordings.iterate_batches()]
        assert await imported(two, graph, recordings) == 0
    finally:
        for store in (graph, recordings, fresh, kept):
            await store.close()


@given(documents, states, batches)
@settings(max_examples=25)
def test_every_store_comes_back(tools: list[ToolDoc], facts: GraphState, recorded: Recorded) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(round_trip(Path(folder), tools, facts, recorded))


async def test_calls_of_a_tool_keep_their_order(tmp_path: Path) -> None:
    graph, recordings = await opened(tmp_path, "old")
    fresh, kept = await opened(tmp_path, "new")
    await fill(graph, recordings)
    report = await exported(graph, tmp_path / "e", recordings)
    assert (report.counts.batches, report.counts.calls) == (3, 4)
    await imported(tmp_path / "e", fresh, kept)
    tool = (await anext(aiter(recordings.iterate_batches())))[1][0][0]
    assert [call.response for call in await kept.list_calls(tool)] == ["a1", "a2", "a3"]
    assert not await kept.add("r0", [])
    for store in (graph, recordings, fresh, kept):
        await store.close()


async def test_equal_stores_give_equal_files_whatever_their_history(tmp_path: Path) -> None:
    graph = InMemoryGraph()
    await fill(graph)
    other = InMemoryGraph()
    whole = GraphState(
        {tool: facts async for tool, facts in graph.stream_nodes()},
        [edge async for edge in graph.stream_edges()][::-1],
        [key async for key in graph.stream_applied_keys()][::-1],
        [lesson async for lesson in graph.stream_lessons()][::-1],
    )
    await other.restore(whole)
    await other.put_tools([tool async for tool in graph.stream_documents()][::-1])
    for name, store in (("a.gz", graph), ("b.gz", other)):
        await exported(store, tmp_path / name)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


async def test_compressed_and_plain_hold_the_same_lines(tmp_path: Path) -> None:
    plain, packed = await sample(tmp_path / "e.jsonl"), await sample(tmp_path / "e.jsonl.gz")
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert packed.read_bytes()[3:10] == b"\0\0\0\0\0\0\3"  # no flags, no time


async def test_every_line_is_json_that_names_its_kind(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (await sample(tmp_path / "e")).read_bytes().split(b"\n")[:-1]]
    kinds = [line["kind"] for line in lines]
    assert kinds == ["header", *["document"] * 2, *["node"] * 5, *["edge"] * 5, *["key"] * 2, *["lesson"] * 2, "end"]
    assert lines[-1]["counts"]["edges"] == 5


async def test_an_empty_store_is_exported_too(tmp_path: Path) -> None:
    report = await exported(InMemoryGraph(), tmp_path / "e")
    assert (await check_export(tmp_path / "e", quiet)).export == report
    assert await imported(tmp_path / "e", InMemoryGraph()) == 0
