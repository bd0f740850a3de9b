"""Import into the graph: documents first, then blocks of records, each counted and applied whole.

The key of every record is remembered by the store, so an import that was interrupted, or is repeated, or whose sources
have grown, adds what is missing and nothing twice. The figures describe the sources, whatever the store held before.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Protocol, TypeVar

from domain.errors import BrokenInputError
from domain.tool import ToolDoc, ToolId
from domain.trajectory import Solved
from graph.blocks import Block, Counted, count_block
from graph.counting import Tally
from graph.function_names import NameIndex
from graph.importers.records import Skipped
from graph.recordings import Recordings
from graph.sources import Source, read_tools
from graph.store import GraphStore
from graph.take_overs import Admission, TakeOver

DOCUMENTS_A_WRITE = 1_000
T = TypeVar("T")

Remember = Callable[[str, Sequence[Solved]], Awaitable[None]]
"""Keeps solved requests under a key, each once even if called repeatedly."""

Count = Callable[[Block, NameIndex, frozenset[str]], Awaitable[Counted]]
"""Counts one block; the third argument is the keys of records that were applied before."""
Spread = Callable[[Iterator[Block]], AsyncIterator[tuple[Block, Counted]]]
"""Counts all blocks elsewhere, on a cluster for example, and returns them in order."""


Documents = Callable[[Path, str], Iterator[ToolDoc | Skipped]]
"""Reads the documents of a path; relative server addresses are resolved against the given one."""


class Progress(Protocol):
    """Callback for the progress of an import."""

    def __call__(self, stage: str, done: int, total: int | None) -> None: ...


@dataclass(slots=True)
class Ingested:
    """Result of an import. Seconds are of work, added over processes."""

    documents: int = 0
    duplicates: list[ToolId] = field(default_factory=list[ToolId])
    """Ids of documents left out because an earlier, different one has the same category, tool set and name.

    Nothing in a trajectory could tell the two apart, and the public catalogues hold hundreds, so this is no broken input.
    """
    take_overs: list[TakeOver] = field(default_factory=list[TakeOver])
    """Documents that would turn existing tools into other ones."""
    tally: Tally = field(default_factory=Tally)
    already: int = 0
    """Records that the store knew."""
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    parse_seconds: float = 0.0
    count_seconds: float = 0.0
    write_seconds: float = 0.0

    @property
    def refused(self) -> list[TakeOver]:
        """Take-overs that were not done."""
        return [one for one in self.take_overs if not one.replaced]


async def count_here(block: Block, names: NameIndex, applied: frozenset[str]) -> Counted:
    """Count a block in a thread of this process."""
    return await asyncio.to_thread(count_block, block, names, applied)


@dataclass(slots=True)
class _Batch:
    """Documents of one path."""

    new: list[ToolDoc] = field(default_factory=list[ToolDoc])
    again: list[ToolDoc] = field(default_factory=list[ToolDoc])
    """Documents whose id an earlier path of this import has given to a different document."""


class Ingest:
    """One import into one store.

    ``strict``: the first thing that would be skipped or refused is raised instead. ``remember``: called with the solved
    requests of new, accepted trajectories. ``admission``: which documents may be put; by default none that takes over another tool's id.
    """

    def __init__(
        self,
        store: GraphStore,
        recordings: Recordings | None,
        progress: Progress,
        *,
        strict: bool = False,
        remember: Remember | None = None,
        admission: Admission | None = None,
        documents: Documents = read_tools,
    ) -> None:
        self._documents = documents
        self._admission = admission or Admission(store)
        self.result = Ingested(take_overs=self._admission.take_overs)
        self._store = store
        self._recordings = recordings
        self._progress = progress
        self._strict = strict
        self._remember = remember
        self._read_in: dict[ToolId, tuple[int, int]] = {}

    async def tools(self, paths: Sequence[Path], server: str = "") -> NameIndex:
        """Put all documents, and return the names of all that the store then holds.

        Raises:
            BrokenInputError: in strict mode.
            UsageError: a path does not exist.
            UnavailableError: the store.
        """
        names = NameIndex()
        known = (await self._store.statistics()).documents
        for number, path in enumerate(paths):
            documents = self._documents(path, server)
            while batch := await asyncio.to_thread(self._next_documents, documents, number):
                for document in await self._timed(self._put(batch, str(path))):
                    names.add(document)
                self._progress("tools", len(names), None)
        if known:
            async for document in self._store.documents():
                names.add(document)
        self.result.documents = len(self._read_in)
        return names

    async def records(
        self,
        source: Source,
        names: NameIndex,
        count: Count = count_here,
        ahead: int = 1,
        spread: Spread | None = None,
    ) -> None:
        """Count and apply a source; ``ahead`` blocks are counted at once, and applied in order. Raises as ``tools``.

        With ``spread`` the blocks are counted by it, and ``count`` only repeats those that met another import.
        """
        blocks = source.blocks()
        done, empty = 0, True
        counts = spread(blocks) if spread else self._counted(blocks, names, count, ahead)
        async for block, counted in counts:
            await self._settle(block, counted, names, count)
            done, empty = done + block.weight, False
            self._progress(source.path.name, done, source.size)
        if empty:
            self._skip([Skipped(str(source.path), None, "nothing to read: an empty file, or a folder without *.json")])

    async def _put(self, batch: _Batch, source: str) -> list[ToolDoc]:
        """Put the documents that may be put. ``BrokenInputError`` in strict mode."""
        self.result.duplicates += await self._admission.of_two(batch.again, source)
        admitted = await self._admission.admitted(batch.new, source)
        if self._strict and self.result.refused:
            raise BrokenInputError(f"refused {self.result.refused[0]} (--strict stops here)", file=source)
        await self._store.put_tools(admitted)
        return admitted

    def _next_documents(self, documents: Iterator[ToolDoc | Skipped], path: int) -> _Batch | None:
        """Return the next documents of a path, each id once; of two different ones with one id the first counts."""
        start = perf_counter()
        batch = _Batch()
        for document in documents:
            if isinstance(document, Skipped):
                self._skip([document])
            else:
                self._sort_in(document, path, batch)
            if len(batch.new) + len(batch.again) >= DOCUMENTS_A_WRITE:
                break
        self.result.parse_seconds += perf_counter() - start
        return batch if batch.new or batch.again else None

    def _sort_in(self, document: ToolDoc, path: int, batch: _Batch) -> None:
        """Add a document to the batch, or to the duplicates if its path has given its id to a different one."""
        digest = hash(document.model_dump_json())
        known = self._read_in.get(document.id)
        if known is None:
            self._read_in[document.id] = (path, digest)
            batch.new.append(document)
        elif known[1] != digest and known[0] == path:
            self.result.duplicates.append(document.id)
        elif known[1] != digest:
            batch.again.append(document)

    async def _counted(
        self, blocks: Iterator[Block], names: NameIndex, count: Count, ahead: int
    ) -> AsyncIterator[tuple[Block, Counted]]:
        """Yield blocks with their counts, in order."""
        pending: list[tuple[Block, asyncio.Task[Counted]]] = []
        try:
            while block := await self._read(blocks):
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

    async def _read(self, blocks: Iterator[Block]) -> Block | None:
        """Read the next block; None at the end."""
        start = perf_counter()
        try:
            return await asyncio.to_thread(next, blocks, None)
        finally:
            self.result.parse_seconds += perf_counter() - start

    async def _settle(self, block: Block, counted: Counted, names: NameIndex, count: Count) -> None:
        """Apply what is new in a block, once, even if another process imports the same at this moment."""
        result, records = self.result, frozenset(counted.batch.records)
        result.tally.merge(counted.tally)
        result.parse_seconds += counted.parse_seconds
        result.count_seconds += counted.count_seconds
        self._skip(counted.skipped)
        new = counted
        while new.batch.records:
            # Another import may have applied some of these records since they were counted: then count again without them.
            applied = await self._timed(self._store.applied(records))
            if not applied.isdisjoint(new.batch.records):
                new = await count(block, names, frozenset(applied))
            elif await self._timed(self._apply(new)):
                break
        result.already += len(records) - len(new.batch.records)

    async def _apply(self, counted: Counted) -> bool:
        """Write a block, responses and solved requests first.

        They are kept once, too, and a block whose counts are stored is never read again, so counts come last.
        """
        if self._recordings is not None and counted.recorded:
            await self._recordings.add(counted.batch.key, counted.recorded)
        if self._remember is not None and counted.solved:
            await self._remember(counted.batch.key, counted.solved)
        if counted.answers:
            await self._store.learn_answers(counted.answers)
        return await self._store.apply(counted.batch)

    async def _timed(self, work: Awaitable[T]) -> T:
        """Await work on the store and add its time."""
        start = perf_counter()
        try:
            return await work
        finally:
            self.result.write_seconds += perf_counter() - start

    def _skip(self, skipped: list[Skipped]) -> None:
        """Record what was skipped, or raise it in strict mode."""
        if skipped and self._strict:
            first = skipped[0]
            raise BrokenInputError(f"{first.reason} (--strict stops here)", file=first.file, line=first.line)
        self.result.skipped.extend(skipped)
