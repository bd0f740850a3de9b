"""Sources of tools that tests need."""

from collections.abc import Mapping
from typing import Any

import httpx

from domain.tool_source import Finding
from server.sources.documents import looked_at
from server.storage.source_records import LockedSource, SourceChange, StoredTool
from tests.support.server_world import World

A_TOOL = "harbour/Harbour/list_ships"
FORM_TOOL: dict[str, Any] = {
    "name": "list_ships",
    "url": "/ships",
    "description": "The ships that lie in the harbour.",
    "parameters": [{"name": "flag", "example": "NL"}],
}
NEW_SOURCE: dict[str, Any] = {
    "name": "Harbour",
    "kind": "form",
    "category": "harbour",
    "tools": [FORM_TOOL],
    "base_url": "https://harbour.example",
}


class Asking:
    """One of the people, asking."""

    def __init__(self, world: World, headers: dict[str, str]) -> None:
        self._world = world
        self._headers = headers

    async def __call__(self, method: str, path: str, body: Any = None) -> Any:
        answer = await self.answer(method, path, body)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    async def answer(self, method: str, path: str, body: Any = None) -> httpx.Response:
        return await self._world.client.request(method, f"/api/v1{path}", json=body, headers=self._headers)


PASSED = Finding(check="document", verdict="passed", told="It says what it does.")
CALLED = Finding(check="probe", verdict="passed", told="It answered.")
UNCALLED = Finding(check="probe", verdict="skipped", told="It may change something.")


def looked(kept: StoredTool, *findings: Finding) -> StoredTool:
    """The tool after the gate has looked at it."""
    return kept.model_copy(
        update={"state": "tested", "looked_at": looked_at(kept), "findings": findings or (PASSED, CALLED)}
    )


async def check_all(world: World, source_id: str, *findings: Finding, who: str = "author", only: str = "") -> None:
    """What the gate would write, without the gate. ``only``: of this tool alone."""

    def checked(held: LockedSource) -> SourceChange:
        tools = {tool: looked(kept, *findings) for tool, kept in held.tools.items() if only in ("", tool)}
        return SourceChange("checked", tools=tools, is_undoable=False)

    await world.services.sources.step(source_id, world.people[who], checked)


async def source_of(who: str, world: World, *, tested: bool = False, **values: object) -> Mapping[str, str]:
    """A source of one of them, with one tool."""
    headers = await world.headers_of(who)
    answer = await world.client.post("/api/v1/sources", json=NEW_SOURCE | values, headers=headers)
    assert answer.status_code == 201, answer.text
    made = answer.json()["id"]
    if tested:
        await check_all(world, made, who=who)
    return {"source_id": made}
