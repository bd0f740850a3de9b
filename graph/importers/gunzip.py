"""Gzip decompression that returns all readable data of a broken archive, where ``gzip`` would lose its buffer."""

import io
import zlib
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_GZIP_WINDOW = zlib.MAX_WBITS | 16
_PIECE = 1 << 16


class Gunzip(io.RawIOBase):
    """Stream that decompresses all members of a gzip source."""

    def __init__(self, source: IO[bytes]) -> None:
        self.problem = ""
        """Defect of the data, known once the end is reached; empty if there is none."""
        self._source = source
        self._member = zlib.decompressobj(_GZIP_WINDOW)
        self._waiting = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer).cast("B")
        data = b""
        while not data and not self._ended:
            data = self._next(len(view))
        view[: len(data)] = data
        return len(data)

    def _next(self, limit: int) -> bytes:
        """Return some bytes, or none if more input is needed first or the end is reached."""
        if self._member.eof:  # another member may follow, after padding with zeros
            self._waiting = (self._member.unused_data or self._source.read(_PIECE)).lstrip(b"\0")
            self._ended = not self._waiting
            self._member = zlib.decompressobj(_GZIP_WINDOW)
            return b""
        fed = self._waiting or self._source.read(_PIECE)
        try:
            data = self._member.decompress(fed, limit)
        except zlib.error as error:
            self._ended, self.problem = True, f"broken gzip data ({error})"
            return b""
        self._waiting = self._member.unconsumed_tail
        if not fed and not data:
            self._ended, self.problem = True, "the gzip data ends early"
        return data
