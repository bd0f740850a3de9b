"""Servers that share rows must have the same keys of the vault: one with keys of its own is told at its start, and seals nothing."""

import pytest
from sqlalchemy import delete

from domain.errors import UnavailableError
from server.storage.encryption import Keyring
from server.storage.rows.keys import VaultKeyRow
from server.storage.storage import Storage
from tests.contract.rows.people import user

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
