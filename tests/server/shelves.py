"""A server whose store holds a few tools, with what was walked and what a run has learnt."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from domain.tool import FINISH, ToolDoc, make_tool_id
from graph.facts import GraphBatch, LiveBatch
from tests.support.indexed_store import indexed_store
from tests.support.server_world import World, copied, serving
from tests.support.small_world import NEW_WEATHER, TOOLS, WALKS
from wiring.container import open_container
from wiring.settings import Settings

ODD = ToolDoc(
    id=make_tool_id("Work / Life", "To do", "list tasks"), category="Work / Life", toolset="To do", api="list tasks", function="list_tasks_for_to_do",
    url="http://127.0.0.1/tasks", description="The tasks on a to-do list.",
)  # fmt: skip
"""Its id has escapes, of slashes too."""
LEARNT = datetime(2026, 7, 1, tzinfo=UTC)


async def stocked(folder: Path, tools: Sequence[ToolDoc] = (*TOOLS, ODD)) -> Path:
    """A store with these tools, walks between them and what two runs have learnt."""
    await indexed_store(folder, tools)
    counts, calls = Counter[Any](), Counter[Any]()
    for walk in WALKS:
        ids = [one.id for one in walk]
        counts.update(zip(ids, [*ids[1:], FINISH], strict=True))
        calls.update(ids)
    async with open_container(Settings(), folder) as container:
        await container.graph.apply(GraphBatch(key="walks", transitions=counts, calls=calls, successes=calls.copy()))
        first, second = (one.id for one in WALKS[0])
        outcomes = ((first, "ok"), (second, "transient"))
        walked = {(first, second): 1, (second, FINISH): 1}
        third = NEW_WEATHER.id
        well = LiveBatch("run-0", {(first, third): 1, (third, FINISH): 1}, (), ((third, "ok"),), at=LEARNT)
        await container.graph.learn(well)
        await container.graph.learn(LiveBatch("run-1", walked, ((first, 0.5),), outcomes, at=LEARNT))  # pyright: ignore[reportArgumentType]
    return folder


@asynccontextmanager
async def library(home: Path, folder: Path, store: Path, **settings: object) -> AsyncGenerator[World]:
    """A server on such a store."""
    chosen: dict[str, Any] = {"allow_hosts": "127.0.0.1", **settings}
    async with serving(await asyncio.to_thread(copied, home, folder / "home"), store=store, **chosen) as world:
        yield world


async def asks(world: World, path: str, who: str = "user", method: str = "GET", **more: Any) -> httpx.Response:
    """An operation of the library."""
    headers = await world.headers_of(who)
    return await world.client.request(method, f"/api/v1/tools{path}", headers=headers, **more)


def place(tool: str, rest: str) -> str:
    """An operation on a tool, with an id that outlives being read as a path."""
    return f"/{quote(tool)}/{rest}"
