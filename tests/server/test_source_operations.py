"""Documents that list more operations than a source may have: outlined, chosen from, and chosen from anew."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from domain.tool_source import OperationChoice
from server.bodies import MOST
from tests.support.server_world import World, copied, serving
from tests.support.small_api import document, operation, small_api
from tests.support.source_samples import Asking, check_all

MOST_TOOLS = 10
NEW: dict[str, Any] = {"name": "Port", "kind": "openapi", "category": "sea"}


def port(*, ships: int = 4, berths: int = 20, url: str = "https://harbour.example") -> dict[str, Any]:
    """A document of ships and berths; every other of each is called by GET."""
    names = {**{f"ship{n}": "ships" for n in range(ships)}, **{f"berth{n}": "berths" for n in range(berths)}}
    content = document(url)
    for number, (name, tag) in enumerate(names.items()):
        method = "post" if number % 2 else "get"
        content["paths"][f"/{tag}/{name}"] = {method: operation(name, tags=[tag])}
    return content


@pytest.fixture
async def world(home: Path, tmp_path: Path) -> AsyncIterator[World]:
    async with serving(copied(home, tmp_path / "home"), source_tools=MOST_TOOLS, allow_hosts="127.0.0.1") as opened:
        yield opened


@pytest.fixture
async def author(world: World) -> Asking:
    return Asking(world, await world.headers_of("author"))


async def names(author: Asking, source: str) -> list[str]:
    return [one["document"]["api"] for one in await author("GET", f"/sources/{source}/tools") if not one["gone"]]


async def test_a_document_of_too_many_operations_is_outlined_chosen_from_and_read_again(author: Asking) -> None:
    text = json.dumps(port())
    refused = await author.answer("POST", "/sources", NEW | {"document": text})
    assert (refused.status_code, refused.json()["code"]) == (422, "too_many_operations")
    assert "holds 24 operations, and a source may have 10" in refused.json()["detail"]
    assert refused.json()["detail"].endswith("Its largest tags: berths (20), ships (4)")
    outline = await author("POST", "/sources/outline", {"document": text})
    assert (outline["total"], outline["most"], len(outline["operations"])) == (24, 10, 24)
    assert outline["tags"] == [{"tag": "berths", "count": 20}, {"tag": "ships", "count": 4}]
    assert outline["operations"][1] == {
        "method": "POST",
        "path": "/ships/ship1",
        "name": "ship1",
        "tags": ["ships"],
        "summary": "Tells the ship1 of the harbour, one after another.",
        "deprecated": False,
    }
    chosen = {"tags": ["ships"], "names": ["GET /berths/berth0"], "methods": ["get"]}
    made = await author("POST", "/sources", NEW | {"document": text, "operations": chosen})
    assert made["operations"] == chosen | {"paths": []}
    assert await names(author, made["id"]) == ["berth0", "ship0", "ship2"]
    again = await author("POST", f"/sources/{made['id']}/refresh", {"document": json.dumps(port(ships=6, berths=30))})
    assert await names(author, made["id"]) == ["berth0", "ship0", "ship2", "ship4"]
    assert [one["kind"] for one in again["changes"]] == ["added"], "of what was not chosen nothing is told"


async def test_another_choice_reads_the_kept_document_again(world: World, author: Asking) -> None:
    made = await author("POST", "/sources", NEW | {"document": json.dumps(port()), "operations": {"tags": ["ships"]}})
    source = made["id"]
    await check_all(world, source, only="sea/Port/ship0")
    await author("POST", f"/sources/{source}/admit", {"tools": ["sea/Port/ship0"]})
    assert (await author("GET", f"/sources/{source}/outline"))["total"] == 24
    other = await author("PUT", f"/sources/{source}/operations", {"paths": ["/berths"], "methods": ["POST"]})
    assert other["operations"] == {"tags": [], "paths": ["/berths"], "methods": ["POST"], "names": []}
    assert other["changes"] == [], "what was chosen by a person waits for nobody to look at it"
    tools = {one["document"]["api"]: one for one in await author("GET", f"/sources/{source}/tools")}
    assert sorted(tools) == ["berth1", "berth11", "berth13", "berth15", "berth17", "berth19", "berth3", "berth5",
                             "berth7", "berth9", "ship0"]  # fmt: skip
    kept = tools["ship0"]
    assert (kept["state"], kept["gone"], kept["offered"]) == ("quarantined", True, False)
    assert kept["reason"] == "it is not among the operations that were chosen for its source"
    (step, *_) = await author("GET", f"/sources/{source}/history")
    assert (step["what"], step["reason"]) == ("read", "other operations were chosen: 4 removed, 10 added")
    await author("POST", f"/sources/{source}/undo")
    assert await names(author, source) == ["ship0", "ship1", "ship2", "ship3"]
    assert (await author("GET", f"/sources/{source}"))["operations"]["tags"] == ["ships"]


async def test_a_choice_that_cannot_be_read_leaves_the_source_as_it_is(author: Asking) -> None:
    made = await author("POST", "/sources", NEW | {"document": json.dumps(port()), "operations": {"tags": ["ships"]}})
    for choice, told in (({"tags": ["berths"]}, "20 of them chosen"), ({"tags": ["Ships"]}, "none of which is chosen")):
        refused = await author.answer("PUT", f"/sources/{made['id']}/operations", choice)
        assert refused.status_code == 422
        assert told in refused.json()["detail"]
    assert await author("GET", f"/sources/{made['id']}") == made
    assert (await author("PUT", f"/sources/{made['id']}/operations", {"paths": ["/ships"]}))["version"] == 1
    other = await author("GET", f"/sources/{made['id']}")
    assert (other["operations"]["paths"], other["counts"]) == (["/ships"], made["counts"])


async def test_a_choice_holds_when_its_address_is_read_again(author: Asking) -> None:
    async with small_api() as api:
        api.answers["/api.json"] = port(url=api.url)
        address = f"{api.url}/api.json"
        assert (await author("POST", "/sources/outline", {"address": address}))["total"] == 24
        made = await author("POST", "/sources", NEW | {"address": address, "operations": {"tags": ["ships"]}})
        api.answers["/api.json"] = port(url=api.url, ships=5, berths=1)
        await author("POST", f"/sources/{made['id']}/refresh", {})
        assert await names(author, made["id"]) == ["ship0", "ship1", "ship2", "ship3", "ship4"]
        await author("PUT", f"/sources/{made['id']}/operations", {})
        assert await names(author, made["id"]) == ["berth0", "ship0", "ship1", "ship2", "ship3", "ship4"]


async def test_a_large_document_is_sent_by_itself(world: World, author: Asking) -> None:
    content = port()
    content["components"] = {"schemas": {f"filler{n}": {"description": "x" * 1000} for n in range(1500)}}
    data = json.dumps(content).encode()
    assert len(data) > MOST
    assert (await author.answer("POST", "/sources", NEW | {"document": data.decode()})).status_code == 413
    sent = await send(world, "author", data)
    assert sent.json()["bytes"] == len(data)
    given = {"document_id": sent.json()["id"]}
    assert (await author("POST", "/sources/outline", given))["total"] == 24
    other = Asking(world, await world.headers_of("admin"))
    assert (await other.answer("POST", "/sources/outline", given)).status_code == 404
    made = await author("POST", "/sources", NEW | given | {"operations": {"tags": ["ships"]}})
    assert made["counts"]["draft"] == 4
    assert (await author.answer("POST", "/sources", NEW | given)).status_code == 404, "a source was made of it"
    again = {"document_id": (await send(world, "author", data.replace(b"ship1", b"ship9"))).json()["id"]}
    await author("POST", f"/sources/{made['id']}/refresh", again)
    assert await names(author, made["id"]) == ["ship0", "ship2", "ship3", "ship9"]


async def send(world: World, who: str, data: bytes) -> httpx.Response:
    headers = {**await world.headers_of(who), "Content-Type": "application/octet-stream"}
    return await world.client.post("/api/v1/sources/documents", content=data, headers=headers)


async def test_documents_that_are_sent_are_bounded(home: Path, tmp_path: Path) -> None:
    async with serving(copied(home, tmp_path / "home"), source_bytes=2000) as world:
        author = Asking(world, await world.headers_of("author"))
        refused = await send(world, "author", b"x" * 2001)
        assert (refused.status_code, "FOOTPATH_SOURCE_BYTES" in refused.json()["detail"]) == (400, True)
        assert (await send(world, "user", b"{}")).status_code == 403
        ids = [(await send(world, "author", b"{}")).json()["id"] for _ in range(3)]
        found = [(await author.answer("POST", "/sources/outline", {"document_id": one})).status_code for one in ids]
        assert found == [404, 422, 422], "the earliest makes room"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"document": "{}", "address": "https://harbour.example"}, "needs document or address or document_id"),
        ({"document": "{}", "operations": {"tag": ["ships"]}}, "operations.tag"),
        ({"document": "{}", "operations": {"names": ["x" * 501]}}, "500 characters"),
        (
            {"kind": "mcp", "address": "https://harbour.example", "operations": {"tags": ["x"]}},
            "of an OpenAPI document only",
        ),
    ],
)
async def test_what_is_no_choice_is_told(author: Asking, changed: Any, told: str) -> None:
    answer = await author.answer("POST", "/sources", NEW | changed)
    assert answer.status_code == 422
    assert told in answer.text


async def test_only_a_document_has_operations_to_choose_from(world: World, author: Asking) -> None:
    form = {"name": "Form", "kind": "form", "category": "sea", "tools": [{"name": "a", "url": "https://a.example"}]}
    made = await author("POST", "/sources", form)
    asked: list[tuple[str, str, dict[str, Any] | None]] = [("GET", "outline", None), ("PUT", "operations", {})]
    for method, path, body in asked:
        refused = await author.answer(method, f"/sources/{made['id']}/{path}", body)
        assert (refused.status_code, "no document" in refused.json()["detail"]) == (400, True)
    kept = await world.services.storage.sources.get(made["id"])
    assert kept is not None
    assert kept.operations == OperationChoice()


async def test_a_pasted_document_without_servers_is_told_and_given_an_address(author: Asking) -> None:
    pasted = {"openapi": "3.1.0", "info": {"title": "Items"}, "paths": {"/items": {"get": operation("items")}}}
    made = await author("POST", "/sources", NEW | {"document": json.dumps(pasted)})
    assert made["notes"] == [
        "its document does not say where it is called: add servers to the document, or give the source an address (base_url)"
    ]
    (tool,) = await author("GET", f"/sources/{made['id']}/tools")
    assert tool["document"]["url"] == ""
    await author("PATCH", f"/sources/{made['id']}", {"base_url": "https://items.example/v1"})
    placed = await author("PUT", f"/sources/{made['id']}/operations", {})
    assert (placed["base_url"], placed["notes"]) == ("https://items.example/v1", [])
    (tool,) = await author("GET", f"/sources/{made['id']}/tools")
    assert tool["document"]["url"] == "https://items.example/v1/items"
