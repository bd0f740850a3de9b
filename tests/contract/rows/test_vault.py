"""The vault: keys sealed in the rows, opened for their owner only, sealed anew when the vault's keys change; servers that share rows need the same keys."""

import logging

import pytest
from sqlalchemy import delete, text, update

from domain.errors import SecretError, UnavailableError
from server.storage.encryption import Keyring
from server.storage.permissions import CallTarget
from server.storage.rows.keys import ToolKeyRow, VaultKeyRow
from server.storage.storage import Storage
from server.storage.vault import ToolKeys
from tests.contract.rows.conftest import ManualClock
from tests.support.row_samples import user

SECRET = "sk-live-d41d8cd98f00b204"


async def test_what_was_put_comes_back(storage: Storage) -> None:
    ada = await user(storage)
    for value in (SECRET, "", "ключ \x00 \U0001f511"):
        shown = await storage.tool_keys.put(ada.id, "weather", value, ["api.example.com"])
        assert await storage.tool_keys.get_value(ada.id, "weather") == value
        assert await storage.tool_keys.list_all(ada.id) == [shown]
    assert await storage.tool_keys.get_value(ada.id, "other") is None
    assert await storage.tool_keys.remove(ada.id, "weather")
    assert not await storage.tool_keys.remove(ada.id, "weather")


async def test_no_row_and_no_log_holds_a_value(storage: Storage, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    ada = await user(storage)
    shown = await storage.tool_keys.put(ada.id, "weather", SECRET, ["api.example.com"])
    await storage.tool_keys.get_value(ada.id, "weather")
    async with storage.database.read_session() as session:
        rows = (await session.execute(text("SELECT * FROM tool_keys"))).all()
    assert SECRET not in repr(shown)
    assert SECRET.encode() not in b"".join(bytes(row.sealed) for row in rows)
    assert SECRET not in str(rows)
    assert SECRET not in caplog.text


async def test_a_row_opens_in_its_place_only(storage: Storage) -> None:
    """Who can write rows cannot make a user's key another's, or another service's."""
    ada, eve = await user(storage), await user(storage, "eve")
    await storage.tool_keys.put(ada.id, "weather", SECRET, [])
    await storage.tool_keys.put(eve.id, "weather", "hers", [])
    async with storage.database.write_session() as session:
        stolen = await session.get_one(ToolKeyRow, (ada.id, "weather"))
        own = update(ToolKeyRow).where(ToolKeyRow.user_id == eve.id)
        await session.execute(own.values(sealed=stolen.sealed, key_version=stolen.key_version))
    with pytest.raises(SecretError, match="cannot be opened"):
        await storage.tool_keys.get_value(eve.id, "weather")


async def test_keys_change_while_the_server_goes_on(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    now = {1: b"a" * 32}
    serving = ToolKeys(storage.database, clock, Keyring(lambda: now))
    for name in ("one", "two"):
        await serving.put(ada.id, name, SECRET + name, [])
    now[2] = b"b" * 32
    command = ToolKeys(storage.database, clock, Keyring(lambda: now))
    assert await command.reseal() == 2
    assert await command.reseal() == 0
    assert await command.list_versions() == {2}
    del now[1]
    assert await serving.get_value(ada.id, "one") == SECRET + "one"
    without = ToolKeys(storage.database, clock, Keyring(lambda: {3: b"c" * 32}))
    with pytest.raises(SecretError, match="version 2"):
        await without.get_value(ada.id, "two")


async def test_a_removed_user_takes_the_keys_along(storage: Storage) -> None:
    await user(storage, "boss", "admin")
    ada = await user(storage)
    await storage.tool_keys.put(ada.id, "weather", SECRET, [])
    await storage.allowed_tools.allow(ada.id, "a/b/c", CallTarget())
    await storage.users.delete(ada.id)
    assert await storage.tool_keys.list_versions() == set()
    assert await storage.allowed_tools.list_all(ada.id) == []


async def test_the_allow_list_is_a_users_own(storage: Storage) -> None:
    ada, eve = await user(storage), await user(storage, "eve")
    for tool in ("b/b/b", "a/a/a", "b/b/b"):
        await storage.allowed_tools.allow(ada.id, tool, CallTarget())
    assert [one.tool for one in await storage.allowed_tools.list_all(ada.id)] == ["a/a/a", "b/b/b"]
    assert await storage.allowed_tools.list_all(eve.id) == []
    assert not await storage.allowed_tools.disallow(eve.id, "a/a/a")
    assert await storage.allowed_tools.disallow(ada.id, "a/a/a")


FIRST, OTHER, NEXT = b"k" * 32, b"o" * 32, b"n" * 32


def of(**keys: bytes) -> Keyring:
    """Keys by version: ``_1``, ``_2``."""
    return Keyring(lambda: {int(name[1:]): key for name, key in keys.items()})


async def agree(url: str, keys: Keyring) -> None:
    """What a server does with the rows when it starts."""
    storage = Storage(url, keys)
    try:
        await storage.vault_fingerprints.check_and_note()
    finally:
        await storage.close()


async def test_another_key_of_the_same_version_is_refused(url: str) -> None:
    await agree(url, of(_1=FIRST))
    await agree(url, of(_1=FIRST))
    with pytest.raises(UnavailableError, match=r"vault key 1 is not the one of its database.*FOOTPATH_VAULT_KEYS"):
        await agree(url, of(_1=OTHER))


async def test_a_server_that_lacks_a_key_in_use_is_refused(storage: Storage, url: str) -> None:
    ada = await user(storage)
    await storage.tool_keys.put(ada.id, "weather", "value", ["weather.example"])
    with pytest.raises(UnavailableError, match="sealed with key 1, which this server lacks"):
        await agree(url, of(_2=NEXT))


async def test_rows_of_before_tell_by_themselves(storage: Storage, url: str) -> None:
    """A database that was filled before keys were noted: who cannot open it does not become its server."""
    ada = await user(storage)
    await storage.tool_keys.put(ada.id, "weather", "value", ["weather.example"])
    with pytest.raises(UnavailableError, match="do not open the vault"):
        await agree(url, of(_1=OTHER))
    await agree(url, of(_1=FIRST))


async def test_keys_are_changed_while_servers_run(storage: Storage, url: str) -> None:
    ada = await user(storage)
    await storage.tool_keys.put(ada.id, "weather", "value", ["weather.example"])
    await storage.vault_fingerprints.check_and_note()
    both = Storage(url, of(_1=FIRST, _2=NEXT))
    await both.vault_fingerprints.check_and_note()
    await agree(url, of(_1=FIRST))  # one that was not given the new key yet
    assert await both.tool_keys.reseal() == 1
    await both.vault_fingerprints.forget_older()
    await both.close()
    await agree(url, of(_2=NEXT))
    await agree(url, of(_1=OTHER, _2=NEXT))
    with pytest.raises(UnavailableError, match="sealed with key 2, which this server lacks"):
        await agree(url, of(_1=FIRST))


async def test_what_was_sealed_with_lost_keys_is_given_up(storage: Storage, url: str) -> None:
    ada = await user(storage)
    await storage.tool_keys.put(ada.id, "weather", "value", ["weather.example"])
    await storage.vault_fingerprints.check_and_note()
    other = Storage(url, of(_1=OTHER))
    assert await other.vault_fingerprints.remove_lost() == 1
    await other.vault_fingerprints.check_and_note()
    assert await other.tool_keys.list_all(ada.id) == []
    await other.close()


async def test_a_fingerprint_is_no_key(storage: Storage) -> None:
    await storage.vault_fingerprints.check_and_note()
    async with storage.database.write_session() as session:
        (row,) = (await session.execute(delete(VaultKeyRow).returning(VaultKeyRow.fingerprint))).all()
    assert len(row[0]) == 32
    assert FIRST.hex() not in row[0]
