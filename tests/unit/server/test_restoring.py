"""A restore is refused before anything is written where the server could not open the vault, and one that was cut off goes on."""

import asyncio
from datetime import datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from domain.errors import UnavailableError, UsageError
from server.backup import restoring
from server.backup.making import back_up
from server.backup.restoring import restore
from server.services import open_services
from server.storage.database import Database
from server.storage.encryption import open_key_file
from server.storage.storage import open_storage
from tests.support import row_samples
from wiring.container import open_container
from wiring.settings import Settings

KEY = "1:" + "A" * 43 + "="


def progress(stage: str, done: int, total: int | None) -> None:
    """Nobody looks."""


def settings(folder: Path, vault_keys: str = "") -> Settings:
    return Settings(server_home=folder / "home", store=folder / "store", vault_keys=SecretStr(vault_keys))


@pytest.fixture
async def backup(tmp_path: Path) -> Path:
    """Of a server with a run that has not ended; its keys lie beside it."""
    mine = settings(tmp_path / "first")
    async with open_container(mine, create=True) as container:
        await container.graph.compute_statistics()
    async with open_storage(mine) as storage:
        await row_samples.run(storage, await row_samples.user(storage))
    await back_up(mine, tmp_path / "backup", progress, tmp_path / "vault.keys")
    return tmp_path / "backup"


async def test_the_keys_that_count_are_those_that_the_server_will_use(backup: Path, tmp_path: Path) -> None:
    keys = tmp_path / "vault.keys"
    with pytest.raises(UsageError, match="the keys of FOOTPATH_VAULT_KEYS"):
        await restore(settings(tmp_path / "set", KEY), backup, progress, keys)
    await asyncio.to_thread(open_key_file, tmp_path / "own" / "home" / "vault.keys")
    with pytest.raises(UsageError, match=r"the keys of .*own/home/vault\.keys"):
        await restore(settings(tmp_path / "own"), backup, progress, keys)
    await asyncio.to_thread((tmp_path / "own" / "home" / "vault.keys").unlink)
    assert (await restore(settings(tmp_path / "own"), backup, progress, keys)).ended == 1


async def test_no_server_goes_on_with_rows_that_are_not_settled(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys, new = tmp_path / "vault.keys", settings(tmp_path / "new")

    async def killed(_database: Database, _at: datetime) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(restoring, "end_unfinished_work", killed)
        with pytest.raises(KeyboardInterrupt):
            await restore(new, backup, progress, keys)
    with pytest.raises(UnavailableError, match="was interrupted"):
        async with open_services(new):
            pass
    assert (await restore(new, backup, progress, keys)).ended == 1
    with pytest.raises(UsageError, match="not empty"):
        await restore(new, backup, progress, keys)
    async with open_services(new):
        pass
