"""Files and folders that are their owner's alone, whatever they were before."""

import logging
import os
import stat
from pathlib import Path

_log = logging.getLogger(__name__)
FOLDER, FILE = 0o700, 0o600


def keep_private(folder: Path) -> None:
    """A folder and what lies in it. What cannot be changed (another's files) is told in the log, and stays."""
    _tighten(folder, FOLDER)
    try:
        inside = list(folder.iterdir())
    except OSError:
        return  # who opens it is told why
    for path in inside:
        _tighten(path, FOLDER if path.is_dir() else FILE)


def private_database(path: Path) -> None:
    """An SQLite file with what belongs to it; made, empty, where it is not there: SQLite makes it readable to all.

    One that is there is not opened: closing it would end the locks that this process has on it (POSIX), and the next program that closes the
    database would take its write-ahead log away from under us.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, FILE))
    except FileExistsError:
        pass
    except OSError:
        return  # who opens it is told why
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        _tighten(path.with_name(name), FILE)


def _tighten(path: Path, most: int) -> None:
    try:
        found = stat.S_IMODE(path.lstat().st_mode)
        if path.is_symlink() or not found & ~most & 0o077:
            return
        path.chmod(found & most)
        _log.info("%s had the mode %o, and has %o now: it is its owner's alone", path, found, found & most)
    except FileNotFoundError:
        return
    except OSError as error:
        _log.warning("others may read %s, which could not be changed (%s): chmod %o it", path, error.strerror, most)
