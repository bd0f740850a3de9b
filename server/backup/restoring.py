"""A server out of a backup: in an empty home, or an empty database, and an empty store, on the back ends that the settings name."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from domain.errors import UsageError
from domain.model import JsonObject
from graph.transfer.store_export import TransferProgress
from server.backup import interrupted
from server.backup import manifest as described
from server.backup.manifest import Manifest
from server.storage.audit import AuditedAction
from server.storage.backups import check_same_kind, end_unfinished_work, is_empty, restore_rows
from server.storage.encryption import Keyring, load_keyring, write_keys
from server.storage.storage import get_key_file, open_storage, resolve_database_url
from wiring.private_files import PRIVATE_FOLDER_MODE
from wiring.settings import Settings
from wiring.snapshot import copy_database
from wiring.store_folder import StoreFolder
from wiring.store_transfer import import_store_file


@dataclass(frozen=True, slots=True)
class Restored:
    """``tools``: indexed anew. ``ended``: runs that were under way when the backup was made, and are ended."""

    at: datetime
    tools: int
    ended: int


async def restore(
    settings: Settings,
    folder: Path,
    progress: TransferProgress,
    keys_from: Path | None = None,
    *,
    unsigned: bool = False,
    by_command: bool = True,
) -> Restored:
    """Make the server of the backup where the settings say. ``keys_from``: the file of the vault's keys; without it, those of the settings.
    ``unsigned``: also of a backup that has no signature; one with a wrong signature is refused all the same. ``by_command``: the restored audit log
    tells of it at once, since no server does at its next start.

    All is checked before anything is written: digests, keys, signature, and that nothing is there yet. An interrupted one goes on where it was
    when it is asked for again; the rows come last, and no server starts in the home until they are settled.

    Raises:
        BrokenInputError: the backup is not whole. UsageError: something is there already, the keys are others, or the backup is not authentic.
        UnavailableError: there is no backup, or something cannot be read or written.
    """
    said = await asyncio.to_thread(described.read, folder)
    url = await asyncio.to_thread(resolve_database_url, settings)
    check_same_kind(url, said.rows)
    tools, home = 0, settings.server_home
    there = not await is_empty(url)
    if there and not await asyncio.to_thread(interrupted.was_begun, home, folder):
        raise UsageError("the database of the rows is not empty: a backup is restored into an empty one, or a new home")
    keys, place = await asyncio.to_thread(_keys, settings, keys_from)
    _check_keys(said, keys, place)
    if not unsigned or said.signature:
        described.check_signature(said, keys or Keyring(dict))
    if not there:
        tools = (await import_store_file(folder / described.STORE, None, progress, settings)).embedded or 0
        await asyncio.to_thread(_fields, folder, StoreFolder(settings.store))
        if keys is not None and place == keys_from:
            await asyncio.to_thread(write_keys, get_key_file(settings), keys)
        await asyncio.to_thread(_begin, home, folder)
        await restore_rows(url, folder / described.ROWS[said.rows])
    async with open_storage(settings) as storage:
        ended = await end_unfinished_work(storage.database, said.at)
        if by_command:
            await storage.audit_log.begin(_deed(folder, said), status=200)
    await asyncio.to_thread(interrupted.end, home)
    return Restored(said.at, tools, ended)


def _deed(folder: Path, said: Manifest) -> AuditedAction:
    told: JsonObject = {"backup": folder.name, "backup_at": said.at.isoformat()}
    return AuditedAction(via="command", operation="restore", about="Restore a backup", said=told)


def _begin(home: Path, folder: Path) -> None:
    """The home is there also where the rows lie elsewhere."""
    home.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER_MODE)
    interrupted.begin(home, folder)


def _keys(settings: Settings, keys_from: Path | None) -> tuple[Keyring | None, Path | str]:
    """Those that the restored server will work with, and where they are: the setting and the home's own file count before a given one."""
    if given := settings.vault_keys.get_secret_value():
        return load_keyring(given), "FOOTPATH_VAULT_KEYS"
    own = get_key_file(settings)
    if keys_from is not None and not own.exists():
        return load_keyring(keys_from), keys_from
    return (load_keyring(own), own) if own.exists() else (None, own)


def _check_keys(said: Manifest, keys: Keyring | None, place: Path | str) -> None:
    mine = keys.compute_fingerprints() if keys is not None else {}
    if any(mine.get(version) != known for version, known in said.vault.items()):
        raise UsageError(
            f"the server would work with the keys of {place}, and these are not the keys of the backup's vault: with them the tool keys of its users "
            "cannot be read, nor can anybody know that the backup is authentic. In a home without vault.keys give the file that --keys-to wrote (--keys FILE), or set FOOTPATH_VAULT_KEYS"
        )


def _fields(folder: Path, store: StoreFolder) -> None:
    """Which fields of long responses are kept. They are a machine's own, and no reason to refuse those that are there."""
    if (folder / described.FIELDS).exists() and not store.kept_fields.exists():
        copy_database(folder / described.FIELDS, store.kept_fields)
