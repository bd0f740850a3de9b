"""Programs of servers that were fetched or unpacked once for a machine: kept outside the checkout, where the account can write."""

import fcntl
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked_folder(name: str) -> Generator[Path]:
    """The folder ``name`` of the cache, made where it is not there; one test process at a time has it."""
    folder = _cache() / name
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield folder


def _cache() -> Path:
    """The user's cache, or where its home takes no files, one beside the temporary files."""
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "footpath"
        cache.mkdir(parents=True, exist_ok=True)
        if os.access(cache, os.W_OK):
            return cache
    except (OSError, RuntimeError):  # a home that takes no files, or none at all
        pass
    return Path(tempfile.gettempdir()) / f"footpath-{os.getuid()}"
