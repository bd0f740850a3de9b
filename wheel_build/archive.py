"""A wheel made of another one: its packages moved below ``footpath/``, its code told so, its record written anew."""

import base64
import csv
import hashlib
import io
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from zipfile import ZIP_DEFLATED, ZipFile

from footpath.command_table import COMMANDS
from wheel_build.relocation import ABOVE, SCRIPTS, Relocation

_CARRIED = {command.script for command in COMMANDS.values()}


def relocate(plain: Path, moved: Path) -> None:
    """Write ``moved`` from ``plain``. ``RelocationError``: some code could not be told where it lies."""
    with ZipFile(plain) as source, ZipFile(moved, "w", ZIP_DEFLATED) as target:
        entries = [one for one in source.infolist() if not one.is_dir() and carried(one.filename)]
        [recorded] = [one for one in entries if one.filename.endswith(".dist-info/RECORD")]
        entries.remove(recorded)
        relocation = Relocation.of(one.filename for one in entries)
        record: list[tuple[str, str, int | str]] = []
        for entry in entries:
            data = _content(entry.filename, source.read(entry), relocation)
            entry.filename = relocation.place(entry.filename)
            target.writestr(entry, data, ZIP_DEFLATED)
            record.append((entry.filename, _digest(data), len(data)))
        target.writestr(recorded, _written([*record, (recorded.filename, "", "")]), ZIP_DEFLATED)


def carried(name: str) -> bool:
    """Whether a file is for users: the scripts of who works on Footpath are not."""
    path = PurePosixPath(name)
    return path.parts[0] != SCRIPTS or path.stem.startswith("_") or path.stem in _CARRIED


def _content(name: str, data: bytes, relocation: Relocation) -> bytes:
    if name.endswith(".dist-info/top_level.txt"):
        return f"{ABOVE}\n".encode()
    return relocation.text(data.decode(), name).encode() if name.endswith(".py") else data


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _written(rows: Iterable[tuple[str, str, int | str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
