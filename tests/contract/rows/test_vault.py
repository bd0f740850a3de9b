"""Users' keys: sealed in the rows, opened for their owner only, sealed anew when the vault's keys change."""

import logging

import pytest
from sqlalchemy import text, update

from domain.errors import SecretError
from server.storage.encryption import Keyring
from server.storage.permissions import CallTarget
from server.storage.rows.keys import ToolKeyRow
from server.storage.storage import Storage
from server.storage.vault import ToolKeys
from tests.contract.rows.conftest import ManualClock
from tests.contract.rows.people import user

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
