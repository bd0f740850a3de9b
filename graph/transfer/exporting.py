"""Export of a store to a file, in constant memory."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from domain.errors import StoreBusyError
from graph.facts import GraphStatistics
from graph.recordings import Recordings
from graph.store import GraphStore
from graph.transfer.companion_stores import CompanionStores
from graph.transfer.lines import Counts, Item, Key, Node, RecordedBatch, Taught
from graph.transfer.writing import ExportWriter

AT_ONCE = 500
"""Number of items handed to the writing thread at a time."""
T = TypeVar("T")


class Progress(Protocol):
    """Callback for progress, counted in items or bytes, depending on the stage."""

    def __call__(self, stage: str, done: int, total: int | None) -> None: ...


@dataclass(frozen=True, slots=True)
class Exported:
    """Result of an export. Equal digests mean equal stores."""

    counts: Counts
    digest: str
    learnt_meanwhile: int = 0
    """Runs that a server learnt from while the graph was read; their lessons may be only partly in the file."""


async def export_store(
    graph: GraphStore,
    recordings: Recordings | None,
    path: Path,
    progress: Progress,
    *,
    replace: bool = False,
    companions: CompanionStores | None = None,
) -> Exported:
    """Write the whole graph, its companion stores, and, if ``recordings`` are given, the recorded calls.

    No vectors, no settings. If it is interrupted, or on any error, no file is left under that name, and an existing one stays.

    Raises:
        UsageError: the file exists and ``replace`` is false.
        StoreBusyError: tools were written to the store meanwhile, so that its parts may not fit together.
        UnavailableError: the store cannot be read, or the file cannot be written.
    """
    writer = ExportWriter(path, replace=replace)
    try:
        await asyncio.to_thread(writer.open, recordings=recordings is not None)
        before = await graph.statistics()
        total = before.documents + before.nodes + before.transitions + before.finish_transitions + before.batches
        async for chunk in _chunks(_items(graph)):
            await asyncio.to_thread(writer.write, chunk)
            progress("graph", sum(asdict(writer.counts).values()), total)
        async for chunk in _chunks(_remembered(companions or CompanionStores())):
            await asyncio.to_thread(writer.write, chunk)
            told = writer.counts
            progress("memories, solutions and flows", told.memories + told.solutions + told.flows, None)
        learnt = _learnt_meanwhile(writer.counts, before, await graph.statistics())
        if recordings is not None:
            calls = await recordings.count()
            async for key, recorded in recordings.batches():
                await asyncio.to_thread(writer.write, [RecordedBatch(key, tuple(recorded))])
                progress("recorded calls", writer.counts.calls, calls)
        return Exported(writer.counts, await asyncio.to_thread(writer.finish), learnt)
    finally:
        # After an interruption a thread may still be writing; discard waits for it, and nothing interrupts discard.
        await asyncio.shield(asyncio.to_thread(writer.discard))


async def _items(graph: GraphStore) -> AsyncIterator[Item]:
    """Yield the items of the graph in the order of the file."""
    async for document in graph.documents():
        yield document
    async for tool, facts in graph.nodes():
        yield Node(tool, facts)
    async for edge in graph.edges():
        yield edge
    async for key in graph.applied_keys():
        yield Key(key)
    async for tool, lesson in graph.all_lessons():
        yield Taught(tool, lesson)


async def _remembered(companions: CompanionStores) -> AsyncIterator[Item]:
    """Yield the items of the companion stores in the order of the file."""
    async for memory in companions.all_memories():
        yield memory
    async for solution in companions.all_solutions():
        yield solution
    async for key in companions.flow_keys():
        yield key
    async for counted in companions.flow_counts():
        yield counted


async def _chunks(items: AsyncIterator[Item]) -> AsyncIterator[list[Item]]:
    """Yield items in lists of :data:`AT_ONCE`."""
    chunk: list[Item] = []
    async for item in items:
        chunk.append(item)
        if len(chunk) == AT_ONCE:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _learnt_meanwhile(written: Counts, before: GraphStatistics, after: GraphStatistics) -> int:
    """Return how many runs were learnt from while the graph was read: each adds a key.

    Raises ``StoreBusyError`` if its tools have changed. An embedded store is read from a copy of one moment; a server cannot hold a moment
    still for as long as an export takes.
    """
    # Finish is a node of the file, which the statistics leave out.
    tools = (before.documents, before.nodes) == (after.documents, after.nodes)
    if not tools or written.documents != before.documents or written.nodes - before.nodes not in (0, 1):
        raise StoreBusyError(
            "tools were written to the store while it was exported: let the other program end, and export again"
        )
    return after.batches - before.batches
