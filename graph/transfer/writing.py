"""Writing an export: under another name until it is whole, the same bytes for the same lines."""

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
"""Makes zlib write gzip's frame, without a name or a time in its head."""


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
        """Begin. ``UsageError`` where the file is there and not to be replaced; ``UnavailableError`` as for all."""
        with self._lock, self._said():
            if self.path.is_dir() or (self.path.exists() and not self._replace):
                raise UsageError(f"{self.path} is there already: name another file, or give --force to replace it")
            self._file = self._claim()
            head: dict[str, Any] = {"kind": "header", "format": FORMAT, "version": VERSION, "recordings": recordings}
            self._put(self._file, [orjson.dumps(head)])

    def write(self, items: Iterable[Item]) -> None:
        """Add items, in the order of the file."""
        with self._lock, self._said():
            # None: an interruption discarded the file while this call waited for its thread.
            if self._file is not None:
                for item in items:
                    self.counts.add(item)
                    self._put(self._file, encode(item))

    def finish(self) -> str:
        """Write the closing line and give the file its name. Returns the digest of all lines above."""
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
        """Leave nothing behind; nothing to do where it is finished, or was never opened."""
        with self._lock:
            if self._file is not None:
                self._part.unlink(missing_ok=True)
                with suppress(OSError):  # what did not fit on the disk is thrown away
                    self._file.close()
                self._file = None

    def _claim(self) -> IO[bytes]:
        """The part file, empty and ours: a crash leaves one behind, which the next export takes over."""
        file = self._part.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file.fileno()).st_ino != self._part.stat().st_ino:
                raise BlockingIOError  # it was given its name just now
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
        for line in lines:
            data = line + b"\n"
            self._digest.update(data)
            file.write(self._squeeze.compress(data) if self._squeeze else data)

    @contextmanager
    def _said(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise UnavailableError(
                f"cannot write {self.path}: {error.strerror or error}. No file was left under that name; free some space "
                "or name another folder, and export again"
            ) from error
