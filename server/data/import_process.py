"""The process that reads what an administrator imports: it bounds itself, and writes the documents that it found, what is left out, and a preview.

Started by :mod:`server.data.import_reading` only.
"""

import asyncio
import resource
import shutil
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

import orjson

from admission.document_check import check_document
from admission.known_names import KnownNames
from domain.errors import FootpathError
from domain.tool import ToolDoc
from graph.blocks import RecordKind, count_block
from graph.function_names import NameIndex
from graph.importers.lines import JsonlLine, read_lines
from graph.importers.records import SkippedInput
from graph.input_files import read_records, read_tools
from graph.transfer.export_format import FORMAT
from graph.transfer.store_import import check_export
from server.data.import_limits import ImportLimits
from server.data.import_preview import FIRST, Holds, Left, Preview, ReadFile

DOCUMENTS, KEPT_OUT, LEFT, PREVIEW, UNPACKED = (
    "documents.jsonl", "kept-out.jsonl", "left.jsonl", "preview.json", "unpacked",
)  # fmt: skip
_OUT_OF_MEMORY = 3
_SAID = 500
_DOCUMENTS = (".json", ".yaml", ".yml")


def main() -> int:
    """Read what stands in the input, and write the rest."""
    wanted: dict[str, Any] = orjson.loads(sys.stdin.buffer.read())
    limits = ImportLimits(**wanted["limits"])
    _bind(limits)
    try:
        with Reading(Path(wanted["out"]), str(wanted["server"]), limits) as reading:
            for one in wanted["files"]:
                reading.read(Path(one["path"]), one["holds"])
            reading.end()
    except FootpathError as error:
        _tell({"error": str(error)})
    except RecursionError:
        _tell({"error": "a record is nested too deeply to be read; leave it out"})
    except (MemoryError, SystemError):  # C code that finds no memory may say either
        return _OUT_OF_MEMORY
    except Exception as error:  # noqa: BLE001  # whatever a stranger's file leads to is told of that file
        _tell({"error": f"something cannot be read ({type(error).__name__}: {str(error)[:200]})"})
    return 0


def _bind(limits: ImportLimits) -> None:
    bounds = [
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_CPU, limits.cpu),
        (resource.RLIMIT_FSIZE, limits.file),
        (resource.RLIMIT_CORE, 0),
    ]
    if sys.platform == "linux":
        bounds.append((resource.RLIMIT_AS, limits.memory))
    for what, bound in bounds:
        _, hard = resource.getrlimit(what)
        most = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(what, (most, most))


def _tell(line: dict[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(line) + b"\n")
    sys.stdout.buffer.flush()


class Reading:
    """Of all files of an import, one after another."""

    def __init__(self, out: Path, server: str, limits: ImportLimits) -> None:
        self._out = out
        self._server = server
        self._limits = limits
        self._found = Preview()
        self._names = KnownNames()
        self._files: dict[str, BinaryIO] = {}

    def __enter__(self) -> Self:
        self._files = {name: (self._out / name).open("wb") for name in (DOCUMENTS, KEPT_OUT, LEFT)}
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()

    def read(self, path: Path, holds: Holds) -> None:
        """One file, whatever it holds."""
        name = path.name
        if path.suffix == ".zip":
            path = self._unpacked(path)
        holds = holds or guessed(path)
        self._found.files.append(ReadFile(name=name, holds=holds))
        _tell({"file": name, "holds": holds})
        match holds:
            case "tools":
                self._tools(path)
            case "store":
                self._store(path)
            case _:
                self._records(path, cast("RecordKind", holds))

    def end(self) -> None:
        """Say what was found."""
        (self._out / PREVIEW).write_text(self._found.model_dump_json(indent=2), encoding="utf-8")

    def _tools(self, path: Path) -> None:
        for one in chain.from_iterable(read_tools(each, self._server) for each in tool_files(path)):
            if isinstance(one, SkippedInput):
                self._skip(one)
                continue
            findings = list(check_document(one, self._names))
            if failed := [finding for finding in findings if finding.is_blocking]:
                self._keep_out(one, path.name, failed[0].told)
                continue
            self._found.warned += any(finding.verdict == "warned" for finding in findings)
            self._found.tools += 1
            self._found.changing += not one.safe
            self._found.without_address += not one.url
            self._files[DOCUMENTS].write(one.model_dump_json().encode() + b"\n")
            self._count(path.name)

    def _records(self, path: Path, kind: "RecordKind") -> None:
        source, done = read_records(path, kind), 0
        for block in source.blocks():
            counted = count_block(block, NameIndex())
            for one in counted.skipped:
                self._skip(one)
            records = len(counted.batch.records)
            if kind == "calls":
                self._found.calls += records
            else:
                self._found.trajectories += records
            done += block.weight
            self._count(path.name, records, done, source.size)

    def _store(self, path: Path) -> None:
        name = path.name

        def told(stage: str, done: int, total: int | None) -> None:
            _tell({"file": name, "stage": stage, "done": done, "total": total})

        checked = asyncio.run(check_export(path, told))
        counts = checked.export.counts
        items = sum(asdict(counts).values())
        self._found.items += items
        self._found.tools += counts.documents
        self._count(name, items)

    def _count(self, name: str, more: int = 1, done: int | None = None, total: int | None = None) -> None:
        file = self._found.files[-1]
        file.count += more
        if more > 1 or file.count % 500 == 0:
            _tell({"file": name, "done": file.count if done is None else done, "total": total})

    def _skip(self, one: SkippedInput) -> None:
        self._found.skipped += 1
        self._leave(Left(file=Path(one.file).name, line=one.line, why=one.reason[:_SAID]), self._found.first_skipped)

    def _keep_out(self, tool: ToolDoc, file: str, why: str) -> None:
        self._found.kept_out += 1
        self._files[KEPT_OUT].write(tool.model_dump_json().encode() + b"\n")
        self._leave(Left(file=file, tool=tool.id[:_SAID], why=why[:_SAID]), self._found.first_kept_out)

    def _leave(self, left: Left, shown: list[Left]) -> None:
        self._files[LEFT].write(left.model_dump_json().encode() + b"\n")
        if len(shown) < FIRST:
            shown.append(left)

    def _unpacked(self, archive: Path) -> Path:
        """The folder of what is in it; where that is one folder alone, that one."""
        place = self._out / UNPACKED / str(len(self._found.files))
        place.mkdir(parents=True)
        left = self._limits.unpacked
        with zipfile.ZipFile(archive) as opened:
            held = [one for one in opened.infolist() if not one.is_dir()]
            if len(held) > self._limits.files:
                raise FootpathError(f"{archive.name} holds more than {self._limits.files:,} files; send fewer")
            for one in held:
                left -= one.file_size
                to = (place / one.filename).resolve()
                if left < 0 or not to.is_relative_to(place.resolve()):
                    raise FootpathError(f"{archive.name} unpacks to too much, or elsewhere; send it in another form")
                to.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(one) as source, to.open("wb") as file:
                    shutil.copyfileobj(source, file)
        inside = list(place.iterdir())
        return inside[0] if len(inside) == 1 else place


def tool_files(path: Path) -> list[Path]:
    """A folder of documents is each of them; any other path is itself."""
    files = sorted(one for one in path.iterdir() if one.is_file()) if path.is_dir() else []
    documents = [one for one in files if one.suffix in _DOCUMENTS]
    return documents or [path]


def guessed(path: Path) -> Holds:
    """What a file seems to hold, by its first record; a folder, or one document, holds tools."""
    if path.is_dir() or path.suffix in (*_DOCUMENTS, ".csv"):
        return "tools"
    for line in _records_of(path):
        if FORMAT.encode() in line[:200]:
            return "store"
        record = cast("dict[str, object]", orjson.loads(line)) if line.lstrip().startswith(b"{") else {}
        if "function" in record:
            return "tools"
        return "calls" if "response" in record else "trajectories" if "calls" in record else "tools"
    return "tools"


def _records_of(path: Path) -> Iterator[bytes]:
    for line in read_lines(path):
        if isinstance(line, JsonlLine):
            yield line.body


if __name__ == "__main__":
    sys.exit(main())
