"""A server out of a backup: in an empty home, or an empty database, and an empty store, on the back ends that the settings name."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from domain.errors import UsageError
from graph.transfer.exporting import Progress
from server.backup import manifest as described
from server.backup.manifest import Manifest
from server.services import database_url, keys_file, open_storage
from server.storage.copies import check_same_kind, is_empty, put_rows
from server.storage.restored import settle
from server.storage.sealing import Keys, keys_of_text, write_keys
from wiring.layout import StoreFolder
from wiring.moving import import_from
from wiring.settings import Settings
from wiring.snapshot import copy_database


@dataclass(frozen=True, slots=True)
class Restored:
    """``tools``: indexed anew. ``ended``: runs that were under way when the backup was made, and are ended."""

    at: datetime
    tools: int
    ended: int


async def restore(settings: Settings, folder: Path, progress: Progress, keys_from: Path | None = None) -> Restored:
    """Make the server of the backup where the settings say. ``keys_from``: the file of the vault's keys; without it, those of the settings.

    All is checked before anything is written: digests, keys, and that nothing is there yet. An interrupted one goes on where it was
    when it is asked for again; the rows come last.

    Raises:
        BrokenInputError: the backup is not whole. UsageError: something is there already, or the keys are others.
        UnavailableError: there is no backup, or something cannot be read or written.
    """
    said = await asyncio.to_thread(described.read, folder)
    url = await asyncio.to_thread(database_url, settings)
    check_same_kind(url, said.rows)
    if not await is_empty(url):
        raise UsageError("the database of the rows is not empty: a backup is restored into an empty one, or a new home")
    keys = await asyncio.to_thread(_keys, settings, keys_from)
    _check_keys(said, keys)
    done = await import_from(folder / described.STORE, None, progress, settings)
    await asyncio.to_thread(_fields, folder, StoreFolder(settings.store))
    if keys is not None and not settings.vault_keys.get_secret_value():
        await asyncio.to_thread(_put_keys, keys_file(settings), keys)
    await put_rows(url, folder / described.ROWS[said.rows])
    async with open_storage(settings) as storage:
        ended = await settle(storage.database, said.at)
    return Restored(said.at, done.embedded or 0, ended)


def _keys(settings: Settings, keys_from: Path | None) -> Keys | None:
    """Those that the restored server is to have; None where there are none."""
    if keys_from is not None:
        return keys_of_text(keys_from)
    if given := settings.vault_keys.get_secret_value():
        return keys_of_text(given)
    file = keys_file(settings)
    return keys_of_text(file) if file.exists() else None


def _check_keys(said: Manifest, keys: Keys | None) -> None:
    mine = keys.fingerprints() if keys is not None else {}
    if any(mine.get(version) != known for version, known in said.vault.items()):
        raise UsageError(
            "these are not the keys of the backup's vault, which open its users' tool keys: give the file that --keys-to wrote "
            "(--keys FILE), or set FOOTPATH_VAULT_KEYS"
        )


def _put_keys(file: Path, keys: Keys) -> None:
    if not file.exists():
        write_keys(file, keys)


def _fields(folder: Path, store: StoreFolder) -> None:
    """Which fields of long responses are kept. They are a machine's own, and no reason to refuse those that are there."""
    if (folder / described.FIELDS).exists() and not store.kept_fields.exists():
        copy_database(folder / described.FIELDS, store.kept_fields)
