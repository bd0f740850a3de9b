"""Secrets for a new password end after a day, and with their account."""

import pytest

from domain.errors import NotFoundError, RegistrationError
from server.storage.storage import Storage
from tests.contract.rows.conftest import ManualClock
from tests.contract.rows.people import user


async def test_one_ends_after_a_day(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    secret, until = await storage.password_resets.add(ada.id)
    assert (await storage.password_resets.find_user(secret)).id == ada.id
    clock.at = until
    with pytest.raises(RegistrationError):
        await storage.password_resets.redeem(secret, "another hash")
    assert await storage.users.get_password_hash(ada.id) == "a hash"


async def test_there_is_none_for_nobody(storage: Storage) -> None:
    with pytest.raises(NotFoundError):
        await storage.password_resets.add("00000000-0000-0000-0000-000000000000")
