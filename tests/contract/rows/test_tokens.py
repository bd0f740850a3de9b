"""Tokens: what counts, what does not, and what happens when one comes twice."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import text

from domain.errors import UnauthenticatedError
from server.storage.storage import Storage
from server.storage.tokens import TokenPair
from tests.contract.rows.conftest import ManualClock
from tests.support.row_samples import CHOICES, user


async def refused(storage: Storage, token: str) -> bool:
    try:
        await storage.tokens.authenticate(token)
    except UnauthenticatedError as error:
        return "log in" in str(error)
    return False


async def test_an_access_token_says_who_it_is(storage: Storage) -> None:
    ada = await user(storage)
    pair = await storage.tokens.open_session(ada.id, "a browser")
    assert (await storage.tokens.authenticate(pair.access_token))[0] == ada
    for wrong in (pair.refresh_token, pair.access_token[:-1], pair.access_token + "x", "", "\ud800"):
        assert await refused(storage, wrong)


async def test_tokens_end(storage: Storage, clock: ManualClock) -> None:
    pair = await storage.tokens.open_session((await user(storage)).id)
    clock.on(minutes=15)
    assert await refused(storage, pair.access_token)
    pair = await storage.tokens.refresh(pair.refresh_token)
    assert not await refused(storage, pair.access_token)
    clock.on(days=30)
    with pytest.raises(UnauthenticatedError):
        await storage.tokens.refresh(pair.refresh_token)


async def test_refreshing_does_not_lengthen_a_session(storage: Storage, clock: ManualClock) -> None:
    pair = await storage.tokens.open_session((await user(storage)).id)
    clock.on(days=30, minutes=-5)
    fresh = await storage.tokens.refresh(pair.refresh_token)
    assert fresh.session_expires_at == fresh.access_expires_at == pair.session_expires_at


async def test_a_refresh_token_that_comes_back_ends_the_session(storage: Storage) -> None:
    ada = await user(storage)
    first, elsewhere = await storage.tokens.open_session(ada.id), await storage.tokens.open_session(ada.id)
    second = await storage.tokens.refresh(first.refresh_token)
    with pytest.raises(UnauthenticatedError):
        await storage.tokens.refresh(first.refresh_token)
    assert await refused(storage, second.access_token)
    with pytest.raises(UnauthenticatedError):
        await storage.tokens.refresh(second.refresh_token)
    assert not await refused(storage, elsewhere.access_token)


async def test_of_many_that_trade_the_same_one_at_most_one_wins_and_the_session_ends(storage: Storage) -> None:
    pair = await storage.tokens.open_session((await user(storage)).id)
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
        pair = await storage.tokens.open_session(ada.id)
        for _ in range(5):
            pair = await storage.tokens.refresh(pair.refresh_token)
        return pair

    for pair in await asyncio.gather(*(chain() for _ in range(6))):
        assert not await refused(storage, pair.access_token)


async def test_sessions_are_listed_and_ended_one_by_one(storage: Storage) -> None:
    ada, eve = await user(storage), await user(storage, "eve")
    kept, ended = await storage.tokens.open_session(ada.id, "kept"), await storage.tokens.open_session(ada.id, "ended")
    session = (await storage.tokens.authenticate(ended.access_token)).session_id
    assert not await storage.tokens.revoke(eve.id, session, "not hers")
    assert await storage.tokens.revoke(ada.id, session, "logged out")
    assert await refused(storage, ended.access_token)
    assert [one.label for one in await storage.tokens.list_sessions(ada.id)] == ["kept"]
    mine = (await storage.tokens.authenticate(kept.access_token)).session_id
    await storage.tokens.open_session(ada.id)
    assert await storage.tokens.revoke_all(ada.id, "password changed", except_session=mine) == 1
    assert not await refused(storage, kept.access_token)


async def test_a_session_tells_when_its_tokens_were_renewed_last(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    begun, pair = clock(), await storage.tokens.open_session(ada.id, "a browser")
    clock.on(minutes=20)
    await storage.tokens.refresh(pair.refresh_token)
    clock.on(minutes=5)
    await storage.tokens.open_program_session(ada.id, "a program", timedelta(days=1))
    listed = [(one.label, one.program, one.renewed_at - begun) for one in await storage.tokens.list_sessions(ada.id)]
    assert listed == [("a program", True, timedelta(minutes=25)), ("a browser", False, timedelta(minutes=20))]


async def test_a_removed_user_is_nobody(storage: Storage) -> None:
    await user(storage, "boss", "admin")
    ada = await user(storage)
    pair = await storage.tokens.open_session(ada.id)
    await storage.users.delete(ada.id)
    assert await refused(storage, pair.access_token)


async def test_no_token_is_kept_or_shown(storage: Storage) -> None:
    pair = await storage.tokens.open_session((await user(storage)).id)
    async with storage.database.read_session() as session:
        rows = str((await session.execute(text("SELECT * FROM tokens"))).all())
    for secret in (pair.access_token, pair.refresh_token):
        assert secret not in rows + repr(pair)
        assert secret.partition("_")[2] not in rows


async def test_a_programs_token_says_what_it_may_do_and_ends_by_itself(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    token, until = await storage.tokens.open_program_session(
        ada.id, "j" * 300, timedelta(days=2), ("read", "ask", "read")
    )
    held = await storage.tokens.authenticate(token)
    assert token.startswith("fpa_")
    assert (held.user, held.program, held.scopes) == (ada, "j" * 200, {"ask", "read"})
    (listed,) = await storage.tokens.list_sessions(ada.id)
    assert (listed.id, listed.program, listed.scopes) == (held.session_id, True, ("ask", "read"))
    assert listed.expires_at == until == clock() + timedelta(days=2)
    clock.on(days=2, seconds=-1)
    assert not await refused(storage, token)
    clock.on(seconds=1)
    assert await refused(storage, token)
    assert await storage.tokens.list_sessions(ada.id) == []


async def test_who_is_logged_in_is_no_program(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    pair = await storage.tokens.open_session(ada.id, "b" * 300)
    held = await storage.tokens.authenticate(pair.access_token)
    assert (held.program, held.scopes) == (None, None)
    assert pair.access_token.startswith("fpa_")
    assert pair.refresh_token.startswith("fpr_")
    assert pair.access_expires_at == clock() + timedelta(minutes=15)
    assert pair.session_expires_at == clock() + timedelta(days=30)
    (listed,) = await storage.tokens.list_sessions(ada.id)
    assert (listed.label, listed.created_at, listed.scopes) == ("b" * 200, clock(), ())


async def test_a_disabled_account_has_no_token_that_counts(storage: Storage) -> None:
    await user(storage, "boss", "admin")
    ada = await user(storage)
    pair = await storage.tokens.open_session(ada.id)
    program, _ = await storage.tokens.open_program_session(ada.id, "a job", timedelta(days=1))
    held = (await storage.tokens.authenticate(program)).session_id
    assert await storage.tokens.get_roles([held, "unknown"]) == {held: "user"}
    await storage.users.change(ada.id, disabled=True)
    assert await refused(storage, pair.access_token)
    assert await refused(storage, program)
    with pytest.raises(UnauthenticatedError):
        await storage.tokens.refresh(pair.refresh_token)
    assert await storage.tokens.get_roles([held]) == {}


async def test_sessions_that_ended_give_no_role(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage, "ada", "author")
    sessions: list[str] = []
    for days in (1, 2, 2):
        token, _ = await storage.tokens.open_program_session(ada.id, "a job", timedelta(days=days))
        sessions.append((await storage.tokens.authenticate(token)).session_id)
    await storage.tokens.revoke(ada.id, sessions[2], "ended")
    assert await storage.tokens.get_roles(sessions) == {sessions[0]: "author", sessions[1]: "author"}
    clock.on(days=1)
    assert await storage.tokens.get_roles(sessions) == {sessions[1]: "author"}


async def test_what_has_expired_for_a_day_is_cleared_away_and_nothing_else(
    storage: Storage, clock: ManualClock
) -> None:
    ada = await user(storage)
    for label, days in (("old", 1), ("later", 2)):
        await storage.tokens.open_program_session(ada.id, label, timedelta(days=days))
    for days, kept in ((2, {"old", "later"}), (0.1, {"later"})):
        clock.on(days=days)
        await storage.tokens.open_session((await user(storage, f"visitor{days}")).id, "a browser")
        assert await _labels(storage) - {"a browser"} == kept


async def _labels(storage: Storage) -> set[str]:
    """Of all sessions that there are rows of, whether they count or not."""
    async with storage.database.read_session() as session:
        return set((await session.execute(text("SELECT label FROM sessions"))).scalars())


async def test_why_a_session_ended_is_kept(storage: Storage) -> None:
    ada = await user(storage)
    stolen, left = (
        await storage.tokens.open_session(ada.id, "stolen"),
        await storage.tokens.open_session(ada.id, "left"),
    )
    await storage.tokens.refresh(stolen.refresh_token)
    with pytest.raises(UnauthenticatedError):
        await storage.tokens.refresh(stolen.refresh_token)
    await storage.tokens.revoke(ada.id, (await storage.tokens.authenticate(left.access_token)).session_id, "logged out")
    assert await storage.tokens.revoke_all(ada.id, "too late to end them again") == 0
    for label, why in (("one", "it was lost"), ("whole", "all were lost")):
        pair = await storage.tokens.open_session(ada.id, label)
        session_id = (await storage.tokens.authenticate(pair.access_token)).session_id
        await storage.tokens.revoke_with_runs(ada.id, session_id if label == "one" else None, why)
    await storage.tokens.open_session(ada.id, "changed")
    await storage.tokens.revoke_all(ada.id, "the password was changed")
    async with storage.database.read_session() as session:
        rows = await session.execute(text("SELECT label, revoked_why FROM sessions"))
        assert {(row.label, row.revoked_why) for row in rows} == {
            ("stolen", "a refresh token came back"),
            ("left", "logged out"),
            ("one", "it was lost"),
            ("whole", "all were lost"),
            ("changed", "the password was changed"),
        }


@pytest.mark.parametrize("everything", [False, True])
async def test_runs_end_with_the_session_that_asked_for_them(storage: Storage, everything: bool) -> None:
    ada, eve = await user(storage), await user(storage, "eve")
    asked: dict[str, str] = {}
    sessions: dict[str, str] = {}
    for name, owner in (("first", ada), ("second", ada), ("hers", eve)):
        pair = await storage.tokens.open_session(owner.id, name)
        sessions[name] = (await storage.tokens.authenticate(pair.access_token)).session_id
        talk = await storage.conversations.add(owner.id)
        made = await storage.runs.add(owner.id, talk.id, "a request", CHOICES, session_id=sessions[name])
        asked[name] = made.id
    assert not await storage.tokens.revoke_with_runs(ada.id, sessions["hers"], "not hers to end")
    assert await storage.tokens.revoke_with_runs(ada.id, None if everything else sessions["first"], "it was lost")
    ended = {"first", "second"} if everything else {"first"}
    async with storage.database.read_session() as session:
        rows = (await session.execute(text("SELECT id, cancel_at, cancel_why FROM runs"))).all()
    assert {row.id: row.cancel_why for row in rows if row.cancel_at is not None} == {
        asked[name]: "it was lost" for name in ended
    }
    assert len(await storage.tokens.list_sessions(ada.id)) == 2 - len(ended)
    assert len(await storage.tokens.list_sessions(eve.id)) == 1
    assert not await storage.tokens.revoke_with_runs(ada.id, sessions["first"], "again")


async def test_runs_of_no_session_end_with_all_of_them_only(storage: Storage) -> None:
    ada = await user(storage)
    talk = await storage.conversations.add(ada.id)
    await storage.runs.add(ada.id, talk.id, "a request", CHOICES)
    for session_id, ended in (("unknown", None), (None, "it was lost")):
        assert not await storage.tokens.revoke_with_runs(ada.id, session_id, "it was lost")
        async with storage.database.read_session() as session:
            assert (await session.execute(text("SELECT cancel_why FROM runs"))).scalar_one() == ended


async def _set(storage: Storage, statement: str) -> None:
    async with storage.database.write_session() as session:
        await session.execute(text(statement))


@pytest.mark.parametrize(
    ("statement", "access_counts"),
    [
        ("UPDATE users SET disabled_at = created_at", False),
        ("UPDATE sessions SET expires_at = created_at", False),
        ("UPDATE tokens SET expires_at = created_at WHERE kind = 'refresh'", True),
    ],
)
async def test_each_row_alone_ends_what_its_tokens_count_for(
    storage: Storage, statement: str, access_counts: bool
) -> None:
    """Whatever wrote it: a token ends in the moment that its own row, its session's or its user's names."""
    ada = await user(storage)
    pair = await storage.tokens.open_session(ada.id)
    session_id = (await storage.tokens.authenticate(pair.access_token)).session_id
    await _set(storage, statement)
    assert await refused(storage, pair.access_token) is not access_counts
    assert await storage.tokens.get_roles([session_id]) == ({session_id: "user"} if access_counts else {})
    with pytest.raises(UnauthenticatedError, match="log in"):
        await storage.tokens.refresh(pair.refresh_token)


async def test_what_is_no_refresh_token_ends_no_session(storage: Storage) -> None:
    """Only one that was traded in before does: neither a stranger's guess nor an access token."""
    ada = await user(storage)
    pair = await storage.tokens.refresh((await storage.tokens.open_session(ada.id)).refresh_token)
    for wrong in ("fpr_guessed", pair.access_token):
        with pytest.raises(UnauthenticatedError):
            await storage.tokens.refresh(wrong)
    assert not await refused(storage, pair.access_token)
    assert [one.label for one in await storage.tokens.list_sessions(ada.id)] == [""]


async def test_refreshing_clears_away_what_has_expired_of_its_own_session(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    mine, other = await storage.tokens.open_session(ada.id, "mine"), await storage.tokens.open_session(ada.id, "other")
    clock.on(minutes=20)
    await storage.tokens.refresh(mine.refresh_token)
    async with storage.database.read_session() as session:
        rows = await session.execute(
            text("SELECT label, kind, count(*) FROM tokens JOIN sessions ON session_id = id GROUP BY label, kind")
        )
        assert {tuple(row) for row in rows} == {
            ("mine", "access", 1),
            ("mine", "refresh", 2),
            ("other", "access", 1),
            ("other", "refresh", 1),
        }
    assert await refused(storage, other.access_token)
