"""The allow-list holds tools that there are."""

import asyncio
from pathlib import Path
from urllib.parse import quote

import pytest

from domain.tool import ToolDoc, make_tool_id
from graph.backends.sqlite_graph import SqliteGraph
from server.storage.permissions import CallTarget
from tests.support.server_world import copied, serving
from wiring.store_folder import StoreFolder

CREATE = make_tool_id("Work", "To do", "create task")
LIST = "/api/v1/me/allowed-tools"


@pytest.fixture
async def store(tmp_path: Path) -> Path:
    """One with a tool whose id has escapes."""
    folder = StoreFolder(tmp_path / "store")
    await asyncio.to_thread(folder.open, create=True)
    graph = SqliteGraph(folder.graph)
    await graph.setup()
    doc = ToolDoc(id=CREATE, category="Work", toolset="To do", api="create task", function="create_task_for_to_do")
    await graph.put_tools([doc])
    await graph.close()
    return tmp_path / "store"


async def test_only_tools_that_there_are_can_be_allowed(home: Path, tmp_path: Path, store: Path) -> None:
    async with serving(await asyncio.to_thread(copied, home, tmp_path / "home"), store=store) as world:
        headers = await world.headers_of("user")
        for wrong in ("Work/To do/create tusk", "create_task"):
            refused = await world.client.put(f"{LIST}/{wrong}", headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
            assert refused.json()["detail"].endswith(f"near ones: {CREATE}")
        nothing = await world.client.put(f"{LIST}/☔☔☔", headers=headers)
        assert nothing.status_code == 404
        assert "near ones" not in nothing.json()["detail"]
        assert (await world.client.get(LIST, headers=headers)).json() == []
        for path in (
            CREATE,
            quote(CREATE),
        ):  # a path is unescaped on its way, which the id's own escapes may or may not outlive
            assert (await world.client.put(f"{LIST}/{path}", headers=headers)).status_code == 204
            assert [one["tool"] for one in (await world.client.get(LIST, headers=headers)).json()] == [CREATE]
            assert (await world.client.delete(f"{LIST}/{path}", headers=headers)).status_code == 204
            assert (await world.client.get(LIST, headers=headers)).json() == []


async def test_what_was_allowed_before_its_tool_went_can_be_taken_off(home: Path, tmp_path: Path, store: Path) -> None:
    async with serving(await asyncio.to_thread(copied, home, tmp_path / "home"), store=store) as world:
        await world.services.storage.allowed_tools.allow(world.people["user"].id, "gone/gone/gone", CallTarget())
        gone = await world.client.delete(f"{LIST}/gone/gone/gone", headers=await world.headers_of("user"))
        assert gone.status_code == 204
