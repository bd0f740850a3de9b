"""Files and folders that only their owner can access, whatever their modes were before."""

import logging
import os
import stat
from pathlib import Path

_log = logging.getLogger(__name__)
PRIVATE_FOLDER_MODE, PRIVATE_FILE_MODE = 0o700, 0o600


def keep_private(folder: Path) -> None:
    """Make a folder and its content accessible to the owner only.

    What cannot be changed (another user's files) is logged, and stays as it is.
    """
    _restrict_mode(folder, PRIVATE_FOLDER_MODE)
    try:
        inside = list(folder.iterdir())
    except OSError:
        return  # the caller gets the error when opening it
    for path in inside:
        _restrict_mode(path, PRIVATE_FOLDER_MODE if path.is_dir() else PRIVATE_FILE_MODE)


def make_database_private(path: Path) -> None:
    """Make an SQLite file and its companions private, and create it empty where it is missing.

    SQLite itself would create it readable to all. An existing file is not opened: closing it would end the locks that
    this process has on it (POSIX), and the next program that closes the database would delete the write-ahead log that
    this process still uses.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE_FILE_MODE))
    except FileExistsError:
        pass
    except OSError:
        return  # the caller gets the error when opening it
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        _restrict_mode(path.with_name(name), PRIVATE_FILE_MODE)


def _restrict_mode(path: Path, allowed_mode: int) -> None:
    try:
        mode = stat.S_IMODE(path.lstat().st_mode)
        # Only rights of group and others beyond ``most`` are taken away; the owner's own are not extended.
        if path.is_symlink() or not mode & ~allowed_mode & 0o077:
            return
        path.chmod(mode & allowed_mode)
        _log.info("%s had the mode %o, and has %o now: it is its owner's alone", path, mode, mode & allowed_mode)
    except FileNotFoundError:
        return
    except OSError as error:
        _log.warning(
            "others may read %s, which could not be changed (%s): chmod %o it", path, error.strerror, allowed_mode
        )
