"""Registration, log-in, lockout, tokens and passwords, as a client sees them."""

import asyncio
import logging
from pathlib import Path

import httpx
import pytest
from pwdlib.hashers.argon2 import Argon2Hasher

from server.auth.passwords import Passwords
from tests.support.server_world import PASSWORD, World, serving

LOGIN = {"name": "user", "password": PASSWORD}


async def bearer(world: World, **body: str) -> dict[str, str]:
    answer = await world.client.post("/api/v1/auth/login", json=LOGIN | body)
    assert answer.status_code == 200, answer.text
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


async def status(world: World, headers: dict[str, str]) -> int:
    return (await world.client.get("/api/v1/me", headers=headers)).status_code


async def test_who_registers_is_logged_in(world: World) -> None:
    body = {"name": "Grace", "password": PASSWORD}
    answer = await world.client.post("/api/v1/auth/register", json=body)
    assert answer.status_code == 201
    assert answer.json()["user"]["role"] == "user"
    assert await status(world, {"Authorization": f"Bearer {answer.json()['access_token']}"}) == 200
    again = await world.client.post("/api/v1/auth/register", json=body | {"name": "grace"})
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    assert await bearer(world, name="GRACE")


async def test_registration_by_invitation(tmp_path: Path) -> None:
    async with serving(tmp_path, registration="invited") as world:
        body = {"name": "grace", "password": PASSWORD}
        refused = await world.client.post("/api/v1/auth/register", json=body)
        assert (refused.status_code, refused.json()["code"]) == (403, "registration")
        admin = await world.headers_of("admin")
        made = (await world.client.post("/api/v1/invitations", json={"role": "author"}, headers=admin)).json()
        let_in = await world.client.post("/api/v1/auth/register", json=body | {"invitation": made["secret"]})
        assert let_in.json()["user"]["role"] == "author"
        listed = (await world.client.get("/api/v1/invitations", headers=admin)).json()
        assert listed[0]["used_by"] == let_in.json()["user"]["id"]
        assert "secret" not in listed[0]


async def test_registration_that_is_closed(tmp_path: Path) -> None:
    async with serving(tmp_path, registration="closed") as world:
        _, invitation = await world.services.storage.invitations.add(None, "admin", "", days=7)
        for more in ({}, {"invitation": invitation}):
            refused = await world.client.post(
                "/api/v1/auth/register", json={"name": "grace", "password": PASSWORD, **more}
            )
            assert (refused.status_code, refused.json()["code"]) == (403, "registration")
        assert (await world.client.get("/api/v1/auth/registration")).json() == {"registration": "closed"}


async def test_a_wrong_name_and_a_wrong_password_look_the_same(world: World) -> None:
    wrong = [
        await world.client.post("/api/v1/auth/login", json=LOGIN | given)
        for given in ({"password": "wrong"}, {"name": "nobody-here"}, {"name": "nobody-here", "password": "\x01"})
    ]
    assert {answer.status_code for answer in wrong} == {401}
    assert len({answer.text for answer in wrong}) == 1


async def test_an_unknown_name_costs_as_much_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: as many verifications, with the same parameters."""
    hasher = Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1)
    passwords, seen = Passwords(hasher), list[str]()
    true = Argon2Hasher.verify

    def counted(self: Argon2Hasher, password: str | bytes, kept: str | bytes) -> bool:
        seen.append(str(kept).rpartition("$")[0].rpartition("$")[0])
        return true(self, password, kept)

    monkeypatch.setattr(Argon2Hasher, "verify", counted)
    kept = await passwords.hash(PASSWORD)
    assert await passwords.verify(PASSWORD, kept) == (True, None)
    assert await passwords.verify("a password that nobody has", None) == (False, None)
    assert len(seen) == 2
    assert len(set(seen)) == 1
    assert await passwords.verify(PASSWORD, "no hash at all") == (False, None)


async def test_a_hash_with_older_parameters_is_renewed_at_log_in(world: World) -> None:
    user, storage = world.people["user"], world.services.storage
    old = await Passwords(Argon2Hasher(time_cost=2, memory_cost=8, parallelism=1)).hash(PASSWORD)
    await storage.users.set_password(user.id, old)
    await bearer(world)
    renewed = await storage.users.get_password_hash(user.id)
    assert renewed is not None
    assert renewed.startswith("$argon2id$v=19$m=8,t=1,p=1$")
    await bearer(world)


async def test_a_password_that_is_set_during_a_log_in_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old one is not put back in its place when its hash is renewed."""
    user, users, passwords = world.people["user"], world.services.storage.users, world.services.accounts.passwords
    await users.set_password(
        user.id, await Passwords(Argon2Hasher(time_cost=2, memory_cost=8, parallelism=1)).hash(PASSWORD)
    )
    new, verify = await passwords.hash("another good one"), Passwords.verify

    async def verify_slowly(self: Passwords, password: str, kept: str | None) -> tuple[bool, str | None]:
        verified = await verify(self, password, kept)
        await users.set_password(user.id, new)
        return verified

    monkeypatch.setattr(Passwords, "verify", verify_slowly)
    await bearer(world)
    assert await users.get_password_hash(user.id) == new


async def test_after_some_failures_one_has_to_wait(world: World) -> None:
    tries = (world.client.post("/api/v1/auth/login", json=LOGIN | {"password": "wrong"}) for _ in range(12))
    answers = await asyncio.gather(*tries)
    assert sorted(answer.status_code for answer in answers) == [401] * 5 + [429] * 7
    right = await world.client.post("/api/v1/auth/login", json=LOGIN)
    assert (right.status_code, right.json()["code"]) == (429, "locked_out")
    assert 1 <= int(right.headers["Retry-After"]) <= 30
    assert await bearer(world, name="other")


async def test_one_address_is_stopped_as_well_and_no_other(world: World) -> None:
    answers = [
        await world.client.post("/api/v1/auth/login", json={"name": f"guess{n}", "password": "x"}) for n in range(21)
    ]
    assert [answer.status_code for answer in answers] == [401] * 20 + [429]
    elsewhere = {"X-Forwarded-For": "203.0.113.9"}
    assert (await world.client.post("/api/v1/auth/login", json=LOGIN, headers=elsewhere)).status_code == 200


async def test_who_comes_in_is_counted_neither_by_name_nor_by_address(world: World) -> None:
    for tries in ("wrong", "wrong", PASSWORD) * 8:
        answer = await world.client.post("/api/v1/auth/login", json=LOGIN | {"password": tries})
        assert answer.status_code == (200 if tries == PASSWORD else 401)


async def test_whoever_comes_without_an_address_is_counted_as_well(world: World) -> None:
    """As over a Unix socket."""
    transport = httpx.ASGITransport(world.app, client=None)  # pyright: ignore[reportArgumentType]  # ASGI has None for such a connection
    async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
        tries = [await client.post("/api/v1/auth/login", json=LOGIN | {"password": "wrong"}) for _ in range(6)]
        assert [answer.status_code for answer in tries] == [401] * 5 + [429]
        assert (await client.post("/api/v1/auth/login", json=LOGIN | {"name": "other"})).status_code == 200


async def test_logging_out_ends_this_session_only(world: World) -> None:
    here, there = await bearer(world), await bearer(world)
    assert (await world.client.post("/api/v1/auth/logout", headers=here)).status_code == 204
    assert (await status(world, here), await status(world, there)) == (401, 200)


async def test_a_new_password_ends_other_sessions(world: World) -> None:
    here, there = await bearer(world), await bearer(world)
    wrong = {"old": "wrong", "new": "another good one"}
    assert (await world.client.post("/api/v1/me/password", json=wrong, headers=here)).status_code == 401
    assert (await status(world, here), await status(world, there)) == (200, 200)
    body = {"old": PASSWORD, "new": "another good one"}
    assert (await world.client.post("/api/v1/me/password", json=body, headers=here)).status_code == 204
    assert (await status(world, here), await status(world, there)) == (200, 401)
    assert (await world.client.post("/api/v1/auth/login", json=LOGIN)).status_code == 401
    await bearer(world, password="another good one")


async def test_my_sessions_are_told_apart_by_what_logged_in(world: World) -> None:
    headers = {"User-Agent": "a browser on my telephone"}
    here = (await world.client.post("/api/v1/auth/login", json=LOGIN, headers=headers)).json()["access_token"]
    (session,) = (await world.client.get("/api/v1/me/sessions", headers={"Authorization": f"Bearer {here}"})).json()
    assert session["label"] == "a browser on my telephone"


async def test_all_other_sessions_are_ended_at_once(world: World) -> None:
    here, there = await bearer(world), await bearer(world)
    assert (await world.client.delete("/api/v1/me/sessions", headers=here)).status_code == 204
    assert (await status(world, here), await status(world, there)) == (200, 401)


async def test_the_language_that_is_chosen_is_told_at_every_log_in(world: World) -> None:
    here = await bearer(world)
    for wrong in ("", "中文", "z", "en_US", "en; Path=/", "e" * 40, 7):
        answer = await world.client.patch("/api/v1/me", json={"language": wrong}, headers=here)
        assert answer.status_code == 422
    for chosen in ("zh", "pt-BR", None):
        changed = await world.client.patch("/api/v1/me", json={"language": chosen}, headers=here)
        assert changed.json()["language"] == chosen
        assert (await world.client.post("/api/v1/auth/login", json=LOGIN)).json()["user"]["language"] == chosen


async def test_a_refresh_token_counts_once(world: World) -> None:
    first = (await world.client.post("/api/v1/auth/login", json=LOGIN)).json()
    body = {"refresh_token": first["refresh_token"]}
    answers = await asyncio.gather(*(world.client.post("/api/v1/auth/refresh", json=body) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [200, 401, 401, 401, 401]
    fresh = next(answer.json() for answer in answers if answer.status_code == 200)
    assert await status(world, {"Authorization": f"Bearer {fresh['access_token']}"}) == 401


async def test_a_disabled_account_is_out_at_once(world: World) -> None:
    headers, admin = await bearer(world), await world.headers_of("admin")
    place = f"/api/v1/users/{world.people['user'].id}"
    assert (await world.client.patch(place, json={"disabled": True}, headers=admin)).status_code == 200
    assert await status(world, headers) == 401
    assert (await world.client.post("/api/v1/auth/login", json=LOGIN)).status_code == 401


async def test_a_new_role_counts_from_the_next_request(world: World) -> None:
    headers, admin = await bearer(world), await world.headers_of("admin")
    place = f"/api/v1/users/{world.people['user'].id}"
    await world.client.patch(place, json={"role": "admin"}, headers=admin)
    assert (await world.client.get("/api/v1/users", headers=headers)).status_code == 200
    await world.client.patch(place, json={"role": "user"}, headers=admin)
    assert (await world.client.get("/api/v1/users", headers=headers)).status_code == 403


async def test_no_secret_is_logged_or_told_back(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "sk-live-d41d8cd98f00b204"
    headers = await bearer(world)
    key = {"value": secret, "hosts": ["api.example.com"]}
    put = await world.client.put("/api/v1/me/tool-keys/weather", json=key, headers=headers)
    listed = await world.client.get("/api/v1/me/tool-keys", headers=headers)
    bad = await world.client.put("/api/v1/me/tool-keys/weather", json=key | {"hosts": []}, headers=headers)
    weak = await world.client.post("/api/v1/auth/register", json={"name": "!", "password": secret})
    assert (put.status_code, bad.status_code, weak.status_code) == (200, 422, 422)
    for text in (put.text, listed.text, bad.text, weak.text, caplog.text):
        assert secret not in text
        assert PASSWORD not in text
