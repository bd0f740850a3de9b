"""Reads an export line by line and verifies its order, counts and digest; errors name the file and the line."""

import gzip
import io
import os
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import blake2b
from itertools import groupby, islice
from pathlib import Path
from typing import IO, Any

from domain.errors import BrokenInputError, UsageError
from domain.memory import LegacyMemory
from domain.tool import ToolDoc
from graph.transfer import export_format as form
from graph.transfer.companion_stores import decode_earlier_memory
from graph.transfer.export_format import (
    DIGEST_BYTES,
    FORMAT,
    READABLE_VERSIONS,
    SECTIONS,
    VERSION,
    ExportCounts,
    ExportItem,
    RecordedBatch,
)
from graph.transfer.line_fields import LineError

CHUNK_SIZES: dict[type[ExportItem], int] = {ToolDoc: 500, RecordedBatch: 1}
_NEWER_COUNTS = {"lessons": 0, "memories": 0, "solutions": 0, "flow_keys": 0, "flows": 0}
"""Counts that the closing line of an older version lacks, because it had no such items."""
_GZIP = b"\x1f\x8b"
_MAX_LINE_BYTES = 256 << 20
"""Four times the limit of one imported record, :data:`graph.importers.records.MAX_RECORD`."""


class ExportReader:
    """One pass over an export.

    Attributes:
        size: Bytes of the file.
        position: Bytes of the file read so far.
        counts: Items read so far.
        digest: Digest of the lines; empty until the end is reached.
        recordings: Whether the export was made with recorded calls; known after the header, as is ``version``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self.position = 0
        self.counts = ExportCounts()
        self.digest = ""
        self.recordings = False
        self.version = VERSION
        self._earlier: list[LegacyMemory] = []
        self._number = 0
        self._hash = blake2b(digest_size=DIGEST_BYTES)

    def read_chunks(self) -> Iterator[list[ExportItem]]:
        """Yield the items in order, in lists of one kind that are small enough for one transaction."""
        for kind, items in groupby(self.read_items(), type):
            while chunk := list(islice(items, CHUNK_SIZES.get(kind, 5_000))):
                yield chunk

    def read_items(self) -> Iterator[ExportItem]:
        """Yield all items, in order.

        Raises:
            BrokenInputError: at the first line that is wrong, or at the end if the lines are not those written.
            UsageError: there is no such file.
        """
        with self._translate_errors(), self._open() as lines:
            self._read_header(lines)
            section, last = 0, ("",)
            for line in lines:
                if (item := self._read_item(line, lines)) is None:
                    if next(lines, None) is not None:
                        raise LineError("there is more after the closing line")
                    return
                # Recorded batches have no sort key: they stay in the order in which they were added.
                sort_position = SECTIONS.index(type(item)), form.build_sort_key(item)
                if sort_position[0] < section or (
                    sort_position[0] == section and sort_position[1] and sort_position[1] <= last
                ):
                    raise LineError("it does not come after the line above in the order of an export")
                section, last = sort_position
                self.counts.add(item)
                yield item
            raise LineError("the file ends without its closing line: it was cut off")

    def take_earlier_memories(self) -> list[LegacyMemory]:
        """Return the memories with programs of an earlier version that were read since the last call."""
        earlier, self._earlier = self._earlier, []
        return earlier

    def _read_header(self, lines: Iterator[bytes]) -> None:
        """Read the header; raise :class:`LineError` if the file is no export, or of a version that cannot be read."""
        message = f"no export of Footpath: the first line does not say {FORMAT}"
        try:
            header = form.parse_line(next(lines, b""))
        except LineError as error:
            raise LineError(message) from error
        if header.get("format") != FORMAT:
            raise LineError(message)
        if header.get("version") not in READABLE_VERSIONS:
            raise LineError(
                f"an export of version {header.get('version')}, while this Footpath reads versions up to {VERSION}: import it with "
                "the Footpath that wrote it, or one as new"
            )
        self.recordings = header.get("recordings") is True
        self.version = header["version"]

    def _read_item(self, line: bytes, lines: Iterator[bytes]) -> ExportItem | None:
        """Return the item that begins with this line; None for the closing line, after verifying it."""
        if form.is_document(line):
            return form.decode_document(line)
        if form.is_solution(line):
            return form.decode_solution(line)
        content = form.parse_line(line)
        if content["kind"] == "batch":
            key, number = form.decode_batch(content)
            calls = tuple(form.decode_call(form.parse_line(call)) for call in islice(lines, number))
            if len(calls) != number:
                raise LineError("the file ends within the recorded calls of a batch: it was cut off")
            return RecordedBatch(key, calls)
        if content["kind"] == "end":
            self._check_end(content)
            return None
        if (earlier := decode_earlier_memory(content)) is not None:
            self._earlier.append(earlier)
        return form.decode_item(content)

    def _check_end(self, content: dict[str, Any]) -> None:
        """Verify counts and digest of the closing line."""
        counts: Any = content.get("counts")
        if not isinstance(counts, dict) or {**_NEWER_COUNTS, **counts} != asdict(self.counts):
            raise LineError(f"the closing line counts {counts}, the file holds {asdict(self.counts)}")
        self.digest = self._hash.hexdigest()
        if content.get("digest") != self.digest:
            raise LineError("the file was changed after it was written: its lines do not have the digest that it names")

    def _read_lines(self, stream: IO[bytes], raw: IO[bytes]) -> Iterator[bytes]:
        """Yield lines without their ends. The digest covers all lines before the current one.

        A line is added only when the next is read, because the closing line holds the digest of all lines before it.
        """
        above = b""
        while line := stream.readline(_MAX_LINE_BYTES + 1):
            self._hash.update(above)
            self._number += 1
            self.position = raw.tell()
            if len(line) > _MAX_LINE_BYTES:
                raise LineError(f"a line longer than {_MAX_LINE_BYTES >> 20} MiB")
            if not line.endswith(b"\n"):
                raise LineError("the file ends within a line: it was cut off")
            yield line[:-1]
            above = line

    @contextmanager
    def _open(self) -> Generator[Iterator[bytes]]:
        """Open the file, decompressed if it is gzip, and return its lines."""
        with self.path.open("rb") as raw:
            self.size = os.fstat(raw.fileno()).st_size
            if raw.peek(2)[:2] == _GZIP:
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield self._read_lines(io.BufferedReader(unpacked, 1 << 17), raw)
            else:
                yield self._read_lines(raw, raw)

    @contextmanager
    def _translate_errors(self) -> Generator[None]:
        """Turn errors into those that name the file and the line."""
        try:
            yield
        except LineError as error:
            raise BrokenInputError(str(error), file=str(self.path), line=self._number or None) from error
        except EOFError as error:
            message = "the compressed data ends early: the file was cut off"
            raise BrokenInputError(message, file=str(self.path), line=self._number + 1) from error
        except (zlib.error, gzip.BadGzipFile) as error:
            message = f"broken compressed data ({error})"
            raise BrokenInputError(message, file=str(self.path), line=self._number + 1) from error
        except (FileNotFoundError, IsADirectoryError) as error:
            raise UsageError(f"{self.path}: there is no such file") from error
        except OSError as error:
            raise BrokenInputError(f"cannot be read: {error.strerror or error}", file=str(self.path)) from error
