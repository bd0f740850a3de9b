"""The mark of a restore whose rows are not settled yet: what was under way in them would be gone on with, and changes made twice."""

import os
from pathlib import Path

from domain.errors import UnavailableError
from server.backup import manifest as described

_NAME = "restoring"


def begin(home: Path, backup: Path) -> None:
    """From now on the home is that of a restore of this backup. On the disk before any row is."""
    try:
        with (home / _NAME).open("w", encoding="ascii") as file:
            file.write(_digest(backup))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UnavailableError(f"cannot write {home / _NAME}: {error.strerror}; set FOOTPATH_SERVER_HOME") from error


def was_begun(home: Path, backup: Path) -> bool:
    """Whether a restore of this very backup was interrupted here."""
    mark = home / _NAME
    return mark.exists() and mark.read_text(encoding="ascii") == _digest(backup)


def end(home: Path) -> None:
    """The rows are settled."""
    (home / _NAME).unlink()


def is_marked(home: Path) -> bool:
    """Whether a restore was begun in this home, and not ended."""
    return (home / _NAME).exists()


def check(home: Path) -> None:
    """``UnavailableError`` where a restore was begun in this home, and not ended."""
    if is_marked(home):
        raise UnavailableError(
            f"a restore into {home} was interrupted, and what was under way in its backup is not ended yet: "
            "ask for the same restore again, which goes on, or begin in a new home"
        )


def _digest(backup: Path) -> str:
    return described.held(backup / described.NAME).digest
