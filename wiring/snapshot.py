"""The files of an embedded store as they were at one moment, for whoever reads all of it while a server goes on learning."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from domain.errors import UnavailableError
from graph.backends.sqlite_database import copy_database
from wiring.layout import StoreFolder

__all__ = ["copy_database", "snapshot"]


@asynccontextmanager
async def snapshot(folder: StoreFolder, beside: Path) -> AsyncGenerator[StoreFolder]:
    """A copy of what the folder has but for vectors and words, which are made of the rest; it goes at the end.

    ``beside``: the folder to make it in, which needs room for it. What a run teaches is written into the graph first and remembered
    after; memories are copied before the graph, so that each has its lesson.
    """
    try:
        place = await asyncio.to_thread(tempfile.TemporaryDirectory, dir=beside, prefix=".snapshot-")
    except OSError as error:
        raise UnavailableError(f"cannot write in {beside}: {error.strerror}; name another folder") from error
    try:
        copy = StoreFolder(Path(place.name) / "store")
        await asyncio.to_thread(_copy, folder, copy)
        yield copy
    finally:
        await asyncio.to_thread(place.cleanup)


def _copy(folder: StoreFolder, copy: StoreFolder) -> None:
    copy.open(create=True)
    for name in ("solutions", "memories", "flows", "kept_fields", "recordings", "graph"):
        source: Path = getattr(folder, name)
        if source.exists():
            copy_database(source, getattr(copy, name))
