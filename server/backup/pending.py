"""A restore that was made beside a server while it served, and takes its place at the next start.

What is there is set aside by renaming, and what was restored is renamed into its place, each within its own folder. Every step is on the disk before the next: stopped anywhere,
the next start goes on, and nothing is removed that was there before.
"""

import logging
import os
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from domain.errors import UnavailableError
from wiring.private_files import PRIVATE_FOLDER_MODE
from wiring.store_folder import StoreFolder

_log = logging.getLogger(__name__)

_MARK = "restore.json"
RESTORED, BEFORE = "restored-", "before-"


class Pending(BaseModel):
    """``id``: what its folders are called by; ``backup``: its name, made ``backup_at``. ``step``: ``ready`` to begin, then what is under way. ``place``: the store's folder.

    ``tools`` and ``ended``: what was restored, and how many runs that were under way in the backup are ended.
    """

    id: str
    backup: str
    backup_at: datetime
    by: str
    at: datetime
    store: Path
    tools: int
    ended: int
    step: Literal["ready", "aside", "in", "told"] = "ready"


def restored_store(store: Path, name: str) -> Path:
    """Where the store is made that takes the place of ``store``."""
    return store / f"{RESTORED}{name}"


def restored_home(home: Path, name: str) -> Path:
    """Where the home is made whose rows take the place of those of ``home``."""
    return home / f"{RESTORED}{name}"


def rows_before(home: Path, name: str) -> Path:
    """Where the rows lie whose place a restore has taken."""
    return home / f"{BEFORE}{name}" / "rows.db"


def read(home: Path) -> Pending | None:
    """What waits for the next start; None: nothing does. Raises ``UnavailableError``."""
    try:
        return Pending.model_validate_json((home / _MARK).read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise UnavailableError(
            f"{home / _MARK} cannot be read: mend it, or remove it if no restore was begun"
        ) from error


def put(home: Path, pending: Pending) -> None:
    """It is on the disk when this returns."""
    part = home / f"{_MARK}.part"
    with part.open("w", encoding="utf-8") as file:
        file.write(pending.model_dump_json(indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(home / _MARK)
    _to_disk(home)


def call_off(home: Path) -> bool:
    """Nothing takes the place of anything. Whether something waited."""
    pending = read(home)
    if pending is None or pending.step != "ready":
        return False
    (home / _MARK).unlink()
    clear(home, pending.store, pending.id)
    return True


def clear(home: Path, store: Path, name: str) -> None:
    """Remove what was restored and is not wanted."""
    for folder in (restored_home(home, name), restored_store(store, name)):
        shutil.rmtree(folder, ignore_errors=True)


def take_place(home: Path) -> Pending | None:
    """Carry out what waits, or go on with it; None: nothing waits, or what was restored is not there any more, and all stays as it is. It is ``told`` then: ``end`` it once that
    is written down.

    Raises ``UnavailableError`` where something cannot be renamed: as soon as it can, the next start goes on.
    """
    pending = read(home)
    if pending is None:
        return None
    if pending.step == "ready" and not _is_whole(home, pending):
        _log.warning("the restore of %s is called off: what was restored is not there any more", pending.backup)
        call_off(home)
        return None
    try:
        if pending.step == "ready":
            pending = _next(home, pending, "aside")
        if pending.step == "aside":
            for folder, names in ((pending.store, None), (home, "rows.db*")):
                _move(_there(folder, names), folder / f"{BEFORE}{pending.id}")
            pending = _next(home, pending, "in")
        if pending.step == "in":
            _move(_there(restored_store(pending.store, pending.id), None), pending.store)
            _move(_there(restored_home(home, pending.id), "rows.db*"), home)
            pending = _next(home, pending, "told")
        clear(home, pending.store, pending.id)
    except OSError as error:
        raise UnavailableError(
            f"the restore of {pending.backup} could not be carried out ({error.strerror}: {error.filename}); nothing is lost: make it possible, "
            "and start again"
        ) from error
    return pending


def _is_whole(home: Path, pending: Pending) -> bool:
    """Whether there is what is to take the place of store and rows: before anything is moved."""
    store = StoreFolder(restored_store(pending.store, pending.id))
    return store.stamp.is_file() and store.graph.is_file() and (restored_home(home, pending.id) / "rows.db").is_file()


def end(home: Path) -> None:
    """It is written down."""
    (home / _MARK).unlink(missing_ok=True)


def set_aside(home: Path, store: Path) -> list[Path]:
    """Folders that hold what was there before restores; nobody needs them once the restored server is as it should be."""
    return sorted(one for folder in (home, store) if folder.is_dir() for one in folder.glob(f"{BEFORE}*"))


def _there(folder: Path, pattern: str | None) -> Iterator[Path]:
    if not folder.is_dir():
        return iter(())
    found = list(folder.glob(pattern) if pattern else folder.iterdir())
    return iter([one for one in found if not one.name.startswith((RESTORED, BEFORE))])


def _move(files: Iterator[Path], to: Path) -> None:
    to.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER_MODE)
    for file in files:
        file.rename(to / file.name)
    _to_disk(to)


def _next(home: Path, pending: Pending, step: Literal["aside", "in", "told"]) -> Pending:
    further = pending.model_copy(update={"step": step})
    put(home, further)
    return further


def _to_disk(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
