"""Kill -9 of a server in the middle of an import and of a backup: the next one goes on, and nothing is there twice."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from server.storage.storage import open_storage
from tests.support.server_process import Client, Place, built, serving
from wiring.container import open_container
from wiring.settings import Settings

pytestmark = pytest.mark.timeout(600)
TOOLS = 500
WALKS = 200


async def administrator(home: Path) -> str:
    async with open_storage(Settings(server_home=home, access_minutes=600)) as storage:
        boss = await storage.users.add("boss", "no password", "admin")
        return (await storage.tokens.open_session(boss.id)).access_token


def lines(records: list[dict[str, Any]]) -> bytes:
    return b"\n".join(json.dumps(one).encode() for one in records)


def files() -> dict[str, bytes]:
    """Tools of a harbour, and walks from one of them to the next."""
    named = [
        {"category": "harbour", "tool_name": "ships", "api_name": f"ship_{n}", "function": f"ship_{n}"}
        for n in range(TOOLS)
    ]
    tools = [
        {**one, "url": f"http://127.0.0.1:9/{one['api_name']}", "description": f"Tells about ship {n} of the harbour."}
        for n, one in enumerate(named)
    ]
    walks = [
        {"id": str(n), "query": f"Ship {n}", "finish": "give_answer", "calls": [{"function": f"ship_{n}"}, {"function": f"ship_{n + 1}"}]}
        for n in range(WALKS)
    ]  # fmt: skip
    return {"tools.jsonl": lines(tools), "walks.jsonl": lines(walks)}


def done(client: Client, method: str, path: str, body: Any = None) -> Any:
    answer = client.call(method, path, body)
    assert answer.is_success, answer.text
    return answer.json()


def job_when(client: Client, job: str, holds: Callable[[Any], bool]) -> Any:
    ends = monotonic() + 240
    while not holds(found := done(client, "GET", f"/jobs/{job}")):
        assert monotonic() < ends, found
        sleep(0.02)
    return found


def killed_in_the_middle(place: Place, home: Path, token: str, begin: Callable[[Client], Any]) -> Any:
    """The job as it ended with the server after the one that was killed as soon as it was at it."""
    with serving(place, home) as (address, server):
        client = Client(address, token)
        job = begin(client)["id"]
        job_when(client, job, lambda one: one["state"] != "queued")
        server.kill()
        server.wait()
    with serving(place, home) as (address, _):
        ended = job_when(Client(address, token), job, lambda one: one["state"] not in ("queued", "running"))
    assert (ended["state"], ended["tries"]) == ("done", 2), ended["trouble"]
    return ended


def test_an_import_and_a_backup_that_were_killed_are_made_once(tmp_path: Path) -> None:
    place = built(tmp_path, "http://127.0.0.1:1")
    home = tmp_path / "home"
    token = asyncio.run(administrator(home))
    with serving(place, home) as (address, _):
        client = Client(address, token)
        sent = [client.send(f"/data/uploads?name={name}", content)["id"] for name, content in files().items()]
        reading = done(client, "POST", "/data/imports", {"files": [{"upload": one} for one in sent]})
        read = job_when(client, reading["id"], lambda one: one["state"] == "done")["result"]
        assert read["compared"]["new"] == TOOLS

    killed_in_the_middle(
        place,
        home,
        token,
        lambda client: done(client, "POST", f"/data/imports/{read['import']}/merge", {"backup": False}),
    )
    assert asyncio.run(walked(place.store)) == WALKS

    made = killed_in_the_middle(place, home, token, lambda client: done(client, "POST", "/data/backups"))
    assert [one.name for one in (home / "backups").iterdir()] == [made["result"]["backup"]], "nothing half is left"


async def walked(store: Path) -> int:
    """How often the walks that were imported were counted, all together; every tool of theirs is found."""
    async with open_container(Settings(store=store), store) as container:
        _, index, _ = await container.get_retrieval()
        indexed = [tool for tool in await index.fetch_digests() if tool.startswith("harbour/ships/")]
        assert len(indexed) == TOOLS
        edges = [edge async for edge in container.graph.stream_edges() if edge.source.startswith("harbour/ships/")]
        return sum(edge.imported for edge in edges if edge.target.startswith("harbour/ships/"))
