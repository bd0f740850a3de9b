"""Import into the graph: documents first, then blocks of records, each counted and applied as a whole.

The store keeps the key of every record. So an import that was interrupted, is repeated, or whose sources have grown
adds what is missing and nothing twice. The figures describe the sources, whatever the store held before.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Protocol, TypeVar

from domain.errors import BrokenInputError
from domain.tool import ToolDoc, ToolId
from domain.trajectory import SolvedRequest
from graph.blocks import Block, CountedBlock, count_block
from graph.counting import ImportTally
from graph.function_names import NameIndex
from graph.importers.records import SkippedInput
from graph.input_files import RecordSource, read_tools
from graph.recordings import RecordingStore
from graph.store import GraphStore
from graph.take_overs import ImportAdmission, TakeOver

DOCUMENTS_A_WRITE = 1_000
T = TypeVar("T")

RememberSolved = Callable[[str, Sequence[SolvedRequest]], Awaitable[None]]
"""Stores solved requests under a key; idempotent."""

CountBlock = Callable[[Block, NameIndex, frozenset[str]], Awaitable[CountedBlock]]
"""Counts one block; the third argument is the keys of records that were applied before."""
SpreadBlocks = Callable[[Iterator[Block]], AsyncIterator[tuple[Block, CountedBlock]]]
"""Counts all blocks elsewhere, on a cluster for example, and yields them in order."""


ReadDocuments = Callable[[Path, str], Iterator[ToolDoc | SkippedInput]]
"""Reads the documents of a path; relative server addresses are resolved against the given one."""


class ImportProgress(Protocol):
    """Callback for the progress of an import."""

    def __call__(self, stage: str, done: int, total: int | None) -> None: ...


@dataclass(slots=True)
class ImportResult:
    """Result of an import. Seconds are of work, added over processes."""

    documents: int = 0
    duplicates: list[ToolId] = field(default_factory=list[ToolId])
    """Ids of documents left out because an earlier, different one has the same category, tool set and name.

    Nothing in a trajectory could tell the two apart, and the public catalogues hold hundreds, so this is no broken
    input.
    """
    take_overs: list[TakeOver] = field(default_factory=list[TakeOver])
    """Documents that would turn existing tools into other ones."""
    tally: ImportTally = field(default_factory=ImportTally)
    already_known: int = 0
    """Records that the store knew."""
    skipped: list[SkippedInput] = field(default_factory=list[SkippedInput])
    parse_seconds: float = 0.0
    count_seconds: float = 0.0
    write_seconds: float = 0.0

    @property
    def refused(self) -> list[TakeOver]:
        """Take-overs that were not done."""
        return [one for one in self.take_overs if not one.replaced]


async def count_in_thread(block: Block, names: NameIndex, applied: frozenset[str]) -> CountedBlock:
    """Count a block in a thread of this process."""
    return await asyncio.to_thread(count_block, block, names, applied)


@dataclass(slots=True)
class _DocumentBatch:
    """Documents of one path."""

    new: list[ToolDoc] = field(default_factory=list[ToolDoc])
    repeated: list[ToolDoc] = field(default_factory=list[ToolDoc])
    """Documents whose id an earlier path of this import has given to a different document."""


class GraphImporter:
    """One import into one store.

    Args:
        store: The graph to import into.
        recordings: Store for recorded calls; None to import only their counts.
        progress: Called after each batch of documents and each block.
        strict: Raise the first defect instead of skipping or refusing the input.
        remember: Called with the solved requests of new, accepted trajectories.
        admission: Decides which documents may be stored; by default none that takes over another tool's id.
        documents: Reads the documents of a path.
    """

    def __init__(
        self,
        store: GraphStore,
        recordings: RecordingStore | None,
        progress: ImportProgress,
        *,
        strict: bool = False,
        remember: RememberSolved | None = None,
        admission: ImportAdmission | None = None,
        documents: ReadDocuments = read_tools,
    ) -> None:
        self._documents = documents
        self._admission = admission or ImportAdmission(store)
        self.result = ImportResult(take_overs=self._admission.take_overs)
        self._store = store
        self._recordings = recordings
        self._progress = progress
        self._strict = strict
        self._remember = remember
        self._documents_read: dict[ToolId, tuple[int, int]] = {}

    async def import_tools(self, paths: Sequence[Path], server: str = "") -> NameIndex:
        """Store the documents of all paths, and return an index of the names that the store then holds.

        ``server`` is the address that relative servers of the documents are relative to.

        Raises:
            BrokenInputError: in strict mode.
            UsageError: a path does not exist.
            UnavailableError: the store.
        """
        names = NameIndex()
        stored_documents = (await self._store.compute_statistics()).documents
        for number, path in enumerate(paths):
            documents = self._documents(path, server)
            while batch := await asyncio.to_thread(self._next_documents, documents, number):
                for document in await self._time_write(self._put_documents(batch, str(path))):
                    names.add(document)
                self._progress("tools", len(names), None)
        if stored_documents:
            async for document in self._store.stream_documents():
                names.add(document)
        self.result.documents = len(self._documents_read)
        return names

    async def import_records(
        self,
        source: RecordSource,
        names: NameIndex,
        count: CountBlock = count_in_thread,
        ahead: int = 1,
        spread: SpreadBlocks | None = None,
    ) -> None:
        """Count a source block by block and apply the blocks in order. Raises as :meth:`import_tools`.

        Args:
            source: The trajectories or calls.
            names: Index of the documents that calls are resolved to.
            count: Counts one block.
            ahead: Number of blocks that are counted while another is applied.
            spread: Counts the blocks in place of ``count``, which then only repeats blocks that overlap with another
                import.
        """
        blocks = source.blocks()
        done, empty = 0, True
        counts = spread(blocks) if spread else self._count_blocks(blocks, names, count, ahead)
        async for block, counted in counts:
            await self._apply_block(block, counted, names, count)
            done, empty = done + block.weight, False
            self._progress(source.path.name, done, source.size)
        if empty:
            self._skip(
                [SkippedInput(str(source.path), None, "nothing to read: an empty file, or a folder without *.json")]
            )

    async def _put_documents(self, batch: _DocumentBatch, source: str) -> list[ToolDoc]:
        """Put the documents that may be put. ``BrokenInputError`` in strict mode."""
        self.result.duplicates += await self._admission.check_duplicates(batch.repeated, source)
        admitted = await self._admission.admit(batch.new, source)
        if self._strict and self.result.refused:
            raise BrokenInputError(f"refused {self.result.refused[0]} (--strict stops here)", file=source)
        await self._store.put_tools(admitted)
        return admitted

    def _next_documents(self, documents: Iterator[ToolDoc | SkippedInput], path: int) -> _DocumentBatch | None:
        """Return the next documents of a path, each id once; of two different ones with one id the first counts."""
        start = perf_counter()
        batch = _DocumentBatch()
        for document in documents:
            if isinstance(document, SkippedInput):
                self._skip([document])
            else:
                self._sort_document(document, path, batch)
            if len(batch.new) + len(batch.repeated) >= DOCUMENTS_A_WRITE:
                break
        self.result.parse_seconds += perf_counter() - start
        return batch if batch.new or batch.repeated else None

    def _sort_document(self, document: ToolDoc, path: int, batch: _DocumentBatch) -> None:
        """Add a document to the batch, or to the duplicates if its path has given its id to a different one."""
        digest = hash(document.model_dump_json())
        earlier = self._documents_read.get(document.id)
        if earlier is None:
            self._documents_read[document.id] = (path, digest)
            batch.new.append(document)
        elif earlier[1] != digest and earlier[0] == path:
            self.result.duplicates.append(document.id)
        elif earlier[1] != digest:
            batch.repeated.append(document)

    async def _count_blocks(
        self, blocks: Iterator[Block], names: NameIndex, count: CountBlock, ahead: int
    ) -> AsyncIterator[tuple[Block, CountedBlock]]:
        """Yield blocks with their counts, in order."""
        pending: list[tuple[Block, asyncio.Task[CountedBlock]]] = []
        try:
            while block := await self._read_block(blocks):
                pending.append((block, asyncio.ensure_future(count(block, names, frozenset()))))
                if len(pending) > ahead:
                    block, task = pending.pop(0)
                    yield block, await task
            while pending:
                block, task = pending.pop(0)
                yield block, await task
        finally:
            for _, task in pending:
                task.cancel()

    async def _read_block(self, blocks: Iterator[Block]) -> Block | None:
        """Read the next block; None at the end."""
        start = perf_counter()
        try:
            return await asyncio.to_thread(next, blocks, None)
        finally:
            self.result.parse_seconds += perf_counter() - start

    async def _apply_block(self, block: Block, counted: CountedBlock, names: NameIndex, count: CountBlock) -> None:
        """Apply what is new in a block exactly once, even if another process imports the same records meanwhile."""
        result, records = self.result, frozenset(counted.batch.records)
        result.tally.merge(counted.tally)
        result.parse_seconds += counted.parse_seconds
        result.count_seconds += counted.count_seconds
        self._skip(counted.skipped)
        fresh = counted
        while fresh.batch.records:
            # Another import may have applied some of these records since they were counted: then count again without them.
            applied = await self._time_write(self._store.find_applied(records))
            if not applied.isdisjoint(fresh.batch.records):
                fresh = await count(block, names, frozenset(applied))
            elif await self._time_write(self._write_block(fresh)):
                break
        result.already_known += len(records) - len(fresh.batch.records)

    async def _write_block(self, counted: CountedBlock) -> bool:
        """Write a block: recorded calls, solved requests and response shapes first, its counts last.

        Stored counts mark the block as done. If the import is interrupted before, the others are written again, which
        changes nothing.
        """
        if self._recordings is not None and counted.recorded_calls:
            await self._recordings.add(counted.batch.key, counted.recorded_calls)
        if self._remember is not None and counted.solved_requests:
            await self._remember(counted.batch.key, counted.solved_requests)
        if counted.answer_shapes:
            await self._store.learn_answers(counted.answer_shapes)
        return await self._store.apply(counted.batch)

    async def _time_write(self, work: Awaitable[T]) -> T:
        """Await work on the store and add its time."""
        start = perf_counter()
        try:
            return await work
        finally:
            self.result.write_seconds += perf_counter() - start

    def _skip(self, skipped: list[SkippedInput]) -> None:
        """Record what was skipped, or raise it in strict mode."""
        if skipped and self._strict:
            first = skipped[0]
            raise BrokenInputError(f"{first.reason} (--strict stops here)", file=first.file, line=first.line)
        self.result.skipped.extend(skipped)
