"""A copy of an SQLite file as it is at one moment, whoever reads and writes it meanwhile: SQLite's own online backup."""

import sqlite3
from contextlib import closing
from pathlib import Path

from domain.errors import UnavailableError
from graph.backends.sqlite_errors import translated

_OF_THE_COPY = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")


def copy_database(source: Path, target: Path) -> None:
    """Copy the database at ``source`` into a new file. Raises ``UnavailableError`` where one of the two cannot be used."""
    with translated(source), closing(_opened(source, "rw")) as read:
        try:
            with closing(_opened(target, "rwc")) as written:
                read.backup(written)  # all pages in one step, within one read transaction: nobody who writes waits
        except sqlite3.Error as error:
            if not error.sqlite_errorname.startswith(_OF_THE_COPY):
                raise
            raise UnavailableError(
                f"cannot write a copy of {source} in {target.parent} ({error}): free some space, or name another folder"
            ) from error


def _opened(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=30)
