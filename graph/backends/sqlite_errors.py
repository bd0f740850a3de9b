"""SQLite's errors in the project's words: each says what is wrong with which file and what to do."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from domain.errors import FootpathError, StoreBusyError, UnavailableError

_SAYS = {
    "SQLITE_FULL": "the disk is full; nothing of this write was kept. Free some space and run the same command again",
    "SQLITE_NOTADB": "this file is no SQLite database. Choose another store folder, or move the file away",
    "SQLITE_CORRUPT": "the database is damaged. Restore a copy, or move it away and build the store again",
    "SQLITE_READONLY": "the file and its folder must be writable, even for reading. Check their permissions",
    "SQLITE_PERM": "the store cannot be opened. Check the permissions of the file and of its folder",
    "SQLITE_IOERR": "reading or writing failed. Check the disk: it may be full or failing",
}


@contextmanager
def translated(path: Path, *, creating: bool = False) -> Generator[None]:
    """Turn ``sqlite3.Error`` raised inside into the ``FootpathError`` that fits; other exceptions pass."""
    try:
        yield
    except sqlite3.Error as error:
        raise footpath_error(error, path, creating=creating) from error


def footpath_error(error: sqlite3.Error, path: Path, *, creating: bool = False) -> FootpathError:
    """The error to show instead of ``error``, which concerned the database at ``path`` or the creation of it."""
    # Extended names add to the primary one (SQLITE_IOERR_WRITE); errors of the wrapper itself carry none.
    name: str = getattr(error, "sqlite_errorname", "")
    primary = "_".join(name.split("_")[:2])
    if primary in ("SQLITE_BUSY", "SQLITE_LOCKED"):
        return StoreBusyError(f"{path}: another process keeps writing to it. Wait until it is done and try again")
    if primary == "SQLITE_CANTOPEN":
        return UnavailableError(f"{path}: {_cannot_open(path, creating=creating)}")
    return UnavailableError(f"{path}: {_SAYS.get(primary, 'the database refused this operation')} ({error})")


def _cannot_open(path: Path, *, creating: bool) -> str:
    try:
        missing, folder = not path.exists(), path.is_dir()
    except OSError:  # a folder above it may not be looked into
        missing = folder = False
    if folder:
        return "this is a folder, not a database. Name the store folder that holds the database"
    if missing and not creating:
        return "there is no store here. Build one with scripts/build_graph.py --store, or name its folder"
    return (
        "the store cannot be opened. The file and its folder must be writable, even for reading, and the disk not full: "
        "check their permissions, or copy the store to a folder of your own"
    )
