"""A backup of all that a server has, made while it serves: rows, graph with memories and flows, recorded calls, kept fields."""

import asyncio
import shutil
from datetime import UTC, datetime
from pathlib import Path

from domain.errors import UnavailableError, UsageError
from graph.transfer.store_export import ExportResult, TransferProgress
from server.backup import manifest as described
from server.backup.manifest import Manifest
from server.storage.backups import copy_rows, get_database_kind, is_empty
from server.storage.encryption import Keyring, write_keys
from server.storage.migration import get_newest_version
from server.storage.storage import Storage, load_vault_keyring, resolve_database_url
from wiring.settings import Settings
from wiring.snapshot import copy_database
from wiring.store_folder import StoreFolder
from wiring.store_transfer import export_store_file


async def back_up(
    settings: Settings, folder: Path, progress: TransferProgress, keys_to: Path | None = None
) -> ExportResult:
    """Write everything into a new folder; under its name it is there whole, or not at all.

    The rows come first: whatever they say has ended is learnt in the graph that comes after. ``keys_to``: a file for the vault's keys,
    without which nobody opens the tool keys in the rows; never in the backup itself.

    Raises:
        UsageError: the folder, or the file of keys, is there already, or the one lies in the other.
        UnavailableError: something cannot be read or written.
    """
    part = await asyncio.to_thread(_part_of, folder, keys_to)
    url, at = await asyncio.to_thread(resolve_database_url, settings), datetime.now(UTC)
    keys = await asyncio.to_thread(load_vault_keyring, settings)
    await _check_rows(url, keys)
    try:
        await asyncio.to_thread(_begin, part)
        rows = described.ROWS[get_database_kind(url)]
        await copy_rows(url, part / rows)
        exported = await export_store_file(part / described.STORE, None, progress, settings, recordings=True)
        names = [rows, described.STORE]
        fields = StoreFolder(settings.store).kept_fields
        if await asyncio.to_thread(fields.exists):
            await asyncio.to_thread(copy_database, fields, part / described.FIELDS)
            names.append(described.FIELDS)
        if keys_to is not None:
            await asyncio.to_thread(write_keys, keys_to, keys)
        files = {name: await asyncio.to_thread(described.held, part / name) for name in names}
        tables = await asyncio.to_thread(get_newest_version)
        said = Manifest(
            at=at, rows=get_database_kind(url), tables=tables, vault=keys.compute_fingerprints(), files=files
        )
        await asyncio.to_thread(_finish, part, folder, described.sign(said, keys))
        return exported
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, part, ignore_errors=True))


def _part_of(folder: Path, keys_to: Path | None) -> Path:
    """Where the backup is made, beside its place."""
    if folder.exists():
        raise UsageError(f"{folder} is there already: name a new folder, one for each backup")
    if keys_to is not None and keys_to.exists():
        raise UsageError(f"{keys_to} is there already: name a new file")
    if keys_to is not None and folder.absolute() in keys_to.absolute().parents:
        raise UsageError("the keys must not lie beside what they open: name a file outside of the backup")
    return folder.absolute().with_name(f"{folder.name}.part")


async def _check_rows(url: str, keys: Keyring) -> None:
    """There are rows, of this version, and these are the keys of their vault."""
    if await is_empty(url):
        raise UnavailableError("there are no rows to back up: set FOOTPATH_SERVER_HOME or FOOTPATH_DATABASE_URL")
    storage = Storage(url, keys)
    try:
        await storage.check()
        await storage.vault_fingerprints.check_and_note()
    finally:
        await storage.close()


def _begin(part: Path) -> None:
    """What an interrupted backup left is made anew. For its owner only: rows hold what people asked."""
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise UnavailableError(f"cannot make {part}: {error.strerror}; name another folder") from error


def _finish(part: Path, folder: Path, said: Manifest) -> None:
    try:
        described.write(part, said)
        part.rename(folder)
    except OSError as error:
        raise UnavailableError(f"cannot write {folder}: {error.strerror}; name another folder") from error
