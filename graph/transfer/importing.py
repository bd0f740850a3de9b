"""A file to a store: checked to its last line first, then written in an order that can be taken up again."""

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
    """A whole export. ``finish``: Finish is one of its nodes. ``recordings``: made with the recorded calls of the store."""

    export: Exported
    finish: bool
    recordings: bool


async def check_export(path: Path, progress: Progress) -> Checked:
    """Read it to the end and change nothing.

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
    """Make an empty store hold what the export holds. Interrupted, it goes on where it was. Returns the items written.

    ``recordings`` and what is ``companions`` may be None where neither the export nor the store has any. Nothing else may write meanwhile.

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
            await companions.adopt(earlier)  # before its memories: where they are, this is done
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
    """Items of one kind, in one transaction."""
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
    """What a store would refuse, told before the first write: no store has written it."""
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
    if reader.digest != checked.export.digest:
        raise BrokenInputError("the file was replaced while it was imported; import again", file=str(path))


async def _check_result(
    checked: Checked, version: int, graph: GraphStore, recordings: Recordings | None, companions: CompanionStores
) -> None:
    counts, found = checked.export.counts, await graph.statistics()
    wanted = (counts.documents, counts.nodes - checked.finish, counts.edges, counts.keys)
    edges = found.transitions + found.finish_transitions
    calls = await recordings.count() if recordings is not None else 0
    memories = await companions.memories.count() if companions.memories is not None else 0
    solutions = await companions.solutions.count() if companions.solutions is not None else 0
    if version < SOLUTIONS_SINCE:
        solutions = counts.solutions  # they are made of memories
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
    chunks = reader.chunks()
    while chunk := await asyncio.to_thread(next, chunks, None):
        yield chunk
        progress(stage, reader.position, reader.size)
