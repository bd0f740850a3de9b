"""Imports of a home: the files that were sent for each, what was read of them, and what came of it."""

import json
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from domain.errors import ConflictError, NotFoundError
from domain.model import Model
from domain.tool import ToolDoc
from graph.importers.records import SkippedInput
from server.data.import_preview import Holds
from server.data.import_process import DOCUMENTS, KEPT_OUT, LEFT, PREVIEW, UNPACKED
from server.data.uploads import Uploads
from server.storage.identifiers import generate_id
from wiring.private_files import PRIVATE_FOLDER_MODE

_ID = re.compile(r"[0-9a-f-]{36}")
_WANTED, _READ, _REPORT = "wanted.json", "read", "report.json"
_KEPT = 7 * 86_400
"""Seconds after which what nobody has merged, or looked at the report of, is removed."""


class ImportedFile(Model):
    name: str
    holds: Holds


class WantedImport(Model):
    """``server``: the address that relative servers of OpenAPI documents are relative to."""

    files: list[ImportedFile]
    server: str = ""


class Imports:
    """``<home>/imports/<id>``: ``files/``, ``read/`` and the report."""

    def __init__(self, home: Path, uploads: Uploads) -> None:
        self._folder = home.absolute() / "imports"  # another process reads there
        self._uploads = uploads

    def add(self, files: Sequence[tuple[str, Holds]], server: str) -> str:
        """Take uploads for one import; its id. Raises ``NotFoundError`` for an upload that is not there, ``ConflictError`` for two files of one name."""
        self.tidy()
        found = [(self._uploads.file(upload), holds) for upload, holds in files]
        if len({file.name for file, _ in found}) < len(found):
            raise ConflictError("two of the files have one name: give them different ones")
        name = generate_id()
        place = self._folder / name / "files"
        place.mkdir(parents=True, mode=PRIVATE_FOLDER_MODE)
        for (file, _), (upload, _) in zip(found, files, strict=True):
            file.rename(place / file.name)
            self._uploads.remove(upload)
        named = [ImportedFile.model_validate({"name": file.name, "holds": holds}) for file, holds in found]
        wanted = WantedImport(files=named, server=server)
        (self._folder / name / _WANTED).write_text(wanted.model_dump_json(), encoding="utf-8")
        return name

    def place(self, name: str) -> Path:
        """Its folder. Raises ``NotFoundError``."""
        folder = self._folder / name
        if not _ID.fullmatch(name) or not (folder / _WANTED).is_file():
            raise NotFoundError("there is no such import: it was removed, or a week has gone; send its files again")
        return folder

    def wanted(self, name: str) -> tuple[WantedImport, list[dict[str, str]]]:
        """What it is of, and its files for the reading. Raises ``NotFoundError``."""
        place = self.place(name)
        wanted = WantedImport.model_validate_json((place / _WANTED).read_bytes())
        return wanted, [{"path": str(place / "files" / one.name), "holds": one.holds} for one in wanted.files]

    def out(self, name: str) -> Path:
        """An empty folder for what is read of it."""
        out = self.place(name) / _READ
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(mode=PRIVATE_FOLDER_MODE)
        return out

    def read(self, name: str) -> Path:
        """What was read of it. Raises ``ConflictError`` where it was not read to its end."""
        if not (self.place(name) / _READ / PREVIEW).is_file():
            raise ConflictError("its files are not read yet, or could not be: look at its job")
        return self.place(name) / _READ

    def parts(self, name: str, number: int) -> Path:
        """Where the ``number``th file's content lies: itself, or what was unpacked of it."""
        wanted, files = self.wanted(name)
        del wanted
        path, unpacked = Path(files[number]["path"]), self.read(name) / UNPACKED / str(number)
        if path.suffix != ".zip":
            return path
        inside = list(unpacked.iterdir())
        return inside[0] if len(inside) == 1 else unpacked

    def report(self, name: str) -> Path:
        """Where its report lies, or is to be written."""
        return self.place(name) / _REPORT

    def coming(self, name: str, job_id: str) -> Path:
        """Where lies, or is to be written, which tools that job brings."""
        return self.place(name) / f"coming-{job_id}.json"

    def left(self, name: str) -> Iterator[dict[str, object]]:
        """All that is left out, each with its file, line and why."""
        with (self.read(name) / LEFT).open("rb") as lines:
            for line in lines:
                yield json.loads(line)

    def remove(self, name: str) -> None:
        """With its files and its report. Raises ``NotFoundError``."""
        shutil.rmtree(self.place(name), ignore_errors=True)

    def clear(self, name: str) -> None:
        """Its files, which nobody needs after it; its report stays."""
        for folder in ("files", _READ):
            shutil.rmtree(self._folder / name / folder, ignore_errors=True)

    def tidy(self) -> None:
        """Remove what is a week old."""
        for folder in self._folder.iterdir() if self._folder.is_dir() else ():
            if folder.stat().st_mtime < time.time() - _KEPT:
                shutil.rmtree(folder, ignore_errors=True)


def documents(read: Path, *, kept_out: bool) -> Iterator[ToolDoc | SkippedInput]:
    """The documents that were read; with those that the gate keeps out, where that was said."""
    for name in (DOCUMENTS, KEPT_OUT) if kept_out else (DOCUMENTS,):
        with (read / name).open("rb") as lines:
            for line in lines:
                yield ToolDoc.model_validate_json(line)
