"""Import of a file into a store: verified to its last line first, then written in an order that can be resumed."""

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
from graph.facts import Edge, GraphState, GraphStatistics
from graph.recordings import Recordings
from graph.store import GraphStore
from graph.transfer.companion_stores import CompanionItem, CompanionStores, FlowKey
from graph.transfer.comparing import Overlap, Present
from graph.transfer.exporting import Exported, Progress
from graph.transfer.lines import SOLUTIONS_SINCE, Item, Key, Node, RecordedBatch, Taught
from graph.transfer.reading import ExportReader
from graph.validation import check_documents, check_state


@dataclass(frozen=True, slots=True)
class Checked:
    """An export that was verified completely."""

    export: Exported
    finish: bool
    """True if ``FINISH`` is one of its nodes."""
    recordings: bool
    """True if it was made with the store's recorded calls."""


async def check_export(path: Path, progress: Progress) -> Checked:
    """Read an export to the end and change nothing.

    Raises:
        BrokenInputError: it is broken, cut off, changed, of another version, or no export; with its line.
        UsageError: there is no such file.
    """
    reader, finish = ExportReader(path), False
    async for chunk in _chunks(reader, "check", progress):
        _check_content(path, chunk)
        finish = finish or any(isinstance(item, Node) and item.id == FINISH for item in chunk)
    return Checked(Exported(reader.counts, reader.digest), finish, reader.recordings)


async def import_store(
    path: Path,
    checked: Checked,
    graph: GraphStore,
    recordings: Recordings | None,
    progress: Progress,
    companions: CompanionStores | None = None,
) -> int:
    """Fill an empty store with the content of an export, or resume an interrupted import.

    Returns the number of items written. ``recordings`` and the stores in ``companions`` may be None if neither the export nor the store
    has any. Nothing else may write meanwhile.

    Raises:
        UsageError: the store holds something that is not in the export; nothing was changed.
        BrokenInputError: the file is not the one that was checked.
        UnavailableError: the store cannot be written, or was written to by another program.
    """
    companions = companions or CompanionStores()
    present = await _present(path, checked, graph, recordings, progress, companions)
    reader, written, seen = ExportReader(path), 0, dict.fromkeys(present, 0)
    async for chunk in _chunks(reader, "import", progress):
        kind = type(chunk[0])
        if earlier := reader.take_earlier():
            await companions.adopt(earlier)  # before the memories: a resumed import skips those that are present
        skipped = min(max(present[kind] - seen[kind], 0), len(chunk))
        seen[kind] += len(chunk)
        if skipped < len(chunk):
            await _write(chunk[skipped:], graph, recordings, companions)
            written += len(chunk) - skipped
    _check_same(path, reader, checked)
    await _check_result(checked, reader.version, graph, recordings, companions)
    return written


async def _present(
    path: Path,
    checked: Checked,
    graph: GraphStore,
    recordings: Recordings | None,
    progress: Progress,
    companions: CompanionStores,
) -> Present:
    """Return how many items of each kind the store holds already.

    The export is compared only if the store is not empty.
    """
    overlap = Overlap(graph, recordings, companions)
    empty = await graph.statistics() == GraphStatistics(0, 0, 0, 0, 0, 0) and await companions.empty()
    if not empty or (recordings is not None and await recordings.count()):
        reader = ExportReader(path)
        async for chunk in _chunks(reader, "compare", progress):
            for item in chunk:
                await overlap.add(item)
        await overlap.end(reader.version)
        _check_same(path, reader, checked)
    return overlap.present


async def _write(
    chunk: Sequence[Item], graph: GraphStore, recordings: Recordings | None, companions: CompanionStores
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
            await graph.restore(_state(chunk))


def _check_content(path: Path, chunk: Sequence[Item]) -> None:
    """Reject what a store would refuse, before the first write: no store has written it."""
    try:
        match chunk[0]:
            case ToolDoc():
                check_documents(cast("Sequence[ToolDoc]", chunk))
            case RecordedBatch(key, _):
                check_state(GraphState(keys=[key]))
            case Memory() | Solution() | FlowKey() | FlowCount():
                pass
            case _:
                check_state(_state(chunk))
    except UsageError as error:
        raise BrokenInputError(str(error), file=str(path)) from error


def _state(chunk: Sequence[Item]) -> GraphState:
    """Build the state to restore from items of one kind."""
    match chunk[0]:
        case Node():
            return GraphState({node.id: node.facts for node in cast("Sequence[Node]", chunk)})
        case Edge():
            return GraphState(edges=cast("Sequence[Edge]", chunk))
        case Taught():
            return GraphState(lessons=[(item.tool, item.lesson) for item in cast("Sequence[Taught]", chunk)])
        case _:
            return GraphState(keys=[item.key for item in cast("Sequence[Key]", chunk)])


def _check_same(path: Path, reader: ExportReader, checked: Checked) -> None:
    """Raise ``BrokenInputError`` if the file is no longer the one that was checked."""
    if reader.digest != checked.export.digest:
        raise BrokenInputError("the file was replaced while it was imported; import again", file=str(path))


async def _check_result(
    checked: Checked, version: int, graph: GraphStore, recordings: Recordings | None, companions: CompanionStores
) -> None:
    """Raise ``UnavailableError`` if the store does not hold exactly the counts of the export."""
    counts, found = checked.export.counts, await graph.statistics()
    wanted = (counts.documents, counts.nodes - checked.finish, counts.edges, counts.keys)
    edges = found.transitions + found.finish_transitions
    calls = await recordings.count() if recordings is not None else 0
    memories = await companions.memories.count() if companions.memories is not None else 0
    solutions = await companions.solutions.count() if companions.solutions is not None else 0
    if version < SOLUTIONS_SINCE:
        solutions = counts.solutions  # they were made from memories, so the export does not count them
    if (found.documents, found.nodes, edges, found.batches) != wanted or (calls, memories, solutions) != (
        counts.calls,
        counts.memories,
        counts.solutions,
    ):
        raise UnavailableError(
            "the store was written to by another program while it was imported: stop that program, and import into a new "
            "store"
        )


async def _chunks(reader: ExportReader, stage: str, progress: Progress) -> AsyncIterator[list[Item]]:
    """Yield the chunks of an export, read in a thread, and report progress."""
    chunks = reader.chunks()
    while chunk := await asyncio.to_thread(next, chunks, None):
        yield chunk
        progress(stage, reader.position, reader.size)
