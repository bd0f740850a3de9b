"""What an author shares is there for others while they are one."""

from pathlib import Path

from tests.support.rights_matrix import NO_ID, a_shared_template
from tests.support.server_world import World, copied, serving


async def test_a_demoted_author_shares_nothing_and_an_administrator_still_sees_it(world: World) -> None:
    template = (await a_shared_template(world))["template_id"]
    admin = await world.headers_of("admin")

    async def listed(who: str) -> list[str]:
        answer = await world.client.get("/api/v1/templates", headers=await world.headers_of(who))
        return [one["id"] for one in answer.json()]

    async def run_by_other() -> str:
        body = {"conversation_id": NO_ID, "version": 1}
        headers = await world.headers_of("other")
        return (await world.client.post(f"/api/v1/templates/{template}/runs", json=body, headers=headers)).json()[
            "detail"
        ]

    assert (await listed("other"), await listed("admin")) == ([template], [template])
    assert "conversation" in await run_by_other()
    author = f"/api/v1/users/{world.people['author'].id}"
    assert (await world.client.patch(author, json={"role": "user"}, headers=admin)).status_code == 200
    assert (await listed("other"), await listed("author"), await listed("admin")) == ([], [template], [template])
    assert "template" in await run_by_other()
    assert (await world.client.patch(author, json={"role": "author"}, headers=admin)).status_code == 200
    assert await listed("other") == [template]
    ended = await world.client.patch(f"/api/v1/templates/{template}", json={"shared": False}, headers=admin)
    assert (ended.json()["shared"], ended.json()["own"]) == (False, False)
    assert (await listed("other"), await listed("admin")) == ([], [])


async def test_a_run_that_is_refused_takes_no_version(home: Path, tmp_path: Path) -> None:
    async with serving(copied(home, tmp_path / "home"), user_runs_per_day=1) as world:
        template, headers = (await a_shared_template(world))["template_id"], await world.headers_of("other")

        async def run_it() -> tuple[int, int | None]:
            answer = await world.client.post(f"/api/v1/templates/{template}/runs", json=body, headers=headers)
            shown = await world.client.get(f"/api/v1/templates/{template}", headers=headers)
            return answer.status_code, shown.json()["taken"]

        body = {"conversation_id": NO_ID, "version": 1}
        assert await run_it() == (404, None)
        body["conversation_id"] = (await world.client.post("/api/v1/conversations", json={}, headers=headers)).json()[
            "id"
        ]
        asked = {"request": "a request"}
        path = f"/api/v1/conversations/{body['conversation_id']}/runs"
        assert (await world.client.post(path, json=asked, headers=headers)).status_code == 202
        assert await run_it() == (429, None)
