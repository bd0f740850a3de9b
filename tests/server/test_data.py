"""A server's data in the hands of its administrators: figures, verified and mended, backed up, given away, taken in and restored."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from domain.tool import ToolDoc, make_tool_id
from server.data.statistics import Counting
from server.storage.jobs import JobState
from tests.support.scripted_runs import until
from tests.support.server_world import World, copied, serving, with_store

DATA = "/api/v1/data"


class Boss:
    """The administrator, asking."""

    def __init__(self, world: World, headers: dict[str, str]) -> None:
        self.world = world
        self._headers = headers

    async def __call__(self, method: str, path: str, expect: int = 0, **more: Any) -> Any:
        answer = await self.world.client.request(method, path, headers=self._headers, **more)
        assert answer.status_code == expect if expect else answer.is_success, answer.text
        return answer.json() if "json" in answer.headers.get("content-type", "") else answer.content

    async def ended(self, job: Any, state: JobState = "done") -> Any:
        """What came of a job."""

        async def is_over() -> bool:
            return (await self("GET", f"/api/v1/jobs/{job['id']}"))["state"] not in ("queued", "running")

        await until(is_over, 60)
        found = await self("GET", f"/api/v1/jobs/{job['id']}")
        assert found["state"] == state, found["trouble"]
        return found


async def boss_of(world: World) -> Boss:
    return Boss(world, await world.headers_of("admin"))


@pytest.fixture
async def boss(world: World) -> Boss:
    await with_store(world)
    return await boss_of(world)


async def put_tools(world: World, *names: str) -> None:
    docs = [
        ToolDoc(
            id=make_tool_id("harbour", "ships", name), category="harbour", toolset="ships", api=name, function=name,
            method="POST" if name.startswith("add") else "GET", url=f"http://127.0.0.1/{name}", description=f"Ships: {name}.",
        )
        for name in names
    ]  # fmt: skip
    await (await world.services.agents.get_container()).graph.put_tools(docs)


async def test_figures_tell_what_there_is_and_what_was_too_slow(boss: Boss) -> None:
    await put_tools(boss.world, "list_ships", "add_ship")
    found = await boss("GET", f"{DATA}/statistics")
    assert found["tools"]["effects"] == {"reads": 1, "changes": 1}
    assert found["tools"]["categories"] == [{"name": "harbour", "count": 2}]
    assert (found["kept"]["users"], found["availability"]["untested"]) == (4, 2)
    assert (found["database"]["kind"], found["missing"]) == ("sqlite", {})
    assert found["database"]["bytes"] > 0
    await put_tools(boss.world, "find_ship")
    assert (await boss("GET", f"{DATA}/statistics"))["tools"]["total"] == 2, "counted once in a moment"
    services = boss.world.services
    slow = await Counting(services.settings, services.storage, services.agents, seconds=0.0).statistics()
    assert slow.tools is None
    assert "not counted within" in slow.missing["tools"]


async def test_a_store_is_verified_and_mended(boss: Boss) -> None:
    await put_tools(boss.world, "list_ships")
    found = await boss.ended(await boss("POST", f"{DATA}/verify", json={}))
    assert not found["result"]["equal"]
    assert found["result"]["vectors"]["missing"]["first"] == ["harbour/ships/list_ships"]
    mended = await boss.ended(await boss("POST", f"{DATA}/verify", json={"mend": True}))
    assert (mended["result"]["equal"], mended["result"]["embedded"], mended["by"]) == (True, 1, "admin")
    told = await boss("GET", "/api/v1/audit")
    assert [one["said"] for one in told["entries"]] == [{"mend": True}, {"mend": False}]


async def test_a_backup_is_made_given_away_taken_in_and_restored_at_the_next_start(home: Path, tmp_path: Path) -> None:
    place = await asyncio.to_thread(copied, home, tmp_path / "home")
    async with serving(place) as world:
        await with_store(world)
        boss = await boss_of(world)
        await put_tools(world, "list_ships")
        name = (await boss.ended(await boss("POST", f"{DATA}/backups")))["result"]["backup"]
        (kept,) = await boss("GET", f"{DATA}/backups")
        assert (kept["name"], kept["checked"]["trouble"]) == (name, "")
        archive = await boss("GET", f"{DATA}/backups/{name}/download")
        assert (await boss("GET", "/api/v1/audit"))["entries"][0]["operation"] == "download_backup"
        await boss("DELETE", f"{DATA}/backups/{name}")
        assert await boss("GET", f"{DATA}/backups") == []

        sent = await boss("POST", f"{DATA}/uploads", params={"name": "../a backup.tar"}, content=archive)
        assert (sent["name"], sent["bytes"]) == ("a_backup.tar", len(archive))
        again = (await boss.ended(await boss("POST", f"{DATA}/backups/uploaded", json={"upload": sent["id"]})))[
            "result"
        ]
        assert not await asyncio.to_thread(list, (place / "uploads").iterdir()), "it is a backup now"

        await put_tools(world, "find_ship")  # which the backup does not have
        await world.services.storage.users.add("later", "x")
        wanted = {"backup": again["backup"], "confirm": "no"}
        await boss("POST", f"{DATA}/restore", 400, json=wanted)
        job = await boss("POST", f"{DATA}/restore", json=wanted | {"confirm": "store"})
        assert (await boss.ended(job))["result"]["tools"] == 1
        assert len(await stored(world)) == 2, "until the next start all is as it was"
        waiting = await boss("GET", f"{DATA}/restore")
        assert (waiting["pending"]["backup"], waiting["pending"]["step"]) == (again["backup"], "ready")

    async with serving(place) as world:
        assert await stored(world) == ["harbour/ships/list_ships"]
        assert "later" not in world.people
        boss = await boss_of(world)
        state = await boss("GET", f"{DATA}/restore")
        assert (state["pending"], len(state["set_aside"])) == (None, 2)
        told = [one for one in (await boss("GET", "/api/v1/audit"))["entries"] if one["operation"] == "restore"]
        assert [(one["name"], one["via"], one["status"]) for one in told] == [
            ("admin", "command", 200), ("admin", "session", 202), ("admin", "session", 400),
        ]  # fmt: skip
        assert (await boss("POST", f"{DATA}/verify", json={}))["state"] == "queued", "no job of before has its slot"


async def stored(world: World) -> list[str]:
    return [doc.id async for doc in (await world.services.agents.get_container()).graph.stream_documents()]


async def test_what_is_no_backup_is_refused_and_leaves_nothing(boss: Boss) -> None:
    sent = await boss("POST", f"{DATA}/uploads", params={"name": "a.tar"}, content=b"no tar at all" * 100)
    failed = await boss.ended(await boss("POST", f"{DATA}/backups/uploaded", json={"upload": sent["id"]}), "failed")
    assert "no backup that was downloaded" in failed["trouble"]
    assert await boss("GET", f"{DATA}/backups") == []
    await boss("POST", f"{DATA}/uploads", 400, params={"name": "a.tar"}, content=b"")
    home = boss.world.services.settings.server_home
    assert not await asyncio.to_thread(list, (home / "uploads").iterdir())
