"""File locks that tell which workers of a home folder are alive.

Each is held as long as its worker's process lives, however that ends.
"""

import asyncio
import fcntl
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TextIO

_log = logging.getLogger(__name__)


@asynccontextmanager
async def hold_worker_lock(home: Path, worker: str) -> AsyncGenerator[None]:
    """Hold a worker's lock for the time of the block.

    The file is removed at an orderly end; after any other end it stays, unlocked, which shows that the worker died.
    Where the folder cannot be written, the worker's runs are claimed by others once its lease has ended.
    """
    path = _get_lock_folder(home) / worker
    try:
        lock_file = await asyncio.to_thread(_acquire, path)
    except OSError as error:
        why = "no sign of life in %s (%s): after a kill, runs wait for the end of their lease"
        _log.warning(why, home, error.strerror)
        yield
        return
    try:
        yield
    finally:
        await asyncio.to_thread(_release, path, lock_file)


def _acquire(path: Path) -> TextIO:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock_file = path.open("w")
    fcntl.flock(lock_file, fcntl.LOCK_EX)
    return lock_file


def _release(path: Path, lock_file: TextIO) -> None:
    path.unlink(missing_ok=True)
    lock_file.close()


def find_dead_workers(home: Path) -> list[str]:
    """Return the workers that died holding runs. Call :func:`forget_workers` once their runs are queued."""
    folder = _get_lock_folder(home)
    return [lock_file.name for lock_file in sorted(folder.iterdir()) if _is_free(lock_file)] if folder.is_dir() else []


def has_live_worker(home: Path) -> bool:
    """Return whether a worker of this home is alive."""
    folder = _get_lock_folder(home)
    return folder.is_dir() and any(not _is_free(lock_file) for lock_file in folder.iterdir() if lock_file.is_file())


def forget_workers(home: Path, workers: list[str]) -> None:
    """Remove the lock files of dead workers."""
    for worker in workers:
        (_get_lock_folder(home) / worker).unlink(missing_ok=True)


def _get_lock_folder(home: Path) -> Path:
    return home / "workers"


def _is_free(path: Path) -> bool:
    with suppress(FileNotFoundError), path.open() as file:  # the worker may have ended and removed its file meanwhile
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
    return False
