"""Writer of an export: under another name until it is complete, the same bytes for the same lines."""

import fcntl
import os
import threading
import zlib
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import orjson

from domain.errors import StoreBusyError, UnavailableError, UsageError
from graph.transfer.lines import DIGEST_BYTES, FORMAT, VERSION, Counts, Item, encode

_GZIP = 16 + zlib.MAX_WBITS
"""Makes zlib write gzip's frame, without a name or a time in its header."""


class ExportWriter:
    """Writes ``path`` through ``path.part``. All methods block; they may be called from any thread.

    A name that ends in ``.gz`` is compressed. Equal stores give equal lines, and with the same zlib equal files.
    """

    def __init__(self, path: Path, *, replace: bool = False) -> None:
        self.path = path
        self.counts = Counts()
        self._part = path.with_name(path.name + ".part")
        self._replace = replace
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._digest = blake2b(digest_size=DIGEST_BYTES)
        self._squeeze = zlib.compressobj(6, zlib.DEFLATED, _GZIP) if path.suffix == ".gz" else None

    def open(self, *, recordings: bool) -> None:
        """Begin the file. ``UsageError`` if it exists and may not be replaced; ``UnavailableError`` as for all methods."""
        with self._lock, self._said():
            if self.path.is_dir() or (self.path.exists() and not self._replace):
                raise UsageError(f"{self.path} is there already: name another file, or give --force to replace it")
            self._file = self._claim()
            head: dict[str, Any] = {"kind": "header", "format": FORMAT, "version": VERSION, "recordings": recordings}
            self._put(self._file, [orjson.dumps(head)])

    def write(self, items: Iterable[Item]) -> None:
        """Write items, in the order of the file."""
        with self._lock, self._said():
            # None: an interruption discarded the file while this call waited for its thread.
            if self._file is not None:
                for item in items:
                    self.counts.add(item)
                    self._put(self._file, encode(item))

    def finish(self) -> str:
        """Write the closing line, give the file its name, and return the digest of all lines above."""
        with self._lock, self._said():
            if self._file is None:
                raise UsageError(f"{self.path} is not being written")
            digest = self._digest.hexdigest()
            self._put(self._file, [orjson.dumps({"kind": "end", "counts": asdict(self.counts), "digest": digest})])
            if self._squeeze:
                self._file.write(self._squeeze.flush())
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

    def _claim(self) -> IO[bytes]:
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

    def _put(self, file: IO[bytes], lines: Iterable[bytes]) -> None:
        """Write lines with their ends, and add them to the digest."""
        for line in lines:
            data = line + b"\n"
            self._digest.update(data)
            file.write(self._squeeze.compress(data) if self._squeeze else data)

    @contextmanager
    def _said(self) -> Generator[None]:
        """Turn ``OSError`` into ``UnavailableError``."""
        try:
            yield
        except OSError as error:
            raise UnavailableError(
                f"cannot write {self.path}: {error.strerror or error}. No file was left under that name; free some space "
                "or name another folder, and export again"
            ) from error
