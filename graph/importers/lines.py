"""Lines of plain or gzipped JSONL files, read one at a time. A broken archive ends in a message, not in an exception."""

import io
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from graph.importers.gunzip import Gunzip
from graph.importers.records import MAX_RECORD, Skipped

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """Line of a JSONL file."""

    number: int
    """Counted from 1."""
    body: bytes
    position: int
    """Bytes of the file read so far; compressed bytes if it is compressed."""


def read_lines(path: Path) -> Iterator[Line | Skipped]:
    """Yield all lines that are not blank, in order.

    A line longer than the limit is skipped without being held in memory. A truncated archive yields all its complete lines, then
    a message that says where it ended.
    """
    number = 0
    try:
        with _open(path) as (stream, raw, packed):
            while body := stream.readline(MAX_RECORD + 1):
                if packed and packed.problem and not body.endswith(b"\n"):  # the archive broke in this line
                    break
                number += 1
                if len(body) > MAX_RECORD:
                    _pass_over(stream, body)
                    yield Skipped(str(path), number, f"a line longer than {MAX_RECORD >> 20} MiB")
                    continue
                body = body.strip() if number > 1 else body.removeprefix(_BOM).strip()
                if body:
                    yield Line(number, body, raw.tell())
            if packed and packed.problem:
                read = f"the {number} lines before it were read"
                yield Skipped(str(path), number + 1, f"{packed.problem}; {read}")
    except OSError as error:
        yield Skipped(str(path), number + 1 if number else None, f"cannot be read: {error.strerror or error}")


def _pass_over(stream: IO[bytes], piece: bytes) -> None:
    """Read to the end of a line that is too long."""
    while piece and not piece.endswith(b"\n"):
        piece = stream.readline(_PIECE)


@contextmanager
def _open(path: Path) -> Generator[tuple[IO[bytes], IO[bytes], Gunzip | None]]:
    """Open the stream of lines.

    Yields it with the file below, whose position is the progress, and with the decompressor, if the file is compressed.
    """
    with path.open("rb") as raw:
        if raw.peek(2)[:2] == _GZIP:
            packed = Gunzip(raw)
            yield io.BufferedReader(packed, 1 << 17), raw, packed
        else:
            yield raw, raw, None
