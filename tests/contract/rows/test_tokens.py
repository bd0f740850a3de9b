"""Tokens: what counts, what does not, and what happens when one comes twice."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import text

from domain.errors import UnauthenticatedError
from server.storage.storage import Storage
from server.storage.tokens import TokenPair
from tests.contract.rows.conftest import ManualClock
from tests.contract.rows.people import user


async def refused(storage: Storage, token: str) -> bool:
    try:
        await storage.tokens.whose(token)
    except UnauthenticatedError:
        return True
    return False


async def test_an_access_token_says_who_it_is(storage: Storage) -> None:
    ada = await user(storage)
    pair = await storage.tokens.open(ada.id, "a browser")
    assert (await storage.tokens.whose(pair.access_token))[0] == ada
    for wrong in (pair.refresh_token, pair.access_token[:-1], pair.access_token + "x", "", "\ud800"):
        assert await refused(storage, wrong)


async def test_tokens_end(storage: Storage, clock: ManualClock) -> None:
    pair = await storage.tokens.open((await user(storage)).id)
    clock.on(minutes=15)
    assert await refused(storage, pair.access_token)
    pair = await storage.tokens.refresh(pair.refresh_token)
    assert not await refused(storage, pair.access_token)
    clock.on(days=30)
    with pytest.raises(UnauthenticatedError):
        await storage.tokens.refresh(pair.refresh_token)


async def test_refreshing_does_not_lengthen_a_session(storage: Storage, clock: ManualClock) -> None:
    pair = await storage.tokens.open((await user(storage)).id)
    clock.on(days=30, minutes=-5)
    fresh = await storage.tokens.refresh(pair.refresh_token)
    assert fresh.session_expires_at == fresh.access_expires_at == pair.session_expires_at


async def test_a_refresh_token_that_comes_back_ends_the_session(storage: Storage) -> None:
    ada = await user(storage)
    first, elsewhere = await storage.tokens.open(ada.id), await storage.tokens.open(ada.id)
    second = await storage.tokens.refresh(first.refresh_token)
    with pytest.raises(UnauthenticatedError):
        await storage.tokens.refresh(first.refresh_token)
    assert await refused(storage, second.access_token)
    with pytest.raises(UnauthenticatedError):
        await storage.tokens.refresh(second.refresh_token)
    assert not await refused(storage, elsewhere.access_token)


async def test_of_many_that_trade_the_same_one_at_most_one_wins_and_the_session_ends(storage: Storage) -> None:
    pair = await storage.tokens.open((await user(storage)).id)
    trades = (storage.tokens.refresh(pair.refresh_token) for _ in range(10))
    done = await asyncio.gather(*trades, return_exceptions=True)
    won = [one for one in done if isinstance(one, TokenPair)]
    assert len(won) == 1
    assert all(isinstance(one, TokenPair | UnauthenticatedError) for one in done)
    assert await refused(storage, won[0].access_token)
    assert await refused(storage, pair.access_token)


async def test_chains_side_by_side_do_not_disturb_each_other(storage: Storage) -> None:
    ada = await user(storage)

    async def chain() -> TokenPair:
        pair = await storage.tokens.open(ada.id)
        for _ in range(5):
            pair = await storage.tokens.refresh(pair.refresh_token)
        return pair

    for pair in await asyncio.gather(*(chain() for _ in range(6))):
        assert not await refused(storage, pair.access_token)


async def test_sessions_are_listed_and_ended_one_by_one(storage: Storage) -> None:
    ada, eve = await user(storage), await user(storage, "eve")
    kept, ended = await storage.tokens.open(ada.id, "kept"), await storage.tokens.open(ada.id, "ended")
    session = (await storage.tokens.whose(ended.access_token)).session_id
    assert not await storage.tokens.revoke(eve.id, session, "not hers")
    assert await storage.tokens.revoke(ada.id, session, "logged out")
    assert await refused(storage, ended.access_token)
    assert [one.label for one in await storage.tokens.sessions(ada.id)] == ["kept"]
    mine = (await storage.tokens.whose(kept.access_token)).session_id
    await storage.tokens.open(ada.id)
    assert await storage.tokens.revoke_all(ada.id, "password changed", but=mine) == 1
    assert not await refused(storage, kept.access_token)


async def test_a_session_tells_when_its_tokens_were_renewed_last(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    begun, pair = clock(), await storage.tokens.open(ada.id, "a browser")
    clock.on(minutes=20)
    await storage.tokens.refresh(pair.refresh_token)
    clock.on(minutes=5)
    await storage.tokens.open_for_program(ada.id, "a program", timedelta(days=1))
    listed = [(one.label, one.program, one.renewed_at - begun) for one in await storage.tokens.sessions(ada.id)]
    assert listed == [("a program", True, timedelta(minutes=25)), ("a browser", False, timedelta(minutes=20))]


async def test_a_removed_user_is_nobody(storage: Storage) -> None:
    await user(storage, "boss", "admin")
    ada = await user(storage)
    pair = await storage.tokens.open(ada.id)
    await storage.users.delete(ada.id)
    assert await refused(storage, pair.access_token)


async def test_no_token_is_kept_or_shown(storage: Storage) -> None:
    pair = await storage.tokens.open((await user(storage)).id)
    async with storage.database.reading() as session:
        rows = str((await session.execute(text("SELECT * FROM tokens"))).all())
    for secret in (pair.access_token, pair.refresh_token):
        assert secret not in rows + repr(pair)
        assert secret.partition("_")[2] not in rows
