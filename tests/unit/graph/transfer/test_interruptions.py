"""An export or import that ends early, or meets a store that is not what it should be: nothing is lost, nothing half done."""

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from domain.errors import BrokenInputError, StoreBusyError, UnavailableError, UsageError
from domain.tool import FINISH, ToolDoc, make_tool_id
from graph.backends.in_memory import InMemoryGraph
from graph.facts import Edge, GraphState, ToolFacts
from graph.transfer.store_export import ExportWriter, export_store
from graph.transfer.store_import import check_export, import_store
from tests.contract.test_graph_agreement import state
from tests.support.graph_samples import A, B, C, batch, walked
from tests.support.small_stores import (
    call,
    document,
    exported,
    fill,
    imported,
    opened,
    quiet,
    sample,
)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


class Stopping(InMemoryGraph):
    """Refuses the ``at``-th write, as a full disk does; 0: none."""

    at = 0

    def _write(self) -> None:
        self.at -= 1
        if self.at == 0:
            raise UnavailableError("the disk is full")

    async def put_tools(self, tools: Sequence[ToolDoc]) -> None:
        self._write()
        await super().put_tools(tools)

    async def restore(self, state: GraphState) -> None:
        self._write()
        await super().restore(state)


@pytest.mark.parametrize("at", [1, 2, 3, 4, 5])
async def test_an_interrupted_import_goes_on(tmp_path: Path, at: int) -> None:
    path, graph, whole = await sample(tmp_path / "e"), Stopping(), InMemoryGraph()
    await fill(whole)
    graph.at = at
    with pytest.raises(UnavailableError):
        await imported(path, graph)
    written = await imported(path, graph)
    assert written <= 16 - (0, 2, 7, 12, 14)[at - 1] + (2 if at == 2 else 0)
    assert await state(graph) == await state(whole)


async def test_what_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    path, graph = await sample(tmp_path / "e"), InMemoryGraph()
    assert await imported(path, graph) == 16
    assert await imported(path, graph) == 0


@pytest.mark.parametrize(
    "other",
    [
        [document(B)],
        [document(A, "another text")],
        GraphState({make_tool_id("x", "y", "z"): ToolFacts()}),
        GraphState({A: ToolFacts(calls=1)}),
        GraphState(edges=[Edge(C, FINISH, 1)]),
        GraphState(edges=[Edge(A, B, 3, 1)]),
        GraphState(keys=["k0"]),
        GraphState(keys=["zzz"]),
    ],
    ids=str,
)
async def test_a_store_that_holds_something_else_is_refused(tmp_path: Path, other: list[ToolDoc] | GraphState) -> None:
    path, graph = await sample(tmp_path / "e"), InMemoryGraph()
    await (graph.restore(other) if isinstance(other, GraphState) else graph.put_tools(other))
    before = await state(graph)
    with pytest.raises(UsageError, match="imported into an empty store"):
        await imported(path, graph)
    assert await state(graph) == before


async def test_a_store_that_has_learnt_since_is_refused(tmp_path: Path) -> None:
    path, graph = await sample(tmp_path / "e"), InMemoryGraph()
    await imported(path, graph)
    await graph.learn(walked("later", A, B))
    with pytest.raises(UsageError):
        await imported(path, graph)


async def test_other_recorded_calls_are_refused(tmp_path: Path) -> None:
    graph, recordings = await opened(tmp_path, "old")
    fresh, kept = await opened(tmp_path, "new")
    await fill(graph, recordings)
    await exported(graph, tmp_path / "e", recordings)
    await kept.add("r2", [(B, call("another"))])
    with pytest.raises(UsageError, match="recorded calls"):
        await imported(tmp_path / "e", fresh, kept)
    assert (await fresh.compute_statistics()).nodes == 0
    for store in (graph, recordings, fresh, kept):
        await store.close()


async def test_a_file_replaced_after_its_check_is_noticed(tmp_path: Path) -> None:
    path = await sample(tmp_path / "e")
    checked = await check_export(path, quiet)
    await exported(InMemoryGraph(), path)
    with pytest.raises(BrokenInputError, match="replaced"):
        await import_store(path, checked, InMemoryGraph(), None, quiet)


async def test_writers_beside_an_import_are_noticed(tmp_path: Path) -> None:
    class Shared(InMemoryGraph):
        async def restore(self, state: GraphState) -> None:
            await super().restore(state)
            await self.apply(batch("mine"))

    path = await sample(tmp_path / "e")
    with pytest.raises(UnavailableError, match="another program"):
        await imported(path, Shared())


class Busy(InMemoryGraph):
    """Somebody else writes while the edges are read."""

    async def stream_edges(self) -> AsyncIterator[Edge]:
        async for edge in super().stream_edges():
            yield edge
        await self.learn(walked("meanwhile", A, B))


async def test_an_export_of_a_store_that_learns_says_so(tmp_path: Path) -> None:
    """A server goes on learning while it is exported, for which the export need not fail; it can be imported."""
    graph = Busy()
    await fill(graph)
    assert (await exported(graph, tmp_path / "e")).learnt_meanwhile == 1
    await imported(tmp_path / "e", InMemoryGraph())


class Building(InMemoryGraph):
    """Another program puts a tool into it while it is read."""

    async def stream_edges(self) -> AsyncIterator[Edge]:
        async for edge in super().stream_edges():
            yield edge
        await self.put_tools([document(make_tool_id("c", "s", "new"))])


async def test_an_export_of_a_store_whose_tools_change_is_refused(tmp_path: Path) -> None:
    graph = Building()
    await fill(graph)
    with pytest.raises(StoreBusyError, match="tools were written to the store"):
        await exported(graph, tmp_path / "e")
    assert names(tmp_path) == []


async def test_a_failed_export_leaves_the_former_file(tmp_path: Path) -> None:
    path, graph = await sample(tmp_path / "e"), Building()
    before = path.read_bytes()
    await fill(graph)
    with pytest.raises(StoreBusyError):
        await exported(graph, path)
    assert path.read_bytes() == before
    assert names(tmp_path) == ["e"]


async def test_a_file_is_replaced_only_when_asked_to(tmp_path: Path) -> None:
    path = await sample(tmp_path / "e")
    before = path.read_bytes()
    with pytest.raises(UsageError, match="--force"):
        await export_store(InMemoryGraph(), None, path, quiet)
    assert path.read_bytes() == before
    await export_store(InMemoryGraph(), None, path, quiet, replace=True)
    assert path.read_bytes() != before


async def test_a_cancelled_export_leaves_nothing(tmp_path: Path) -> None:
    class Slow(InMemoryGraph):
        async def stream_edges(self) -> AsyncIterator[Edge]:
            reached.set()
            await asyncio.sleep(60)
            yield Edge(A, B, 1)

    reached, graph = asyncio.Event(), Slow()
    await fill(graph)
    task = asyncio.create_task(exported(graph, tmp_path / "e.gz"))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert names(tmp_path) == []


async def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UnavailableError, match="No space left on device"):
        await sample(tmp_path / "e")
    assert names(tmp_path) == []


def test_a_part_that_a_crash_left_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / "e.part").write_bytes(b"half a li")
    asyncio.run(sample(tmp_path / "e"))
    assert (tmp_path / "e").read_bytes().startswith(b'{"kind":"header"')
    assert names(tmp_path) == ["e"]


def test_two_exports_to_one_file_are_told(tmp_path: Path) -> None:
    first, second = ExportWriter(tmp_path / "e"), ExportWriter(tmp_path / "e")
    first.open(recordings=False)
    with pytest.raises(StoreBusyError, match="another process is writing"):
        second.open(recordings=False)
    second.discard()
    first.finish()
    assert (tmp_path / "e").is_file()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="cannot write"):
        ExportWriter(tmp_path / "none" / "e").open(recordings=False)
