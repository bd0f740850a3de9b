"""A token for a program that cannot renew one: made by a command, as good as its account, ended by its owner."""

import asyncio

from tests.flows.test_server_commands import command
from tests.server.world import World


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
