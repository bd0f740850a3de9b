"""The backups of a home: made, listed, checked, given away as one file, removed."""

import re
import shutil
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from domain.errors import BrokenInputError, NotFoundError, UnavailableError
from domain.model import Model
from server.backup import manifest as described
from server.backup.manifest import Manifest
from server.storage.repository import get_utc_now
from wiring.private_files import PRIVATE_FOLDER_MODE

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_CHECKED = "checked.json"


class Checked(Model):
    """When its files were last held against its digests. ``trouble``: what is wrong; empty: nothing is."""

    at: datetime
    trouble: str = ""


class Backup(Model):
    """``rows``: the kind of database that they came from, ``tables`` their version; ``files``: bytes of each. ``vault``: fingerprints of the keys that open its users' tool
    keys, which are not in it.
    """

    name: str
    at: datetime
    rows: str
    tables: str
    bytes: int
    files: dict[str, int]
    vault: dict[int, str]
    checked: Checked | None


class Backups:
    """Those in a home's folder."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "backups"

    def place(self, name: str) -> Path:
        """Where one of that name lies, or would lie. Raises ``NotFoundError`` for what can be no name."""
        if not NAME.fullmatch(name):
            raise NotFoundError("there is no such backup")
        return self.folder / name

    def ready(self) -> None:
        """There is a folder for them, its owner's alone. Raises ``UnavailableError``."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER_MODE)
        except OSError as error:
            raise UnavailableError(f"cannot make {self.folder}: {error.strerror}") from error

    def all(self) -> list[Backup]:
        """The newest first. What is no whole backup is left out."""
        names = [one.name for one in self.folder.iterdir() if NAME.fullmatch(one.name)] if self.folder.is_dir() else []
        found = [backup for name in names if (backup := self._read(name)) is not None]
        return sorted(found, key=lambda one: one.at, reverse=True)

    def get(self, name: str) -> Backup:
        """Raises ``NotFoundError``."""
        found = self._read(name) if self.place(name).is_dir() else None
        if found is None:
            raise NotFoundError("there is no such backup")
        return found

    def check(self, name: str) -> Backup:
        """Hold all of its files against its digests, and note what came of it. Raises ``NotFoundError``."""
        found = self.get(name)
        try:
            described.read(self.place(name))
            trouble = ""
        except (BrokenInputError, UnavailableError) as error:
            trouble = str(error)
        checked = Checked(at=get_utc_now(), trouble=trouble)
        try:
            (self.place(name) / _CHECKED).write_text(checked.model_dump_json(), encoding="utf-8")
        except OSError as error:
            raise UnavailableError(f"cannot write beside the backup: {error.strerror}") from error
        return found.model_copy(update={"checked": checked})

    def remove(self, name: str) -> None:
        """Its manifest first: what is left of it is no backup. Raises ``NotFoundError``."""
        self.get(name)
        try:
            (self.place(name) / described.NAME).unlink()
            shutil.rmtree(self.place(name))
        except OSError as error:
            raise UnavailableError(f"it cannot be removed: {error.strerror}") from error

    def _read(self, name: str) -> Backup | None:
        try:
            said = Manifest.model_validate_json((self.place(name) / described.NAME).read_bytes())
        except (OSError, ValidationError):
            return None
        files = {file: held.bytes for file, held in said.files.items()}
        return Backup(
            name=name, at=said.at, rows=said.rows, tables=said.tables, bytes=sum(files.values()), files=files,
            vault=said.vault, checked=self._checked(name),
        )  # fmt: skip

    def _checked(self, name: str) -> Checked | None:
        try:
            return Checked.model_validate_json((self.place(name) / _CHECKED).read_bytes())
        except (OSError, ValidationError):
            return None
