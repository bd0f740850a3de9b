"""A token for a program that cannot renew one: made by a command or by its owner, as good as its account, ended by its owner."""

import asyncio

import pytest

from tests.flows.test_server_commands import command
from tests.support.server_world import World


async def test_one_is_made_used_and_ended(world: World) -> None:
    home = world.services.settings.server_home
    made = await asyncio.to_thread(
        command, "create_token.py", "user", "--label", "an editor", "--days", "90", home=home
    )
    assert made.returncode == 0, made.stderr
    headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
    own = await world.client.get("/api/v1/me", headers=headers)
    assert own.json()["name"] == "user"
    (session,) = (await world.client.get("/api/v1/me/sessions", headers=headers)).json()
    assert session["label"] == "an editor"
    others = await world.headers_of("user")
    ended = await world.client.delete(f"/api/v1/me/sessions/{session['id']}", headers=others)
    assert ended.status_code == 204
    assert (await world.client.get("/api/v1/me", headers=headers)).status_code == 401


async def test_there_is_none_for_nobody(world: World) -> None:
    made = await asyncio.to_thread(command, "create_token.py", "stranger", home=world.services.settings.server_home)
    assert (made.returncode, made.stdout) == (2, "")
    assert "create_user.py" in made.stderr


async def test_its_owner_makes_one_that_makes_no_others(world: World) -> None:
    here = await world.headers_of("user")
    body = {"label": "the nightly job", "days": 90, "scopes": ["ask", "read"]}
    made = await world.client.post("/api/v1/me/tokens", json=body, headers=here)
    assert made.status_code == 201
    headers = {"Authorization": f"Bearer {made.json()['token']}"}
    assert (await world.client.get("/api/v1/me", headers=headers)).json()["name"] == "user"
    listed = (await world.client.get("/api/v1/me/sessions", headers=here)).json()
    (session,) = [one for one in listed if one["program"]]
    assert (session["label"], session["expires_at"]) == ("the nightly job", made.json()["expires_at"])
    another = await world.client.post("/api/v1/me/tokens", json=body, headers=headers)
    assert (another.status_code, another.json()["code"]) == (403, "forbidden")
    audit = (await world.client.get("/api/v1/audit", headers=await world.headers_of("admin"))).json()["entries"]
    (told,) = [one for one in audit if one["operation"] == "make_token" and one["via"] == "session"]
    assert (told["name"], told["said"]) == ("user", body)
    assert made.json()["token"] not in str(audit)


@pytest.mark.parametrize("body", [{"label": "  "}, {"label": "a job", "days": 366}, {"label": "a job", "days": 0}])
async def test_one_is_named_and_counts_a_year_at_most(world: World, body: dict[str, str | int]) -> None:
    made = await world.client.post("/api/v1/me/tokens", json=body, headers=await world.headers_of("user"))
    assert made.status_code == 422
