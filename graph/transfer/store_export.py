"""Export of a store to a file, in constant memory."""

import asyncio
import fcntl
import os
import threading
import zlib
from collections.abc import AsyncIterator, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

import orjson

from domain.errors import StoreBusyError, UnavailableError, UsageError
from graph.facts import GraphStatistics
from graph.recordings import RecordingStore
from graph.store import GraphStore
from graph.transfer.companion_stores import CompanionStores
from graph.transfer.export_format import (
    DIGEST_BYTES,
    FORMAT,
    VERSION,
    AppliedKey,
    ExportCounts,
    ExportItem,
    LessonEntry,
    NodeEntry,
    RecordedBatch,
    encode_item,
)

_GZIP = 16 + zlib.MAX_WBITS
"""Makes zlib write gzip's frame, without a name or a time in its header."""


class ExportWriter:
    """Writes ``path`` through ``path.part``. All methods block; they may be called from any thread.

    A name that ends in ``.gz`` is compressed. Equal stores give equal lines, and with the same zlib equal files.
    """

    def __init__(self, path: Path, *, replace: bool = False) -> None:
        self.path = path
        self.counts = ExportCounts()
        self._part = path.with_name(path.name + ".part")
        self._replace = replace
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._digest = blake2b(digest_size=DIGEST_BYTES)
        self._compressor = zlib.compressobj(6, zlib.DEFLATED, _GZIP) if path.suffix == ".gz" else None

    def open(self, *, recordings: bool) -> None:
        """Begin the file. Raises ``UsageError`` if it exists and may not be replaced.

        Like all methods it raises ``UnavailableError`` if the file cannot be written.
        """
        with self._lock, self._translate_errors():
            if self.path.is_dir() or (self.path.exists() and not self._replace):
                raise UsageError(f"{self.path} is there already: name another file, or give --force to replace it")
            self._file = self._claim_part_file()
            header: dict[str, Any] = {"kind": "header", "format": FORMAT, "version": VERSION, "recordings": recordings}
            self._write_lines(self._file, [orjson.dumps(header)])

    def write(self, items: Iterable[ExportItem]) -> None:
        """Write items, in the order of the file."""
        with self._lock, self._translate_errors():
            # None: an interruption discarded the file while this call waited for its thread.
            if self._file is not None:
                for item in items:
                    self.counts.add(item)
                    self._write_lines(self._file, encode_item(item))

    def finish(self) -> str:
        """Write the closing line, give the file its name, and return the digest of all lines above."""
        with self._lock, self._translate_errors():
            if self._file is None:
                raise UsageError(f"{self.path} is not being written")
            digest = self._digest.hexdigest()
            self._write_lines(
                self._file, [orjson.dumps({"kind": "end", "counts": asdict(self.counts), "digest": digest})]
            )
            if self._compressor:
                self._file.write(self._compressor.flush())
            self._file.flush()
            os.fsync(self._file.fileno())
            self._part.replace(self.path)
            self._file.close()
            self._file = None
            return digest

    def discard(self) -> None:
        """Remove the unfinished file; does nothing if it is finished, or was never opened."""
        with self._lock:
            if self._file is not None:
                self._part.unlink(missing_ok=True)
                with suppress(OSError):  # closing flushes what did not fit on the disk; the file is gone already
                    self._file.close()
                self._file = None

    def _claim_part_file(self) -> IO[bytes]:
        """Open the part file, empty and locked; one that a crash left behind is taken over."""
        file = self._part.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file.fileno()).st_ino != self._part.stat().st_ino:
                raise BlockingIOError  # another export finished between our open and our lock, and renamed this file
            file.truncate(0)
        except BaseException as error:
            file.close()
            if isinstance(error, BlockingIOError | FileNotFoundError):
                raise StoreBusyError(
                    f"another process is writing {self.path}: wait for it, or name another file"
                ) from error
            raise
        return file

    def _write_lines(self, file: IO[bytes], lines: Iterable[bytes]) -> None:
        """Write lines with their ends, and add them to the digest."""
        for line in lines:
            data = line + b"\n"
            self._digest.update(data)
            file.write(self._compressor.compress(data) if self._compressor else data)

    @contextmanager
    def _translate_errors(self) -> Generator[None]:
        """Turn ``OSError`` into ``UnavailableError``."""
        try:
            yield
        except OSError as error:
            raise UnavailableError(
                f"cannot write {self.path}: {error.strerror or error}. No file was left under that name; free some space "
                "or name another folder, and export again"
            ) from error


CHUNK_SIZE = 500
"""Number of items handed to the writing thread at a time."""
T = TypeVar("T")


class TransferProgress(Protocol):
    """Callback for progress, counted in items or bytes, depending on the stage."""

    def __call__(self, stage: str, done: int, total: int | None) -> None: ...


@dataclass(frozen=True, slots=True)
class ExportResult:
    """Result of an export. Equal digests mean equal stores."""

    counts: ExportCounts
    digest: str
    learnt_meanwhile: int = 0
    """Runs that a server learnt from while the graph was read; their lessons may be only partly in the file."""


async def export_store(
    graph: GraphStore,
    recordings: RecordingStore | None,
    path: Path,
    progress: TransferProgress,
    *,
    replace: bool = False,
    companions: CompanionStores | None = None,
) -> ExportResult:
    """Write the whole graph, its companion stores, and, if ``recordings`` are given, the recorded calls.

    No vectors, no settings. If it is interrupted, or on any error, no file is left under that name, and an existing one
    stays.

    Raises:
        UsageError: the file exists and ``replace`` is false.
        StoreBusyError: tools were written to the store meanwhile, so that its parts may not fit together.
        UnavailableError: the store cannot be read, or the file cannot be written.
    """
    writer = ExportWriter(path, replace=replace)
    try:
        await asyncio.to_thread(writer.open, recordings=recordings is not None)
        before = await graph.compute_statistics()
        total = before.documents + before.nodes + before.transitions + before.finish_transitions + before.batches
        async for chunk in _split_into_chunks(_list_graph_items(graph)):
            await asyncio.to_thread(writer.write, chunk)
            progress("graph", sum(asdict(writer.counts).values()), total)
        async for chunk in _split_into_chunks(_list_companion_items(companions or CompanionStores())):
            await asyncio.to_thread(writer.write, chunk)
            counts = writer.counts
            progress("memories, solutions and flows", counts.memories + counts.solutions + counts.flows, None)
        learnt_runs = _count_runs_learnt_meanwhile(writer.counts, before, await graph.compute_statistics())
        if recordings is not None:
            calls = await recordings.count()
            async for key, recorded in recordings.iterate_batches():
                await asyncio.to_thread(writer.write, [RecordedBatch(key, tuple(recorded))])
                progress("recorded calls", writer.counts.calls, calls)
        return ExportResult(writer.counts, await asyncio.to_thread(writer.finish), learnt_runs)
    finally:
        # After an interruption a thread may still be writing; discard waits for it, and nothing interrupts discard.
        await asyncio.shield(asyncio.to_thread(writer.discard))


async def _list_graph_items(graph: GraphStore) -> AsyncIterator[ExportItem]:
    """Yield the items of the graph in the order of the file."""
    async for document in graph.stream_documents():
        yield document
    async for tool, facts in graph.stream_nodes():
        yield NodeEntry(tool, facts)
    async for edge in graph.stream_edges():
        yield edge
    async for key in graph.stream_applied_keys():
        yield AppliedKey(key)
    async for tool, lesson in graph.stream_lessons():
        yield LessonEntry(tool, lesson)


async def _list_companion_items(companions: CompanionStores) -> AsyncIterator[ExportItem]:
    """Yield the items of the companion stores in the order of the file."""
    async for memory in companions.list_memories():
        yield memory
    async for solution in companions.list_solutions():
        yield solution
    async for key in companions.list_flow_keys():
        yield key
    async for flow_count in companions.list_flow_counts():
        yield flow_count


async def _split_into_chunks(items: AsyncIterator[ExportItem]) -> AsyncIterator[list[ExportItem]]:
    """Yield items in lists of :data:`CHUNK_SIZE`."""
    chunk: list[ExportItem] = []
    async for item in items:
        chunk.append(item)
        if len(chunk) == CHUNK_SIZE:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _count_runs_learnt_meanwhile(written: ExportCounts, before: GraphStatistics, after: GraphStatistics) -> int:
    """Return how many runs were learnt from while the graph was read: each adds a key.

    Raises ``StoreBusyError`` if its tools have changed. An embedded store is read from a copy of one moment; a server
    cannot hold a moment still for as long as an export takes.
    """
    # Finish is a node of the file, which the statistics leave out.
    same_tools = (before.documents, before.nodes) == (after.documents, after.nodes)
    if not same_tools or written.documents != before.documents or written.nodes - before.nodes not in (0, 1):
        raise StoreBusyError(
            "tools were written to the store while it was exported: let the other program end, and export again"
        )
    return after.batches - before.batches
