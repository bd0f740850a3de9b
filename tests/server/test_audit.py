"""What is in the audit log after people and programs have done something, and what is not."""

from datetime import timedelta
from typing import Any

from tests.support.server_world import World
from tests.support.source_samples import NEW_SOURCE

AUDIT = "/api/v1/audit"


async def entries(world: World, **params: str) -> list[dict[str, Any]]:
    answer = await world.client.get(AUDIT, params=params, headers=await world.headers_of("admin"))
    assert answer.status_code == 200, answer.text
    return answer.json()["entries"]


async def test_an_administrators_change_is_told_with_whom_it_is_about_and_how_it_ended(world: World) -> None:
    boss, ada = await world.headers_of("admin"), world.people["user"].id
    await world.client.patch(f"/api/v1/users/{ada}", json={"role": "author"}, headers=boss)
    last = world.people["admin"].id
    await world.client.patch(f"/api/v1/users/{last}", json={"role": "user"}, headers=boss)
    refused, changed = await entries(world)
    assert (changed["name"], changed["operation"], changed["status"]) == ("admin", "change_user", 200)
    assert changed["said"] == {"user_id": ada, "role": "author", "account": "user"}
    assert (changed["via"], changed["about"]) == ("session", "Give a role, disable or enable")
    assert refused["status"] == 409, "what was refused is told, too"


async def test_who_reads_asks_or_minds_their_own_is_not_told_of(world: World) -> None:
    for who in ("user", "admin"):
        headers = await world.headers_of(who)
        assert (await world.client.get("/api/v1/me", headers=headers)).status_code == 200
        made = await world.client.post("/api/v1/conversations", json={"title": "mine"}, headers=headers)
        assert made.status_code == 201
    assert await entries(world) == []


async def test_what_a_program_changes_with_a_token_is_told_with_its_label(world: World) -> None:
    storage, user = world.services.storage, world.people["user"]
    token, _ = await storage.tokens.open_program_session(
        user.id, "the nightly job", timedelta(days=1), ["read", "run_changes"]
    )
    headers = {"Authorization": f"Bearer {token}"}
    await world.client.get("/api/v1/conversations", headers=headers)
    body = {"value": "a very secret key", "hosts": ["api.example.com"]}
    assert (await world.client.put("/api/v1/me/tool-keys/weather", json=body, headers=headers)).is_success
    (told,) = await entries(world, via="token")
    assert (told["name"], told["label"], told["operation"]) == ("user", "the nightly job", "put_tool_key")
    assert told["said"] == {"name": "weather", "hosts": ["api.example.com"]}
    assert "very secret" not in str(told)


async def test_a_token_that_somebody_makes_is_told_with_whose_it_is_and_what_it_may_do(world: World) -> None:
    body = {"label": "the nightly job", "days": 9, "scopes": ["ask", "read"]}
    made = await world.client.post("/api/v1/me/tokens", json=body, headers=await world.headers_of("author"))
    assert made.status_code == 201
    (entry,) = await entries(world)
    who = {"user_id": world.people["author"].id, "name": "author", "role": "author", "via": "session", "label": ""}
    assert entry.items() >= {**who, "operation": "make_token", "status": 200, "said": body}.items()
    assert entry["about"] == "Make a token for a program of mine"
    assert made.json()["token"] not in str(entry)


async def test_authors_sources_are_told_of_and_found_page_by_page(world: World) -> None:
    author, admin = await world.headers_of("author"), await world.headers_of("admin")
    made = (await world.client.post("/api/v1/sources", json=NEW_SOURCE, headers=author)).json()
    await world.client.delete(f"/api/v1/sources/{made['id']}", headers=author)
    first = (await world.client.get(AUDIT, params={"limit": 1}, headers=admin)).json()
    assert [one["path"].split()[0] for one in first["entries"]] == ["DELETE"]
    rest = (await world.client.get(AUDIT, params={"before": first["next"]}, headers=admin)).json()
    assert ([one["operation"] for one in rest["entries"]], rest["next"]) == (["add_source"], None)
    kinds = (await world.client.get(f"{AUDIT}/operations", headers=admin)).json()
    assert {one["operation"] for one in kinds} == {"add_source", "remove_source"}


async def test_nothing_is_changed_that_cannot_be_written_down(world: World) -> None:
    async with world.services.storage.database.write_session() as session:
        await (await session.connection()).exec_driver_sql("ALTER TABLE audit_entries RENAME TO gone")
    ada = world.people["user"].id
    answer = await world.client.patch(
        f"/api/v1/users/{ada}", json={"role": "admin"}, headers=await world.headers_of("admin")
    )
    assert answer.status_code >= 500
    found = await world.services.storage.users.get(ada)
    assert found is not None
    assert found.role == "user"


async def test_what_a_program_may_not_do_is_told_as_refused(world: World) -> None:
    storage, user = world.services.storage, world.people["user"]
    token, _ = await storage.tokens.open_program_session(user.id, "curious", timedelta(days=1))
    path = f"/api/v1/users/{user.id}"
    answer = await world.client.patch(path, json={"role": "admin"}, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 403
    (told,) = await entries(world, name="user")
    assert (told["operation"], told["status"], told["label"]) == ("change_user", 403, "curious")
