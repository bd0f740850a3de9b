"""An administrator who downloads a backup, edits it and restores it gets at no key, and takes nothing out of the audit log."""

import asyncio
import json
import sqlite3
import tarfile
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from domain.errors import SecretError, UsageError
from domain.model_service import NewModelService, ServiceTest
from server.backup import manifest as described
from server.backup.manifest import Manifest
from server.backup.restoring import restore
from server.storage.encryption import Keyring, open_key_file
from server.storage.rows.administration import ModelServiceRow
from server.storage.rows.keys import ToolKeyRow
from server.storage.storage import Storage
from tests.server.test_data import DATA, Boss, boss_of
from tests.support.archives import unpack
from tests.support.server_world import World, copied, serving, with_store
from wiring.settings import Settings

SECRET, THEIRS = "sk-live-d41d8cd98f00b204", "collect.example"


def progress(stage: str, done: int, total: int | None) -> None:
    """Nobody looks."""


async def test_an_edited_backup_is_refused_and_the_servers_own_is_not(home: Path, tmp_path: Path) -> None:
    place = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(place) as world:
        boss, archive = await _with_a_backup(world)
        forged = await asyncio.to_thread(_edited, archive, tmp_path / "forging")
        failed = await boss.ended(await _restored(boss, forged), "failed")
        assert "the backup is not authentic" in failed["trouble"]
        assert "another copy" in failed["trouble"], "it says what to do"
        (kept,) = await boss("GET", f"{DATA}/backups")
        await boss("DELETE", f"{DATA}/backups/{kept['name']}")
        stripped = await asyncio.to_thread(_edited, archive, tmp_path / "stripping", signature="")
        failed = await boss.ended(await _restored(boss, stripped), "failed")
        assert "not signed" in failed["trouble"]
        assert (await boss("GET", f"{DATA}/restore"))["pending"] is None
    async with serving(place) as world:
        assert await _key(world) == (SECRET, ("api.example.com",))


async def test_a_restore_keeps_the_audit_log_that_the_server_has(home: Path, tmp_path: Path) -> None:
    place = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(place) as world:
        boss, archive = await _with_a_backup(world)
        user = world.people["user"].id
        await boss("PATCH", f"/api/v1/users/{user}", json={"role": "author"})
        ids = {one["id"] for one in (await boss("GET", "/api/v1/audit"))["entries"]}
        await boss.ended(await _restored(boss, archive))
    async with serving(place) as world:
        boss = await boss_of(world)
        assert world.people["user"].role == "user", "what was changed after the backup is undone"
        entries = (await boss("GET", "/api/v1/audit"))["entries"]
        assert ids < {one["id"] for one in entries}
        assert [one["operation"] for one in entries].count("change_user") == 1
        newest, asked = [one for one in entries if one["operation"] == "restore"]
        assert (newest["via"], newest["name"], asked["via"]) == ("command", "admin", "session")
        assert newest["said"]["entries_kept"] >= 3


async def test_a_command_tells_of_its_restore_and_takes_an_unsigned_one_only_where_that_is_said(
    home: Path, tmp_path: Path
) -> None:
    place = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(place) as world:
        _, archive = await _with_a_backup(world)
    keys, old, forged = place / "vault.keys", tmp_path / "old", tmp_path / "forged"
    await asyncio.to_thread(_edited, archive, old, signature="")
    await asyncio.to_thread(_edited, archive, forged)
    to = Settings(server_home=tmp_path / "new", store=tmp_path / "new-store")
    for folder, unsigned in ((old, False), (forged, False), (forged, True)):
        with pytest.raises(UsageError, match="not signed" if folder == old else "not authentic"):
            await restore(to, folder, progress, keys, unsigned=unsigned)
    other = tmp_path / "other" / "vault.keys"
    await asyncio.to_thread(open_key_file, other)
    with pytest.raises(UsageError, match="cannot be read"):
        await restore(to, old, progress, other, unsigned=True)
    await restore(to, old, progress, keys, unsigned=True)
    async with serving(tmp_path / "new", store=tmp_path / "new-store") as world:
        entries = (await (await boss_of(world))("GET", "/api/v1/audit"))["entries"]
        assert [one["via"] for one in entries if one["operation"] == "restore"] == ["command"]
        with pytest.raises(SecretError):
            await _key(world)  # its hosts are not those that it was sealed for


async def test_a_key_opens_for_the_hosts_alone_that_it_was_given_for(world: World) -> None:
    storage = world.services.storage
    await storage.tool_keys.put(world.people["user"].id, "weather", SECRET, ["api.example.com"])
    await _edit(storage, update(ToolKeyRow).values(hosts=[THEIRS]))
    with pytest.raises(SecretError, match="cannot be opened"):
        await _key(world)


async def test_no_other_name_stands_for_a_key_and_its_hosts(world: World) -> None:
    """A name of two lines could read as the name and the hosts that the key was sealed for, and have it bound to others at the next start."""
    storage, ada = world.services.storage, world.people["user"].id
    await storage.tool_keys.put(ada, "bourse", SECRET, ["api.example.com"])
    forged = 'bourse\n["api.example.com"]'
    await _edit(storage, update(ToolKeyRow).values(name=forged, hosts=[THEIRS]))
    await storage.tool_keys.bind_hosts()
    with pytest.raises(SecretError, match="several lines"):
        await storage.tool_keys.get_value(ada, forged)


async def test_a_model_services_key_goes_to_no_other_address(world: World) -> None:
    storage = world.services.storage
    new = NewModelService(name="ours", kind="chat", provider="other", address="https://models.example/v1", model="m")
    made = await storage.model_services.add(new, SECRET, ServiceTest(works=True), "admin")
    assert await storage.model_services.get_key(made.id) == SECRET
    await _edit(storage, update(ModelServiceRow).values(address=f"https://{THEIRS}/v1"))
    with pytest.raises(SecretError, match=THEIRS):
        await storage.model_services.get_key(made.id)


async def test_a_key_of_before_is_read_and_bound_to_its_hosts_at_the_next_start(home: Path, tmp_path: Path) -> None:
    place = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(place) as world:
        user, storage = world.people["user"].id, world.services.storage
        await storage.tool_keys.put(user, "weather", SECRET, ["api.example.com"])
        keys: Keyring = await asyncio.to_thread(open_key_file, place / "vault.keys")
        version, sealed = keys.seal(SECRET, f"tool key\n{user}\nweather")  # as versions before did
        await _edit(storage, update(ToolKeyRow).values(key_version=version, sealed=sealed))
        assert (await _key(world))[0] == SECRET
    async with serving(place) as world:
        assert (await _key(world))[0] == SECRET
        await _edit(world.services.storage, update(ToolKeyRow).values(hosts=[THEIRS]))
        with pytest.raises(SecretError):
            await _key(world)


async def _with_a_backup(world: World) -> tuple[Boss, bytes]:
    """With a key and an entry of the audit log in it, as it is downloaded."""
    await with_store(world)
    boss = await boss_of(world)
    await world.services.storage.tool_keys.put(world.people["user"].id, "weather", SECRET, ["api.example.com"])
    await boss("POST", "/api/v1/invitations", json={"role": "user"})
    name = (await boss.ended(await boss("POST", f"{DATA}/backups")))["result"]["backup"]
    archive = await boss("GET", f"{DATA}/backups/{name}/download")
    await boss("DELETE", f"{DATA}/backups/{name}")
    return boss, archive


async def _restored(boss: Boss, archive: bytes) -> Any:
    """The job that restores what is sent."""
    sent = await boss("POST", f"{DATA}/uploads", params={"name": "a.tar"}, content=archive)
    taken = await boss.ended(await boss("POST", f"{DATA}/backups/uploaded", json={"upload": sent["id"]}))
    name = taken["result"]["backup"]
    return await boss("POST", f"{DATA}/restore", json={"backup": name, "confirm": "store"})


def _edited(archive: bytes, folder: Path, **manifest: str) -> bytes:
    """With other hosts for all keys, an empty audit log, and digests that fit."""
    with tarfile.open(fileobj=BytesIO(archive)) as tar:
        unpack(tar, folder)
    with closing(sqlite3.connect(folder / "rows.db")) as rows, rows:
        rows.execute("UPDATE tool_keys SET hosts = ?", (json.dumps([THEIRS]),))
        rows.execute("DELETE FROM audit_entries")
    said = Manifest.model_validate_json((folder / described.NAME).read_bytes())
    files = {name: described.held(folder / name) for name in said.files}
    said = said.model_copy(update={"files": files, **manifest})
    (folder / described.NAME).write_text(said.model_dump_json())
    out = BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name in (described.NAME, *said.files):
            tar.add(folder / name, name)
    return out.getvalue()


async def _key(world: World) -> tuple[str | None, tuple[str, ...]]:
    keys, user = world.services.storage.tool_keys, world.people["user"].id
    return await keys.get_value(user, "weather"), (await keys.list_hosts(user))["weather"]


async def _edit(storage: Storage, change: Any) -> None:
    async with storage.database.write_session() as session:
        await session.execute(change)
