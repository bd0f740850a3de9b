"""What a server needs of its own machine. What is said of it is for administrators and the log."""

import asyncio
import shutil
from collections.abc import Mapping
from pathlib import Path

from domain.errors import UnavailableError
from server.readiness import Check
from wiring.settings import Settings
from wiring.store_folder import StoreFolder


def local_checks(settings: Settings, check_version: Check) -> Mapping[str, Check]:
    """By name. ``check_version``: whether the store fits this server."""

    async def disk() -> None:
        for what, folder in (("its own files", settings.server_home), ("the store", settings.store)):
            free = await asyncio.to_thread(_free, folder)
            if free < settings.free_bytes:
                raise UnavailableError(
                    f"{free / 1e6:,.0f} MB are left where {what} lie, less than {settings.free_bytes / 1e6:,.0f}; free some space"
                )

    async def store() -> None:
        if not settings.graph_url and not await asyncio.to_thread(StoreFolder(settings.store).stamp.exists):
            raise UnavailableError(
                "there is no store of tools; build one with scripts/build_graph.py, or begin with an empty one by scripts/up.py --store"
            )
        await check_version()

    return {"disk": disk, "store": store}


def _free(folder: Path) -> int:
    """Bytes that are free where a folder lies, or would lie."""
    there = next(one for one in (folder.absolute(), *folder.absolute().parents) if one.exists())
    try:
        return shutil.disk_usage(there).free
    except OSError as error:
        raise UnavailableError(f"the disk does not answer ({error.strerror})") from error
