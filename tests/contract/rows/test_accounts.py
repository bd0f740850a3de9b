"""Accounts, invitations, failed log-ins, and links for a new password."""

import asyncio
from datetime import timedelta

import pytest

from domain.errors import ConflictError, NotFoundError, RegistrationError, UnauthenticatedError
from server.storage.login_attempts import AttemptLimits
from server.storage.storage import Storage
from tests.contract.rows.conftest import ManualClock
from tests.support.row_samples import user

LIMITS = AttemptLimits(free=3)


async def test_a_name_is_taken_once_in_any_case_and_form(storage: Storage) -> None:
    await user(storage, "Ada")
    for same in ("ada", "ADA", "\uff21da"):
        with pytest.raises(ConflictError, match="taken"):
            await user(storage, same)
    found = await storage.users.find_by_name("aDA")
    assert found is not None
    assert (found[0].name, found[1]) == ("Ada", "a hash")


async def test_of_many_at_once_one_gets_the_name(storage: Storage) -> None:
    done = await asyncio.gather(*(user(storage, "ada") for _ in range(8)), return_exceptions=True)
    assert sum(not isinstance(one, ConflictError) for one in done) == 1
    assert len(await storage.users.list_page()) == 1


async def test_pages_follow_each_other(storage: Storage) -> None:
    made = [(await user(storage, f"user{n}")).id for n in range(5)]
    first = await storage.users.list_page(limit=3)
    rest = await storage.users.list_page(after=first[-1].id, limit=3)
    assert [one.id for one in first + rest] == made


async def test_somebody_can_always_administer(storage: Storage) -> None:
    one, other = await user(storage, "one", "admin"), await user(storage, "other", "admin")
    acts = [storage.users.change(one.id, role="user"), storage.users.delete(other.id)]
    done = await asyncio.gather(*acts, return_exceptions=True)
    assert [type(result) for result in done if isinstance(result, Exception)] == [ConflictError]
    left = [who for who in await storage.users.list_page() if who.role == "admin"]
    assert len(left) == 1
    with pytest.raises(ConflictError, match="last administrator"):
        await storage.users.change(left[0].id, disabled=True)
    with pytest.raises(NotFoundError):
        await storage.users.change("nobody", role="admin")


async def test_who_is_disabled_is_out_at_once(storage: Storage) -> None:
    await user(storage, "boss", "admin")
    ada = await user(storage)
    pair = await storage.tokens.open_session(ada.id)
    await storage.users.change(ada.id, disabled=True)
    await storage.users.change(ada.id, disabled=False)
    for refused in (storage.tokens.authenticate(pair.access_token), storage.tokens.refresh(pair.refresh_token)):
        with pytest.raises(UnauthenticatedError):
            await refused


async def test_a_hash_is_replaced_only_where_it_is_still_the_same(storage: Storage) -> None:
    ada = await user(storage)
    assert await storage.users.set_password(ada.id, "new", replaces="a hash")
    assert not await storage.users.set_password(ada.id, "late", replaces="a hash")
    assert await storage.users.get_password_hash(ada.id) == "new"


async def test_an_invitation_makes_one_account(storage: Storage) -> None:
    boss = await user(storage, "boss", "admin")
    invitation, secret = await storage.invitations.add(boss.id, "author", "for Ada", days=7)
    redeemed = [storage.invitations.redeem(secret, f"ada{n}", "h") for n in range(4)]
    done = await asyncio.gather(*redeemed, return_exceptions=True)
    assert sum(isinstance(one, RegistrationError) for one in done) == 3
    (ada,) = [who for who in await storage.users.list_page() if who.id != boss.id]
    assert ada.role == "author"
    (kept,) = await storage.invitations.list_all()
    assert (kept.id, kept.used_by) == (invitation.id, ada.id)
    assert secret not in str(kept)


async def test_an_invitation_survives_a_name_that_is_taken(storage: Storage) -> None:
    await user(storage, "ada")
    _, secret = await storage.invitations.add(None, "user", "", days=7)
    with pytest.raises(ConflictError):
        await storage.invitations.redeem(secret, "ada", "h")
    assert (await storage.invitations.redeem(secret, "grace", "h")).name == "grace"


async def test_an_old_or_withdrawn_invitation_does_not_count(storage: Storage, clock: ManualClock) -> None:
    _, old = await storage.invitations.add(None, "user", "", days=7)
    clock.on(days=7)
    withdrawn, secret = await storage.invitations.add(None, "user", "", days=7)
    assert await storage.invitations.remove(withdrawn.id)
    assert not await storage.invitations.remove(withdrawn.id)
    for word in (old, secret, "never seen"):
        with pytest.raises(RegistrationError):
            await storage.invitations.redeem(word, "ada", "h")


async def test_waits_grow_and_are_forgotten(storage: Storage, clock: ManualClock) -> None:
    waits: list[float] = []
    for _ in range(6):
        while (wait := await storage.login_attempts.begin(("account:ada", LIMITS))) > 0:
            waits.append(wait)
            clock.on(seconds=wait)
    assert waits == [30, 60, 120]
    assert await storage.login_attempts.begin(("account:grace", LIMITS)) == 0
    clock.on(days=2)
    assert [await storage.login_attempts.begin(("account:ada", LIMITS)) for _ in range(3)] == [0, 0, 0]
    assert await storage.login_attempts.begin(("account:ada", LIMITS)) == 30


async def test_a_hundred_at_once_are_a_hundred(storage: Storage) -> None:
    waits = await asyncio.gather(*(storage.login_attempts.begin(("account:ada", LIMITS)) for _ in range(100)))
    assert waits.count(0) == LIMITS.free


async def test_what_comes_after_a_key_that_waits_is_not_counted(storage: Storage) -> None:
    keys = [("address:::1", LIMITS), ("account:ada", LIMITS)]
    assert [await storage.login_attempts.begin(*keys) for _ in range(3)] == [0, 0, 0]
    assert await storage.login_attempts.begin(*keys[::-1]) == 30
    await storage.login_attempts.clear("account:ada")
    waits = await asyncio.gather(*(storage.login_attempts.begin(*keys) for _ in range(20)))
    assert waits == [30] * 20
    assert [await storage.login_attempts.begin(("account:ada", LIMITS)) for _ in range(4)] == [0, 0, 0, 30]


async def test_of_many_places_of_a_user_the_latest_are_known(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    for n in range(25):
        await storage.login_places.remember(ada.id, f"place {n}")
        clock.on(seconds=1)
    await storage.login_places.remember(ada.id, "place 2")
    known = [n for n in range(25) if await storage.login_places.is_known("ADA", f"place {n}")]
    assert known == [2, *range(6, 25)]
    assert not await storage.login_places.is_known("eve", "place 24")


async def test_success_forgets_the_account_and_forgives_the_address_one(storage: Storage) -> None:
    for _ in range(3):
        await storage.login_attempts.begin(("account:ada", LIMITS))
    await storage.login_attempts.clear("account:ada")
    assert await storage.login_attempts.begin(("account:ada", LIMITS)) == 0
    for _ in range(3):
        await storage.login_attempts.begin(("address:::1", LIMITS))
    await storage.login_attempts.forgive("address:::1")
    assert await storage.login_attempts.begin(("address:::1", LIMITS)) == 0
    assert await storage.login_attempts.begin(("address:::1", LIMITS)) == 30


def test_no_wait_is_longer_than_the_longest() -> None:
    assert LIMITS.wait_after(10_000) == timedelta(minutes=15)


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
