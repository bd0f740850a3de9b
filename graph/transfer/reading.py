"""Reader of an export, line by line; errors name the file and the line."""

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
from domain.memory import EarlierMemory
from domain.tool import ToolDoc
from graph.transfer import lines as form
from graph.transfer.companion_stores import earlier_of
from graph.transfer.fields import LineError
from graph.transfer.lines import (
    DIGEST_BYTES,
    FORMAT,
    READABLE,
    SECTIONS,
    VERSION,
    Counts,
    Item,
    RecordedBatch,
)

AT_ONCE: dict[type[Item], int] = {ToolDoc: 500, RecordedBatch: 1}
_LATER = {"lessons": 0, "memories": 0, "solutions": 0, "flow_keys": 0, "flows": 0}
"""Counts that an older version does not have, since it had no such items."""
_GZIP = b"\x1f\x8b"
_LONGEST = 256 << 20
"""Maximum bytes of a line: four times what an importer reads as one record."""


class ExportReader:
    """One pass over an export.

    ``position`` is the number of bytes of the file read so far; ``digest`` is known at the end.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self.position = 0
        self.counts = Counts()
        self.digest = ""
        self.recordings = False
        self.version = VERSION
        self._earlier: list[EarlierMemory] = []
        self._number = 0
        self._hash = blake2b(digest_size=DIGEST_BYTES)

    def chunks(self) -> Iterator[list[Item]]:
        """Yield the items in order, as many of one kind at a time as fit one transaction."""
        for kind, items in groupby(self.items(), type):
            while chunk := list(islice(items, AT_ONCE.get(kind, 5_000))):
                yield chunk

    def items(self) -> Iterator[Item]:
        """Yield all items, in order.

        Raises:
            BrokenInputError: at the first line that is wrong, or at the end if the lines are not those written.
            UsageError: there is no such file.
        """
        with self._told(), self._open() as lines:
            self._head(lines)
            section, last = 0, ("",)
            for line in lines:
                if (item := self._item(line, lines)) is None:
                    if next(lines, None) is not None:
                        raise LineError("there is more after the closing line")
                    return
                # Recorded batches have no sort key: they stay in the order in which they were added.
                here = SECTIONS.index(type(item)), form.place(item)
                if here[0] < section or (here[0] == section and here[1] and here[1] <= last):
                    raise LineError("it does not come after the line above in the order of an export")
                section, last = here
                self.counts.add(item)
                yield item
            raise LineError("the file ends without its closing line: it was cut off")

    def take_earlier(self) -> list[EarlierMemory]:
        """Return and forget the memories with programs of an earlier version that were read since the last call."""
        taken, self._earlier = self._earlier, []
        return taken

    def _head(self, lines: Iterator[bytes]) -> None:
        """Read the header; raise :class:`LineError` if the file is no export, or of a version that cannot be read."""
        wrong = f"no export of Footpath: the first line does not say {FORMAT}"
        try:
            head = form.parse(next(lines, b""))
        except LineError as error:
            raise LineError(wrong) from error
        if head.get("format") != FORMAT:
            raise LineError(wrong)
        if head.get("version") not in READABLE:
            raise LineError(
                f"an export of version {head.get('version')}, while this Footpath reads versions up to {VERSION}: import it with "
                "the Footpath that wrote it, or one as new"
            )
        self.recordings = head.get("recordings") is True
        self.version = head["version"]

    def _item(self, line: bytes, lines: Iterator[bytes]) -> Item | None:
        """Return the item that begins with this line; None for the closing line, which was right."""
        if form.is_document(line):
            return form.decode_document(line)
        if form.is_solution(line):
            return form.decode_solution(line)
        content = form.parse(line)
        if content["kind"] == "batch":
            key, number = form.decode_batch(content)
            calls = tuple(form.decode_call(form.parse(call)) for call in islice(lines, number))
            if len(calls) != number:
                raise LineError("the file ends within the recorded calls of a batch: it was cut off")
            return RecordedBatch(key, calls)
        if content["kind"] == "end":
            self._check_end(content)
            return None
        if (earlier := earlier_of(content)) is not None:
            self._earlier.append(earlier)
        return form.decode(content)

    def _check_end(self, content: dict[str, Any]) -> None:
        """Verify counts and digest of the closing line."""
        counts: Any = content.get("counts")
        if not isinstance(counts, dict) or {**_LATER, **counts} != asdict(self.counts):
            raise LineError(f"the closing line counts {counts}, the file holds {asdict(self.counts)}")
        self.digest = self._hash.hexdigest()
        if content.get("digest") != self.digest:
            raise LineError("the file was changed after it was written: its lines do not have the digest that it names")

    def _lines(self, stream: IO[bytes], raw: IO[bytes]) -> Iterator[bytes]:
        """Yield lines without their ends. The digest covers the lines above the current one."""
        above = b""
        while line := stream.readline(_LONGEST + 1):
            self._hash.update(above)
            self._number += 1
            self.position = raw.tell()
            if len(line) > _LONGEST:
                raise LineError(f"a line longer than {_LONGEST >> 20} MiB")
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
                    yield self._lines(io.BufferedReader(unpacked, 1 << 17), raw)
            else:
                yield self._lines(raw, raw)

    @contextmanager
    def _told(self) -> Generator[None]:
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
