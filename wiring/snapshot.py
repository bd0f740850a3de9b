"""Snapshot of an embedded store's files, for reading all of it while a server goes on learning."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from domain.errors import UnavailableError
from graph.backends.sqlite_database import copy_database
from wiring.store_folder import StoreFolder

__all__ = ["copy_database", "snapshot"]


@asynccontextmanager
async def snapshot(folder: StoreFolder, parent: Path) -> AsyncGenerator[StoreFolder]:
    """Yield a copy of the folder without vectors and words, which can be made from the rest.

    The copy is deleted at the end. ``parent``: the folder to make it in, which needs room for it. A run writes into the
    graph first and remembers after; memories are copied before the graph, so that each of them has its lesson.
    """
    try:
        temporary_folder = await asyncio.to_thread(tempfile.TemporaryDirectory, dir=parent, prefix=".snapshot-")
    except OSError as error:
        raise UnavailableError(f"cannot write in {parent}: {error.strerror}; name another folder") from error
    try:
        copy = StoreFolder(Path(temporary_folder.name) / "store")
        await asyncio.to_thread(_copy_databases, folder, copy)
        yield copy
    finally:
        await asyncio.to_thread(temporary_folder.cleanup)


def _copy_databases(folder: StoreFolder, copy: StoreFolder) -> None:
    copy.open(create=True)
    for name in ("solutions", "memories", "flows", "kept_fields", "recordings", "graph"):
        source: Path = getattr(folder, name)
        if source.exists():
            copy_database(source, getattr(copy, name))
