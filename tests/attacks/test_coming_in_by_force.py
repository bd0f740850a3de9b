"""Who tries passwords, makes accounts by the dozen, or pretends to be elsewhere, gets nowhere and keeps nobody out."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.auth.password_rules import weakness
from server.auth.passwords import Passwords
from tests.support.scripted_runs import until
from tests.support.server_world import CHEAP, PASSWORD, World, copied, serving

PROXY = "127.0.0.1"  # what every request of these tests comes from
ELSEWHERE = "203.0.113.9"


@pytest.fixture
async def small(home: Path, tmp_path: Path) -> AsyncIterator[World]:
    """A server that lets three accounts be made from an address."""
    own = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(own, registrations=3) as opened:
        yield opened


async def post(world: World, path: str, body: Any, *forwarded: str) -> httpx.Response:
    lines = [("X-Forwarded-For", line) for line in forwarded]
    return await world.client.post(f"/api/v1/auth/{path}", json=body, headers=lines)


async def log_in(world: World, address: str, password: str = PASSWORD, name: str = "user") -> int:
    return (await post(world, "login", {"name": name, "password": password}, address)).status_code


async def test_the_owner_is_not_locked_out_where_they_have_been(world: World) -> None:
    """Whoever fails at the name elsewhere waits, and so does the owner, but only where nobody has seen them before."""
    assert await log_in(world, "198.51.100.7") == 200
    failures = [await log_in(world, f"203.0.113.{number}", "wrong") for number in range(1, 9)]
    assert failures == [401] * 5 + [429] * 3
    assert await log_in(world, "198.51.100.7") == 200
    assert await log_in(world, "192.0.2.1") == 429
    # That the owner came in gives nobody elsewhere new attempts.
    assert await log_in(world, "203.0.113.99", "wrong") == 429
    # Nor is there an end to attempts where the owner has been.
    tries = [await log_in(world, "198.51.100.7", "wrong") for _ in range(7)]
    assert tries == [401] * 5 + [429] * 2


async def test_who_made_an_account_is_not_locked_out_where_they_made_it(world: World) -> None:
    made = await post(world, "register", {"name": "grace", "password": PASSWORD}, "198.51.100.7")
    assert made.status_code == 201
    assert [await log_in(world, ELSEWHERE, "wrong", "grace") for _ in range(6)] == [401] * 5 + [429]
    assert await log_in(world, "198.51.100.7", name="grace") == 200


async def test_who_is_logged_in_confirms_the_password_whoever_fails_at_the_name(world: World) -> None:
    headers = await world.headers_of("user")
    for number in range(7):
        await log_in(world, f"203.0.113.{number}", "wrong")
    body = {"old": PASSWORD, "new": "four words by chance"}
    changed = await world.client.post("/api/v1/me/password", json=body, headers=headers)
    assert changed.status_code == 204


@pytest.mark.parametrize(
    ("forwarded", "counted"),
    [
        ([ELSEWHERE], ELSEWHERE),
        (["1.1.1.1, " + ELSEWHERE], ELSEWHERE),
        (["1.1.1.1", ELSEWHERE], ELSEWHERE),  # two lines, as some proxies write them
        ([f"1.1.1.1, {ELSEWHERE}, {PROXY}"], ELSEWHERE),
        ([f"{ELSEWHERE}:4711"], ELSEWHERE),
        ([f"::ffff:{ELSEWHERE}"], ELSEWHERE),
        (["[2001:db8:1:2::5]:443"], "2001:db8:1:2::/64"),
        (["2001:db8:1:2:ffff::9%eth0"], "2001:db8:1:2::/64"),
        (["unknown"], PROXY),
        ([ELSEWHERE + ", nonsense"], PROXY),
        (["1" * 10_000], PROXY),
        ([""], PROXY),
        ([",,,"], PROXY),
    ],
)
async def test_the_address_is_who_the_named_proxy_saw(world: World, forwarded: list[str], counted: str) -> None:
    assert (await post(world, "login", {"name": "user", "password": PASSWORD}, *forwarded)).status_code == 200
    assert await world.services.storage.login_places.is_known("user", counted)


async def test_nobody_but_a_named_proxy_is_believed(home: Path, tmp_path: Path) -> None:
    own = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(own, trusted_proxies="10.9.0.0/16") as world:
        for header in ("X-Forwarded-For", "Forwarded", "X-Real-IP"):
            spoofed = {header: "for=10.9.0.1" if header == "Forwarded" else "10.9.0.1, 203.0.113.1"}
            body = {"name": "user", "password": PASSWORD}
            assert (await world.client.post("/api/v1/auth/login", json=body, headers=spoofed)).status_code == 200
        assert await world.services.storage.login_places.is_known("user", PROXY)
        assert not await world.services.storage.login_places.is_known("user", "203.0.113.1")


async def test_addresses_of_one_customer_count_as_one(world: World) -> None:
    """As many of them as IPv6 gives anybody."""
    tries = [await log_in(world, f"2001:db8:7:7::{number:x}", "x", f"guess{number}") for number in range(22)]
    assert tries == [401] * 20 + [429] * 2
    assert await log_in(world, "2001:db8:7:8::1") == 200


async def test_accounts_are_not_made_by_the_dozen(small: World) -> None:
    answers = [
        await post(small, "register", {"name": f"new{number}", "password": PASSWORD}, ELSEWHERE) for number in range(5)
    ]
    assert [answer.status_code for answer in answers] == [201] * 3 + [429] * 2
    assert int(answers[-1].headers["Retry-After"]) > 10
    assert await log_in(small, ELSEWHERE) == 200
    other = await post(small, "register", {"name": "another", "password": PASSWORD}, "192.0.2.44")
    assert other.status_code == 201


async def done(tasks: list[asyncio.Task[httpx.Response]], count: int) -> bool:
    return sum(task.done() for task in tasks) >= count


async def test_who_registers_waits_for_no_place_of_who_logs_in(world: World) -> None:
    """The place of new accounts is taken for as long as this lasts."""
    passwords = world.services.accounts.passwords
    newcomers = passwords._newcomers  # pyright: ignore[reportPrivateUsage]
    await newcomers.acquire()
    try:
        bodies = [{"name": f"new{number}", "password": PASSWORD} for number in range(15)]
        asked = [asyncio.create_task(post(world, "register", body, f"192.0.2.{n}")) for n, body in enumerate(bodies)]
        async with asyncio.timeout(20):
            assert await log_in(world, ELSEWHERE) == 200
            await until(lambda: done(asked, 6))
    finally:
        newcomers.release()
    statuses = sorted([(await task).status_code for task in asked])
    assert statuses == [201] * 9 + [429] * 6


async def test_a_taken_name_costs_no_work(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []

    async def counted(_self: Passwords, password: str) -> str:
        hashed.append(password)
        return "x"

    monkeypatch.setattr(Passwords, "hash_of_newcomer", counted)
    answer = await post(world, "register", {"name": "USER", "password": PASSWORD}, ELSEWHERE)
    assert (answer.status_code, hashed) == (409, [])


@pytest.mark.parametrize(
    ("password", "said"),
    [
        ("password1", "most common"),
        ("PASSWORD1", "most common"),
        ("iloveyou2024!", "most common"),
        ("ｐａｓｓｗｏｒｄ１", "most common"),
        ("          ", "blanks"),
        ("a        b", "blanks"),
        ("aaaaaaaaaaaa", "repeats"),
        ("abababababab", "repeats"),
        ("Ada-Lovelace", "name"),
        ("ada-lovelace1", "name"),
        ("ecalevol-ada", "name"),
        ("correct horse battery", ""),
        ("Ünïcödé ist gut", ""),
        ("tr0ub4dor&3", ""),
    ],
)
def test_weak_passwords_are_told_why(password: str, said: str) -> None:
    why = weakness(password, "Ada-Lovelace")
    assert said in why
    assert bool(why) == bool(said)


async def test_a_weak_password_is_refused_wherever_one_is_set(world: World) -> None:
    refused = await post(world, "register", {"name": "grace", "password": "password1"}, ELSEWHERE)
    assert (refused.status_code, refused.json()["code"]) == (422, "weak_password")
    assert [one["place"] for one in refused.json()["errors"]] == ["body.password"]
    assert "password1" not in refused.text
    body = {"old": PASSWORD, "new": "user-user"}
    changed = await world.client.post("/api/v1/me/password", json=body, headers=await world.headers_of("user"))
    assert (changed.status_code, changed.json()["errors"][0]["place"]) == (422, "body.new")


async def test_a_password_that_was_set_before_stays_good_in_any_form(world: World) -> None:
    """Weak ones, and those that were hashed as they were typed; the next log-in hashes them in one form."""
    typed, composed = "cafe\u0301s of Rome", "caf\u00e9s of Rome"
    storage, user = world.services.storage, world.people["user"]
    await storage.users.set_password(user.id, CHEAP.hash("password1"))
    assert await log_in(world, ELSEWHERE, "password1") == 200
    await storage.users.set_password(user.id, CHEAP.hash(typed))
    assert await log_in(world, ELSEWHERE, composed) == 401
    assert await log_in(world, ELSEWHERE, typed) == 200
    assert await log_in(world, ELSEWHERE, composed) == 200
