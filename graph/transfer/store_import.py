"""Import of an export into a store: the file is verified completely, then written in an order that can be resumed."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from domain.errors import BrokenInputError, UnavailableError, UsageError
from domain.memory import Memory
from domain.solution import Solution
from domain.tool import FINISH, ToolDoc
from graph.dataflow import FlowCount
from graph.facts import Edge, GraphState, GraphStatistics, ToolFacts
from graph.recordings import RecordingStore
from graph.store import GraphStore
from graph.transfer.companion_stores import CompanionItem, CompanionStores, FlowKey
from graph.transfer.export_format import (
    SECTIONS,
    SOLUTIONS_SINCE,
    VERSION,
    AppliedKey,
    ExportItem,
    LessonEntry,
    NodeEntry,
    RecordedBatch,
    build_sort_key,
)
from graph.transfer.export_reader import ExportReader
from graph.transfer.store_export import ExportResult, TransferProgress
from graph.validation import check_documents, check_state

PresentCounts = dict[type[ExportItem], int]
"""Number of items by kind; of the present ones, as many from the first on as the store already holds."""


class ExportOverlap:
    """Compares the items of an export with those of the store, in one pass over both.

    Both are sorted, so the store is read alongside and nothing is kept in memory.
    """

    def __init__(self, graph: GraphStore, recordings: RecordingStore | None, companions: CompanionStores) -> None:
        self.present: PresentCounts = dict.fromkeys(SECTIONS, 0)
        self._seen: PresentCounts = dict.fromkeys(SECTIONS, 0)
        self._streams: dict[type[ExportItem], AsyncIterator[ExportItem]] = {
            ToolDoc: graph.stream_documents(),
            NodeEntry: _list_nodes(graph),
            Edge: graph.stream_edges(),
            AppliedKey: _list_keys(graph),
            LessonEntry: _list_lessons(graph),
            Memory: companions.list_memories(),
            Solution: companions.list_solutions(),
            FlowKey: companions.list_flow_keys(),
            FlowCount: companions.list_flow_counts(),
            RecordedBatch: _list_batches(recordings),
        }
        self._next: dict[type[ExportItem], ExportItem | None] = {}

    async def add(self, item: ExportItem) -> None:
        """Compare the next item of the export. ``UsageError`` if the store holds something else in its place."""
        kind = type(item)
        self._seen[kind] += 1
        stored = await self._peek_stored(kind)
        if stored is None or build_sort_key(stored) > build_sort_key(item):
            return
        if stored != item and not _is_blank(stored, item):
            raise _build_mismatch_error(stored)
        # Only an unbroken beginning counts: an import skips as many items as are present, from the first on.
        if stored == item and self.present[kind] == self._seen[kind] - 1:
            self.present[kind] += 1
        self._next[kind] = await anext(self._streams[kind], None)

    async def end(self, version: int = VERSION) -> None:
        """Finish the comparison with an export of this version. ``UsageError`` if the store holds more.

        Of an earlier version more solutions are allowed, since the import makes them from memories.
        """
        for kind in SECTIONS:
            if kind is Solution and version < SOLUTIONS_SINCE:
                continue
            if (stored := await self._peek_stored(kind)) is not None:
                raise _build_mismatch_error(stored)

    async def _peek_stored(self, kind: type[ExportItem]) -> ExportItem | None:
        """Return the store's next item of a kind without consuming it."""
        if kind not in self._next:
            self._next[kind] = await anext(self._streams[kind], None)
        return self._next[kind]


def _is_blank(stored: ExportItem, item: ExportItem) -> bool:
    """Return whether the stored item is the node of ``item``, created with its document and still without facts."""
    return isinstance(stored, NodeEntry) and stored.id == getattr(item, "id", None) and stored.facts == ToolFacts()


def _build_mismatch_error(stored: ExportItem) -> UsageError:
    """Build the error for an item of the store that the export does not hold."""
    description = "recorded calls" if isinstance(stored, RecordedBatch) else " -> ".join(build_sort_key(stored))
    return UsageError(
        f"the store holds something that the export does not, or holds otherwise ({type(stored).__name__} {description}). An export "
        "is imported into an empty store, or into one that an interrupted import of the same export has begun"
    )


async def _list_nodes(graph: GraphStore) -> AsyncIterator[ExportItem]:
    async for tool, facts in graph.stream_nodes():
        yield NodeEntry(tool, facts)


async def _list_keys(graph: GraphStore) -> AsyncIterator[ExportItem]:
    async for key in graph.stream_applied_keys():
        yield AppliedKey(key)


async def _list_lessons(graph: GraphStore) -> AsyncIterator[ExportItem]:
    async for tool, lesson in graph.stream_lessons():
        yield LessonEntry(tool, lesson)


async def _list_batches(recordings: RecordingStore | None) -> AsyncIterator[ExportItem]:
    if recordings is not None:
        async for key, calls in recordings.iterate_batches():
            yield RecordedBatch(key, tuple(calls))


@dataclass(frozen=True, slots=True)
class CheckedExport:
    """An export that was verified completely."""

    export: ExportResult
    """Its counts and digest."""
    finish: bool
    """True if ``FINISH`` is one of its nodes."""
    recordings: bool
    """True if it was made with the store's recorded calls."""


async def check_export(path: Path, progress: TransferProgress) -> CheckedExport:
    """Read an export to the end and change nothing.

    Raises:
        BrokenInputError: it is broken, cut off, changed, of another version, or no export; with its line.
        UsageError: there is no such file.
    """
    reader, finish = ExportReader(path), False
    async for chunk in _read_chunks(reader, "check", progress):
        _check_content(path, chunk)
        finish = finish or any(isinstance(item, NodeEntry) and item.id == FINISH for item in chunk)
    return CheckedExport(ExportResult(reader.counts, reader.digest), finish, reader.recordings)


async def import_store(
    path: Path,
    checked: CheckedExport,
    graph: GraphStore,
    recordings: RecordingStore | None,
    progress: TransferProgress,
    companions: CompanionStores | None = None,
) -> int:
    """Fill an empty store with the content of an export, or resume an interrupted import.

    Returns the number of items written. ``recordings`` and the stores in ``companions`` may be None if neither the
    export nor the store has any. Nothing else may write meanwhile.

    Raises:
        UsageError: the store holds something that is not in the export; nothing was changed.
        BrokenInputError: the file is not the one that was checked.
        UnavailableError: the store cannot be written, or was written to by another program.
    """
    companions = companions or CompanionStores()
    present = await _count_present_items(path, checked, graph, recordings, progress, companions)
    reader, written, seen = ExportReader(path), 0, dict.fromkeys(present, 0)
    async for chunk in _read_chunks(reader, "import", progress):
        kind = type(chunk[0])
        if earlier := reader.take_earlier_memories():
            await companions.adopt(earlier)  # before the memories: a resumed import skips those that are present
        skipped = min(max(present[kind] - seen[kind], 0), len(chunk))
        seen[kind] += len(chunk)
        if skipped < len(chunk):
            await _write(chunk[skipped:], graph, recordings, companions)
            written += len(chunk) - skipped
    _check_same(path, reader, checked)
    await _check_result(checked, reader.version, graph, recordings, companions)
    return written


async def _count_present_items(
    path: Path,
    checked: CheckedExport,
    graph: GraphStore,
    recordings: RecordingStore | None,
    progress: TransferProgress,
    companions: CompanionStores,
) -> PresentCounts:
    """Return how many items of each kind the store holds already.

    The export is compared only if the store is not empty.
    """
    overlap = ExportOverlap(graph, recordings, companions)
    empty = await graph.compute_statistics() == GraphStatistics(0, 0, 0, 0, 0, 0) and await companions.is_empty()
    if not empty or (recordings is not None and await recordings.count()):
        reader = ExportReader(path)
        async for chunk in _read_chunks(reader, "compare", progress):
            for item in chunk:
                await overlap.add(item)
        await overlap.end(reader.version)
        _check_same(path, reader, checked)
    return overlap.present


async def _write(
    chunk: Sequence[ExportItem], graph: GraphStore, recordings: RecordingStore | None, companions: CompanionStores
) -> None:
    """Write items of one kind, in one transaction."""
    match chunk[0]:
        case ToolDoc():
            await graph.put_tools(cast("Sequence[ToolDoc]", chunk))
        case RecordedBatch(key, calls):
            if recordings is None:
                raise UnavailableError("the export holds recorded calls, and no place was given for them")
            await recordings.add(key, calls)
        case Memory() | Solution() | FlowKey() | FlowCount():
            await companions.write(cast("Sequence[CompanionItem]", chunk))
        case _:
            await graph.restore(_build_state(chunk))


def _check_content(path: Path, chunk: Sequence[ExportItem]) -> None:
    """Raise ``BrokenInputError`` for content that a store would refuse, so that no import stops half-way."""
    try:
        match chunk[0]:
            case ToolDoc():
                check_documents(cast("Sequence[ToolDoc]", chunk))
            case RecordedBatch(key, _):
                check_state(GraphState(keys=[key]))
            case Memory() | Solution() | FlowKey() | FlowCount():
                pass
            case _:
                check_state(_build_state(chunk))
    except UsageError as error:
        raise BrokenInputError(str(error), file=str(path)) from error


def _build_state(chunk: Sequence[ExportItem]) -> GraphState:
    """Build the state to restore from items of one kind."""
    match chunk[0]:
        case NodeEntry():
            return GraphState({node.id: node.facts for node in cast("Sequence[NodeEntry]", chunk)})
        case Edge():
            return GraphState(edges=cast("Sequence[Edge]", chunk))
        case LessonEntry():
            return GraphState(lessons=[(item.tool, item.lesson) for item in cast("Sequence[LessonEntry]", chunk)])
        case _:
            return GraphState(keys=[item.key for item in cast("Sequence[AppliedKey]", chunk)])


def _check_same(path: Path, reader: ExportReader, checked: CheckedExport) -> None:
    """Raise ``BrokenInputError`` if the file is no longer the one that was checked."""
    if reader.digest != checked.export.digest:
        raise BrokenInputError("the file was replaced while it was imported; import again", file=str(path))


async def _check_result(
    checked: CheckedExport,
    version: int,
    graph: GraphStore,
    recordings: RecordingStore | None,
    companions: CompanionStores,
) -> None:
    """Raise ``UnavailableError`` if the store does not hold exactly the counts of the export."""
    counts, statistics = checked.export.counts, await graph.compute_statistics()
    expected = (counts.documents, counts.nodes - checked.finish, counts.edges, counts.keys)
    edges = statistics.transitions + statistics.finish_transitions
    calls = await recordings.count() if recordings is not None else 0
    memories = await companions.memories.count() if companions.memories is not None else 0
    solutions = await companions.solutions.count() if companions.solutions is not None else 0
    if version < SOLUTIONS_SINCE:
        solutions = counts.solutions  # they were made from memories, so the export does not count them
    if (statistics.documents, statistics.nodes, edges, statistics.batches) != expected or (
        calls,
        memories,
        solutions,
    ) != (
        counts.calls,
        counts.memories,
        counts.solutions,
    ):
        raise UnavailableError(
            "the store was written to by another program while it was imported: stop that program, and import into a new "
            "store"
        )


async def _read_chunks(reader: ExportReader, stage: str, progress: TransferProgress) -> AsyncIterator[list[ExportItem]]:
    """Yield the chunks of an export, read in a thread, and report progress."""
    chunks = reader.read_chunks()
    while chunk := await asyncio.to_thread(next, chunks, None):
        yield chunk
        progress(stage, reader.position, reader.size)
