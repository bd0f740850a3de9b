"""A new password by a link: it counts once and for a day, ends the sessions, and is told of in the audit log."""

import httpx

from tests.support.server_world import PASSWORD, World

NEW = "a wholly new password"


async def made(world: World) -> str:
    path = f"/api/v1/users/{world.people['user'].id}/password-link"
    answer = await world.client.post(path, headers=await world.headers_of("admin"))
    assert answer.status_code == 201, answer.text
    return answer.json()["secret"]


async def asked(world: World, secret: str, password: str) -> httpx.Response:
    return await world.client.post("/api/v1/auth/reset", json={"secret": secret, "password": password})


async def reset(world: World, secret: str, password: str = NEW) -> int:
    return (await asked(world, secret, password)).status_code


async def logs_in(world: World, password: str) -> bool:
    answer = await world.client.post("/api/v1/auth/login", json={"name": "user", "password": password})
    return answer.is_success


async def test_it_sets_the_password_once_and_ends_all_sessions(world: World) -> None:
    before = await world.headers_of("user")
    secret = await made(world)
    assert await logs_in(world, PASSWORD), "until then the old one counts"
    for weak in ("password", "user-user"):
        refused = await asked(world, secret, weak)
        assert (refused.status_code, refused.json()["errors"][0]["place"]) == (422, "body.password"), weak
    assert await reset(world, secret) == 204
    assert (await world.client.get("/api/v1/me", headers=before)).status_code == 401
    assert (await logs_in(world, PASSWORD), await logs_in(world, NEW)) == (False, True)
    assert await reset(world, secret, "yet another password") == 403
    told = (await world.client.get("/api/v1/audit", headers=await world.headers_of("admin"))).json()["entries"]
    assert [(one["operation"], one["name"]) for one in told] == [("reset_password", "user"), ("password_link", "admin")]
    who = {"user_id": world.people["user"].id, "name": "user", "role": "user", "via": "session"}
    assert told[0].items() >= {**who, "about": "Set a new password by a link", "status": 204, "said": {}}.items()
    assert secret not in str(told)


async def test_only_the_newest_counts_and_none_of_who_is_locked_out(world: World) -> None:
    first, second = await made(world), await made(world)
    assert await reset(world, first) == 403
    await world.services.storage.users.change(world.people["user"].id, disabled=True)
    assert await reset(world, second) == 403


async def test_whoever_guesses_has_to_wait(world: World) -> None:
    statuses = [await reset(world, f"fpw_{number}") for number in range(25)]
    assert (statuses[0], statuses[-1]) == (403, 429)


async def test_an_invitation_counts_as_long_as_is_said(world: World) -> None:
    headers = await world.headers_of("admin")
    short, usual = [
        (await world.client.post("/api/v1/invitations", json=body, headers=headers)).json()
        for body in ({"days": 1}, {})
    ]
    assert short["expires_at"] < usual["expires_at"]
