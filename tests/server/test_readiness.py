"""A server that cannot do its work says so, and what it lacks, before anyone finds out by a run."""

import shutil
from pathlib import Path

import pytest

from server import readiness
from tests.support.server_world import World, copied, serving, with_store


async def test_ready_with_all_there(world: World) -> None:
    await with_store(world)
    assert (await world.client.get("/health/ready")).json()["status"] == "ready"


async def test_a_full_disk_is_told(home: Path, tmp_path: Path) -> None:
    async with serving(copied(home, tmp_path / "home"), free_bytes=10**18) as world:
        answer = await world.client.get("/health/ready")
        assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
        assert answer.json()["detail"].startswith("not ready: disk, store;")
        told = await world.client.get("/health/ready", headers=await world.headers_of("admin"))
        assert "free some space" in told.json()["detail"]
        assert (
            "free some space"
            not in (await world.client.get("/health/ready", headers=await world.headers_of("user"))).text
        )
        assert str(tmp_path) not in answer.text
        assert (await world.client.get("/health")).status_code == 200, "the process answers all the same"


async def test_whoever_cannot_be_known_is_told_what_anybody_is(world: World) -> None:
    """Because their token counts no longer, or because it cannot be looked up."""
    token = await world.headers_of("admin")

    async def told(headers: dict[str, str]) -> tuple[int, str]:
        answer = await world.client.get("/health/ready", headers=headers)
        return answer.status_code, answer.json()["detail"]

    anybody = await told({})
    assert anybody[1].startswith("not ready: store;")
    assert await told({"Authorization": "Bearer nonsense"}) == anybody
    async with world.services.storage.database.write_session() as session:
        await (await session.connection()).exec_driver_sql("ALTER TABLE sessions RENAME TO gone")
    assert await told(token) == anybody


async def test_why_a_part_is_down_is_told_to_administrators(home: Path, tmp_path: Path) -> None:
    async with serving(copied(home, tmp_path / "home"), graph_url="bolt://127.0.0.1:9") as world:
        told = {
            who: (await world.client.get("/api/v1/solutions", headers=await world.headers_of(who))).json()["detail"]
            for who in ("user", "admin")
        }
    assert told["user"].startswith("not ready: graph;")
    assert "127.0.0.1:9" in told["admin"]


async def test_a_missing_store_is_told_and_one_that_is_back_counts(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "MOMENT", 0.0)
    store = world.services.settings.store
    await with_store(world)
    shutil.move(store, store.with_name("elsewhere"))
    answer = await world.client.get("/health/ready")
    assert (answer.status_code, answer.json()["detail"][:17]) == (503, "not ready: store;")
    assert str(store) not in answer.text
    shutil.move(store.with_name("elsewhere"), store)
    assert (await world.client.get("/health/ready")).status_code == 200


async def test_a_server_whose_graph_is_elsewhere_needs_no_store(home: Path, tmp_path: Path) -> None:
    elsewhere = {"graph_url": "bolt://127.0.0.1:9", "store": tmp_path / "none"}
    async with serving(copied(home, tmp_path / "home"), **elsewhere) as world:
        answer = await world.client.get("/health/ready")
        assert "store" not in answer.json()["detail"]
