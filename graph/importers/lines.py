"""Streaming readers of record files, plain or gzipped JSONL and JSON arrays, in the memory of one record.

A broken line or archive is reported as skipped input, and a broken array as :class:`graph.importers.records.RecordError`.
"""

import io
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from graph.importers.records import MAX_RECORD, SkippedInput

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_GZIP_WINDOW = zlib.MAX_WBITS | 16
_COMPRESSED_CHUNK = 1 << 16


class GunzipReader(io.RawIOBase):
    """Stream that decompresses all members of a gzip source."""

    def __init__(self, source: IO[bytes]) -> None:
        self.problem = ""
        """Defect of the data, known once the end is reached; empty if there is none."""
        self._source = source
        self._member = zlib.decompressobj(_GZIP_WINDOW)
        self._pending_input = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer).cast("B")
        data = b""
        while not data and not self._ended:
            data = self._decompress_next(len(view))
        view[: len(data)] = data
        return len(data)

    def _decompress_next(self, limit: int) -> bytes:
        """Return some bytes, or none if more input is needed first or the end is reached."""
        if self._member.eof:  # another member may follow, after padding with zeros
            self._pending_input = (self._member.unused_data or self._source.read(_COMPRESSED_CHUNK)).lstrip(b"\0")
            self._ended = not self._pending_input
            self._member = zlib.decompressobj(_GZIP_WINDOW)
            return b""
        chunk = self._pending_input or self._source.read(_COMPRESSED_CHUNK)
        try:
            data = self._member.decompress(chunk, limit)
        except zlib.error as error:
            self._ended, self.problem = True, f"broken gzip data ({error})"
            return b""
        self._pending_input = self._member.unconsumed_tail
        if not chunk and not data:
            self._ended, self.problem = True, "the gzip data ends early"
        return data


_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_LINE_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class JsonlLine:
    """Line of a JSONL file."""

    number: int
    """Counted from 1."""
    body: bytes
    position: int
    """Bytes of the file read so far; compressed bytes if it is compressed."""


def read_lines(path: Path) -> Iterator[JsonlLine | SkippedInput]:
    """Yield all lines that are not blank, in order.

    A line longer than the limit is skipped without being held in memory. A truncated archive yields all its complete
    lines, then a message that says where it ended.
    """
    number = 0
    try:
        with _open_lines(path) as (stream, raw, gunzip):
            while body := stream.readline(MAX_RECORD + 1):
                if gunzip and gunzip.problem and not body.endswith(b"\n"):  # the archive broke in this line
                    break
                number += 1
                if len(body) > MAX_RECORD:
                    _skip_line(stream, body)
                    yield SkippedInput(str(path), number, f"a line longer than {MAX_RECORD >> 20} MiB")
                    continue
                body = body.strip() if number > 1 else body.removeprefix(_BOM).strip()
                if body:
                    yield JsonlLine(number, body, raw.tell())
            if gunzip and gunzip.problem:
                read_note = f"the {number} lines before it were read"
                yield SkippedInput(str(path), number + 1, f"{gunzip.problem}; {read_note}")
    except OSError as error:
        yield SkippedInput(str(path), number + 1 if number else None, f"cannot be read: {error.strerror or error}")


def _skip_line(stream: IO[bytes], chunk: bytes) -> None:
    """Read to the end of a line that is too long."""
    while chunk and not chunk.endswith(b"\n"):
        chunk = stream.readline(_LINE_CHUNK)


@contextmanager
def _open_lines(path: Path) -> Generator[tuple[IO[bytes], IO[bytes], GunzipReader | None]]:
    """Open the stream of lines.

    Yields it with the file below, whose position is the progress, and with the decompressor, if the file is compressed.
    """
    with path.open("rb") as raw:
        if raw.peek(2)[:2] == _GZIP:
            gunzip = GunzipReader(raw)
            yield io.BufferedReader(gunzip, 1 << 17), raw, gunzip
        else:
            yield raw, raw, None
