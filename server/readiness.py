"""Whether a server can do its work now: a list of checks by name, all of them looked at each time.

A further one is a function that raises ``UnavailableError`` with what is missing, and a line in ``CHECKS``. What they say is for anyone to
read: no paths, no addresses.
"""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

from domain.errors import FootpathError, UnavailableError
from server.services import Services
from wiring.layout import StoreFolder

Check = Callable[[Services], Awaitable[None]]


async def _rows(services: Services) -> None:
    await services.storage.check()


async def _disk(services: Services) -> None:
    settings = services.settings
    for what, folder in (("its own files", settings.server_home), ("the store", settings.store)):
        free = await asyncio.to_thread(_free, folder)
        if free < settings.free_bytes:
            raise UnavailableError(
                f"{free / 1e6:,.0f} MB are left where {what} lie, less than {settings.free_bytes / 1e6:,.0f}; free some space"
            )


async def _store(services: Services) -> None:
    settings = services.settings
    if not settings.graph_url and not await asyncio.to_thread(StoreFolder(settings.store).stamp.exists):
        raise UnavailableError("there is no store of tools; build one with scripts/build_graph.py")


CHECKS: tuple[tuple[str, Check], ...] = (("database", _rows), ("disk", _disk), ("store", _store))


async def check_ready(services: Services) -> None:
    """``UnavailableError``: something is missing; it says all that is."""
    wrong = await asyncio.gather(*(_wrong(name, check, services) for name, check in CHECKS))
    if told := [one for one in wrong if one]:
        raise UnavailableError("; ".join(told))


async def _wrong(name: str, check: Check, services: Services) -> str:
    try:
        await check(services)
    except FootpathError as error:
        return f"{name}: {error}"
    return ""


def _free(folder: Path) -> int:
    """Bytes that are free where a folder lies, or would lie."""
    there = next(one for one in (folder.absolute(), *folder.absolute().parents) if one.exists())
    try:
        return shutil.disk_usage(there).free
    except OSError as error:
        raise UnavailableError(f"the disk does not answer ({error.strerror})") from error
