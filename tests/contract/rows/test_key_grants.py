"""Keys that are obtained: renewed once however many ask, kept before they are used, and told to their owner where that fails."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from fastapi import Response
from sqlalchemy import select, text, update

from agent.execution.http.guard import AddressGuard
from agent.execution.http.guarded_json_client import GuardedJsonClient, JsonClientLimits
from domain.errors import SecretError
from server.oauth.renewal import Renewals
from server.storage.encryption import Keyring
from server.storage.key_grants import (
    ConsentRequest,
    GrantTerms,
    GrantTokens,
    KeyGrant,
    KeyGrants,
    PendingConsent,
    StoredGrant,
)
from server.storage.rows.keys import ToolKeyRow
from server.storage.storage import Storage
from server.storage.vault import ToolKeys
from tests.contract.rows.conftest import ManualClock
from tests.support.fake_authorization_server import CLIENT, SECRET, FakeAuthorizationServer, fake_authorization_server
from tests.support.row_samples import user

TASKS = 50


@pytest.fixture
async def fake() -> AsyncIterator[FakeAuthorizationServer]:
    async with fake_authorization_server() as opened:
        yield opened


@pytest.fixture
async def exchange() -> AsyncIterator[GuardedJsonClient]:
    opened = GuardedJsonClient(AddressGuard({"127.0.0.1"}), JsonClientLimits(seconds=1.0))
    yield opened
    await opened.close()


def renewals(storage: Storage, exchange: GuardedJsonClient) -> Renewals:
    return Renewals(storage.key_grants, exchange, lambda _, name: f"obtain {name} again")


async def ended(storage: Storage, fake: FakeAuthorizationServer, clock: ManualClock, **terms: Any) -> str:
    """A user whose key ``things`` was obtained, and whose access token is over."""
    ada = await user(storage)
    fake.refresh_tokens["rt-first"] = True
    chosen = GrantTerms(
        kind="authorization_code", token_url=f"{fake.url}/token", client_id=CLIENT, client_secret=SECRET, client_auth="basic"
    )  # fmt: skip
    tokens = GrantTokens(access="at-first", refresh="rt-first", fresh_until=clock(), ends_at=clock())
    grant = KeyGrant(terms=chosen.model_copy(update=terms), tokens=tokens)
    await storage.key_grants.put(ada.id, "things", grant, ["127.0.0.1"])
    return ada.id


async def held(storage: Storage, ada: str) -> GrantTokens:
    kept = await storage.key_grants.get(ada, "things")
    assert kept is not None
    return kept.grant.tokens


async def test_many_that_ask_at_once_cause_one_renewal(
    storage: Storage,
    url: str,
    keys: Keyring,
    clock: ManualClock,
    fake: FakeAuthorizationServer,
    exchange: GuardedJsonClient,
) -> None:
    """Tasks of two processes: each has its own connections and renewals. The refresh token counts once."""
    ada = await ended(storage, fake, clock)
    other = Storage(url, keys, clock=clock)
    both = (renewals(storage, exchange), renewals(other, exchange))
    found = await asyncio.gather(*(both[number % 2].token(ada, "things") for number in range(TASKS)))
    assert len(set(found)) == 1
    assert found[0] in fake.access_tokens
    assert fake.kinds() == ["refresh_token"]
    tokens = await held(storage, ada)
    assert (tokens.access, fake.refresh_tokens.get(tokens.refresh)) == (found[0], True)
    await other.close()


async def test_each_refresh_token_is_used_once_in_its_turn(
    storage: Storage, clock: ManualClock, fake: FakeAuthorizationServer, exchange: GuardedJsonClient
) -> None:
    ada = await ended(storage, fake, clock)
    fresh = renewals(storage, exchange)
    for _ in range(3):
        token = await fresh.token(ada, "things")
        assert token == await fresh.token(ada, "things")
        assert token in fake.access_tokens
        clock.on(seconds=3600)
    assert [one["refresh_token"] for one in fake.asked] == ["rt-first", *fake.issued[1:5:2]]


async def test_it_is_renewed_some_time_before_it_ends(
    storage: Storage, clock: ManualClock, fake: FakeAuthorizationServer, exchange: GuardedJsonClient
) -> None:
    ada = await ended(storage, fake, clock)
    fresh = renewals(storage, exchange)
    first = await fresh.token(ada, "things")
    clock.on(seconds=3539)
    assert await fresh.token(ada, "things") == first
    clock.on(seconds=2)
    assert await fresh.token(ada, "things") != first


async def test_what_was_withdrawn_is_told_until_it_is_obtained_again(
    storage: Storage, clock: ManualClock, fake: FakeAuthorizationServer, exchange: GuardedJsonClient
) -> None:
    ada = await ended(storage, fake, clock)
    fake.revoke(refresh=True)
    fresh = renewals(storage, exchange)
    for _ in range(2):
        with pytest.raises(
            SecretError, match=r"things needs consent again \(127.0.0.1 gives no token: invalid_grant.*obtain things"
        ):
            await fresh.token(ada, "things")
    assert len(fake.asked) == 1  # nobody asks again in vain
    (key,) = await storage.tool_keys.list_all(ada)
    assert "invalid_grant" in key.lapsed
    assert not await fresh.refused(ada, "things", "at-first")
    fake.refresh_tokens["rt-first"] = True
    grant = await storage.key_grants.get(ada, "things")
    assert grant is not None
    await storage.key_grants.put(ada, "things", grant.grant, ["127.0.0.1"])
    assert await fresh.token(ada, "things") in fake.access_tokens


async def test_without_a_refresh_token_it_lapses_when_it_ends(
    storage: Storage, clock: ManualClock, fake: FakeAuthorizationServer, exchange: GuardedJsonClient
) -> None:
    ada = await ended(storage, fake, clock)
    grant = KeyGrant(terms=GrantTerms(kind="authorization_code", token_url=f"{fake.url}/token", client_id=CLIENT), tokens=GrantTokens(access="a", fresh_until=clock()))  # fmt: skip
    await storage.key_grants.put(ada, "things", grant, [])
    with pytest.raises(SecretError, match="without a refresh token"):
        await renewals(storage, exchange).token(ada, "things")
    assert fake.asked == []


async def slow() -> Response:
    await asyncio.sleep(30)
    return Response()


async def busy() -> Response:
    return Response('{"error": "temporarily_unavailable"}', 503, media_type="application/json")


@pytest.mark.parametrize(("does", "said"), [(slow, "did not answer within 1 second"), (busy, "HTTP 503")])
async def test_a_server_that_is_away_costs_nothing_that_was_there(
    storage: Storage,
    clock: ManualClock,
    fake: FakeAuthorizationServer,
    exchange: GuardedJsonClient,
    does: Any,
    said: str,
) -> None:
    """Within the margin the old token counts still; after its end the call is told what is wrong, and the next one tries again."""
    ada = await ended(storage, fake, clock)
    fake.answers_token = does
    fresh = renewals(storage, exchange)
    with pytest.raises(SecretError, match=f"{said}.*try again later"):
        await fresh.token(ada, "things")
    fake.answers_token = None
    first = await fresh.token(ada, "things")
    fake.answers_token = does
    clock.on(seconds=3550)
    assert await fresh.token(ada, "things") == first
    clock.on(seconds=51)
    with pytest.raises(SecretError, match=said):
        await fresh.token(ada, "things")
    fake.answers_token = None
    assert await fresh.token(ada, "things") not in (first, None)


async def test_one_that_dies_in_its_turn_holds_nobody_up_for_good(
    storage: Storage, clock: ManualClock, fake: FakeAuthorizationServer, exchange: GuardedJsonClient
) -> None:
    ada = await ended(storage, fake, clock)
    kept = await storage.key_grants.get(ada, "things")
    assert kept is not None
    assert await storage.key_grants.claim_renewal(ada, "things", kept, timedelta(seconds=30))
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        clock.on(seconds=10)

    fresh = Renewals(storage.key_grants, exchange, lambda _, name: name, sleep)
    assert await fresh.token(ada, "things") in fake.access_tokens
    assert len(waits) == 4
    assert fake.kinds() == ["refresh_token"]


async def test_a_key_that_is_put_anew_meanwhile_is_not_overwritten(
    storage: Storage, clock: ManualClock, fake: FakeAuthorizationServer, exchange: GuardedJsonClient
) -> None:
    ada = await ended(storage, fake, clock)
    going, go_on = asyncio.Event(), asyncio.Event()

    async def when_told() -> Response:
        going.set()
        await go_on.wait()
        return fake.tokens(refresh=True)

    fake.answers_token = when_told
    waiting = asyncio.create_task(renewals(storage, exchange).token(ada, "things"))
    await going.wait()
    await storage.tool_keys.put(ada, "things", "plain", ["127.0.0.1"])
    go_on.set()
    with pytest.raises(SecretError, match="removed or replaced"):
        await waiting
    assert await storage.tool_keys.get_value(ada, "things") == "plain"


async def revoked(
    storage: Storage, fake: FakeAuthorizationServer, clock: ManualClock, fresh: Renewals
) -> tuple[str, str]:
    """A user, and the access token of ``things`` that was obtained for them and that no host takes any more."""
    ada = await ended(storage, fake, clock)
    first = await fresh.token(ada, "things")
    assert first is not None
    fake.revoke()
    return ada, first


async def test_who_reads_the_rows_just_before_a_renewal_is_told_of_the_new_token(
    storage: Storage,
    clock: ManualClock,
    fake: FakeAuthorizationServer,
    exchange: GuardedJsonClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fresh = renewals(storage, exchange)
    ada, first = await revoked(storage, fake, clock, fresh)
    get, read, go_on = storage.key_grants.get, asyncio.Event(), asyncio.Event()

    async def late(owner: str, name: str) -> StoredGrant | None:
        found = await get(owner, name)
        if not read.is_set():
            read.set()
            await go_on.wait()
        return found

    monkeypatch.setattr(storage.key_grants, "get", late)
    waiting = asyncio.create_task(fresh.refused(ada, "things", first))
    await read.wait()
    assert await fresh.refused(ada, "things", first)
    go_on.set()
    assert await waiting
    assert len(fake.asked) == 2


async def test_a_token_that_a_host_refuses_is_renewed_once_for_all_who_were_refused(
    storage: Storage, clock: ManualClock, fake: FakeAuthorizationServer, exchange: GuardedJsonClient
) -> None:
    fresh = renewals(storage, exchange)
    ada, first = await revoked(storage, fake, clock, fresh)
    assert await asyncio.gather(*(fresh.refused(ada, "things", first) for _ in range(TASKS))) == [True] * TASKS
    assert len(fake.asked) == 2
    second = await fresh.token(ada, "things")
    assert second in fake.access_tokens
    assert not await fresh.refused(ada, "things", str(second))  # a host that refuses whatever comes
    assert len(fake.asked) == 2


async def test_tokens_move_to_new_keys_of_the_vault_and_open_in_their_place_only(
    storage: Storage, clock: ManualClock, fake: FakeAuthorizationServer
) -> None:
    ada = await ended(storage, fake, clock)
    now = {1: b"k" * 32, 2: b"n" * 32}
    newer = Keyring(lambda: now)
    assert await ToolKeys(storage.database, clock, newer).reseal() == 1
    del now[1]
    kept = await KeyGrants(storage.database, clock, newer).get(ada, "things")
    assert kept is not None
    assert kept.grant.tokens.refresh == "rt-first"
    async with storage.database.read_session() as session:
        row = (await session.scalars(select(ToolKeyRow))).one()
    assert b"rt-first" not in row.sealed
    async with (
        storage.database.write_session() as session
    ):  # as if it had been given: it would be sent as it lies there
        await session.execute(update(ToolKeyRow).values(grant=None))
    with pytest.raises(SecretError, match="cannot be opened"):
        await ToolKeys(storage.database, clock, newer).get_value(ada, "things")


async def test_a_consent_counts_once_and_for_ten_minutes(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    terms = GrantTerms(
        kind="authorization_code", token_url="https://id.example.com", client_id="c", client_secret=SECRET
    )
    asked = ConsentRequest(terms=terms, hosts=("a.example",), redirect_uri="https://f.example", verifier="the verifier")

    def consent(name: str) -> PendingConsent:
        return PendingConsent(user_id=ada.id, shelf="user", owner_id=ada.id, name=name, asked=asked)

    state = await storage.key_consents.add(consent("one"))
    late = await storage.key_consents.add(consent("two"))
    async with storage.database.read_session() as session:
        rows = str((await session.execute(text("SELECT * FROM key_consents"))).all())
    for hidden in (state, "the verifier", SECRET):
        assert hidden not in rows
    taken = await asyncio.gather(*(storage.key_consents.take(state) for _ in range(5)))
    assert [one for one in taken if one] == [consent("one")]
    clock.on(minutes=10)
    assert await storage.key_consents.take(late) is None
