"""Where the rows and their keys lie, and how they are opened: by the server, and by commands, which need no more of it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from domain.errors import UnavailableError
from server.storage.database import file_of, file_url
from server.storage.encryption import Keys, keys_of_file, parse_keys
from server.storage.migrate import migrate
from server.storage.storage import Lifetimes, Storage
from wiring.private_files import FOLDER, keep_private, private_database
from wiring.settings import Settings


@asynccontextmanager
async def open_storage(settings: Settings, *, any_keys: bool = False) -> AsyncGenerator[Storage]:
    """The rows, with their tables up to date.

    ``any_keys``: also with keys of the vault that are not those of the rows.

    Raises:
        UnavailableError: the database or the home is not there or cannot be used. UsageError: a setting is wrong.
    """
    url = await asyncio.to_thread(database_url, settings)
    keys = await asyncio.to_thread(vault_keys, settings)
    await migrate(url)
    lifetimes = Lifetimes(timedelta(minutes=settings.access_minutes), timedelta(days=settings.session_days))
    storage = Storage(url, keys, lifetimes)
    try:
        if not any_keys:
            await storage.vault_keys.agree()
        yield storage
    finally:
        await storage.close()


def database_url(settings: Settings) -> str:
    """Where the rows are; makes the home where they lie in it. Home and file are their owner's alone."""
    chosen = settings.database_url.get_secret_value()
    if not chosen:
        try:
            settings.server_home.mkdir(parents=True, exist_ok=True, mode=FOLDER)
        except OSError as error:
            raise UnavailableError(
                f"cannot make the folder {settings.server_home}: {error.strerror}; set FOOTPATH_SERVER_HOME"
            ) from error
        chosen = file_url(settings.server_home / "rows.db")
    keep_private(settings.server_home)
    if file := file_of(chosen):
        private_database(file)
    return chosen


def keys_file(settings: Settings) -> Path:
    """The file of the vault's keys, where no setting holds them."""
    return settings.server_home / "vault.keys"


def vault_keys(settings: Settings) -> Keys:
    """Those of the settings, or of the file in the home, which is made where there is none."""
    if given := settings.vault_keys.get_secret_value():
        fixed = parse_keys(given)
        return Keys(lambda: fixed)
    return keys_of_file(keys_file(settings))
