"""A backup made, held against its digests, or taken in from an upload, as a job."""

import asyncio
import shutil
from dataclasses import asdict
from pathlib import Path

from domain.errors import UnavailableError, UsageError
from domain.model import JsonObject
from server.backup.making import back_up
from server.data.archives import unpack
from server.data.backups import Backups
from server.data.uploads import Uploads
from server.jobs.kinds import JobInHand
from server.storage.database import find_sqlite_file
from server.storage.jobs import Job
from server.storage.storage import resolve_database_url
from wiring.settings import Settings
from wiring.store_folder import StoreFolder

BACKUP, CHECK, TAKE_IN = "backup", "backup-check", "backup-upload"
_KEYS = "The vault's keys are not in it: keep a copy of them elsewhere, for nobody opens users' tool keys without."


def name_of(job: Job) -> str:
    """What a job's backup is called: the same each time that it is begun."""
    return f"{job.created_at:%Y-%m-%d-%H%M%S}-{job.id[-6:]}"


async def make_backup(settings: Settings, backups: Backups, hand: JobInHand) -> JsonObject:
    """All that the server has, while it serves. One that was made before its server was killed is not made again."""
    name = name_of(hand.job)
    folder = backups.place(name)
    await asyncio.to_thread(backups.ready)
    figures: JsonObject = {}
    if not await asyncio.to_thread(folder.exists):
        await asyncio.to_thread(_check_room, settings, backups.folder)
        hand.say("The rows are copied first, then the graph with all that was learnt, as they are at one moment.")
        exported = await back_up(settings, folder, hand.progress)
        figures = {**asdict(exported.counts), "learnt_meanwhile": exported.learnt_meanwhile}
    hand.progress("check", 0, None)
    made = await asyncio.to_thread(backups.check, name)
    if made.checked is not None and made.checked.trouble:
        raise UnavailableError(f"the backup was written, and is not as it should be: {made.checked.trouble}")
    hand.say(_KEYS)
    return {"backup": name, "bytes": made.bytes, "counts": figures}


async def check_backup(backups: Backups, hand: JobInHand) -> JsonObject:
    """All of its files against its digests."""
    name = str(hand.job.wanted["backup"])
    hand.progress("check", 0, None)
    found = await asyncio.to_thread(backups.check, name)
    return {"backup": name, "trouble": found.checked.trouble if found.checked else ""}


async def take_in(backups: Backups, uploads: Uploads, hand: JobInHand) -> JsonObject:
    """An upload becomes a backup of this home. Raises ``BrokenInputError`` where it is none, and ``UsageError`` where it is there already."""
    name = name_of(hand.job)
    folder, part = backups.place(name), backups.folder / f"{name}.part"
    await asyncio.to_thread(backups.ready)
    if not await asyncio.to_thread(folder.exists):
        await asyncio.to_thread(shutil.rmtree, part, ignore_errors=True)
        hand.progress("unpack", 0, None)
        try:
            upload = await asyncio.to_thread(uploads.file, str(hand.job.wanted["upload"]))
            said = await asyncio.to_thread(unpack, upload, part)
            there = {one.at for one in await asyncio.to_thread(backups.all)}
            if said.at in there:
                raise UsageError(f"the backup of {said.at:%Y-%m-%d %H:%M} UTC is here already")
            await asyncio.to_thread(part.rename, folder)
        finally:
            await asyncio.to_thread(shutil.rmtree, part, ignore_errors=True)
    found = await asyncio.to_thread(backups.check, name)
    if found.checked is not None and found.checked.trouble:
        await asyncio.to_thread(backups.remove, name)
        raise UsageError(f"the upload is no whole backup: {found.checked.trouble}")
    return {"backup": name, "bytes": found.bytes}


def _check_room(settings: Settings, folder: Path) -> None:
    """The copies of one moment and what is made of them need as much as rows and store together, twice."""
    store, rows = StoreFolder(settings.store), find_sqlite_file(resolve_database_url(settings))
    there = [file for file in store.root.glob("*.db") if not settings.graph_url] + ([rows] if rows else [])
    needed = 2 * sum(file.stat().st_size for file in there if file.exists()) + settings.free_bytes
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise UnavailableError(
            f"a backup needs {needed / 1e6:,.0f} MB where the server's own files lie, and {free / 1e6:,.0f} MB are free: make room"
        )
