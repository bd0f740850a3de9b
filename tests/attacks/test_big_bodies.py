"""Nobody's request holds the loop that answers everybody, however it fills the one million bytes that it may have."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.bodies import MOST, MOST_LEVELS, MOST_VALUES
from tests.attacks.held_loop import measured
from tests.support.indexed_store import indexed_store
from tests.support.server_world import World, copied, serving
from tests.support.small_tools import FIND, HELD, SEND, STEP

UNIQUE = {"type": "array", "uniqueItems": True}
WIDE = {"type": "array", "items": {"anyOf": [{"type": "string", "maxLength": n} for n in range(900)]}}


def plan(**step: Any) -> dict[str, Any]:
    return {"steps": [STEP | step]}


def many(count: int, value: Any = 1) -> dict[str, Any]:
    return {f"a{number}": value for number in range(count)}


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


DOCUMENTS: dict[str, Any] = {
    "22,000 steps": {"steps": [STEP] * 22_000},
    "4,000 steps": {"steps": [STEP] * 4_000},
    "100 steps": {"steps": [STEP] * 100},
    "the same change": {"steps": [{"tool": SEND.id, "arguments": {"to": "x"}}] * 11_000},
    "unknown arguments": plan(arguments=many(80_000)),
    "100 unknown arguments in 40 steps": {"steps": [STEP | {"arguments": many(100)}] * 40},
    "values from nowhere": plan(takes=many(11_000, {"step": 9, "field": ""})),
    "named values": plan(named=many(60_000, "b")),
    "parameters": plan() | {"parameters": many(60_000, {})},
    "no steps": {"steps": [1] * 450_000},
    "9,000 things that are no steps": {"steps": [1] * 9_000},
    "a long text": plan(arguments={"city": "x" * 900_000}),
    "a long array": {"steps": [{"tool": SEND.id, "arguments": {"to": "x", "for": [[]] * 300_000}}]},
    "an array of 9,000": {"steps": [{"tool": SEND.id, "arguments": {"to": "x", "for": [[]] * 9_000}}]},
    "many levels": plan(arguments={"city": nested(900)}),
    "some levels": plan(arguments={"city": nested(MOST_LEVELS - 10)}),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of two tools."""
    return asyncio.run(indexed_store(tmp_path_factory.mktemp("store"), [FIND, SEND]))


@pytest.fixture
async def world(home: Path, store: Path, tmp_path: Path) -> AsyncIterator[World]:
    async with serving(await asyncio.to_thread(copied, home, tmp_path / "home"), store=store) as opened:
        opened.services.worker.stop()  # what is asked for here is not to be made
        await opened.services.agents.get_container()
        yield opened


async def sent(world: World, method: str, path: str, body: Any) -> tuple[httpx.Response, float]:
    """The answer, and how long the loop was held at the longest."""
    headers = await world.headers_of("user") | {"Content-Type": "application/json"}
    content = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()
    assert len(content) <= MOST
    with measured() as held:
        asked = world.client.request(method, f"/api/v1{path}", content=content, headers=headers)
        answer = await asyncio.create_task(asked)
    return answer, held.longest


@pytest.mark.parametrize("name", DOCUMENTS)
async def test_no_plan_holds_the_loop(world: World, name: str) -> None:
    conversation = (await sent(world, "POST", "/conversations", {}))[0].json()["id"]
    run = (await sent(world, "POST", f"/conversations/{conversation}/runs", {"request": "find"}))[0].json()["id"]
    for path, body in (
        (f"/runs/{run}/rerun", {"document": DOCUMENTS[name]}),
        ("/templates", {"name": "one", "document": DOCUMENTS[name]}),
        (f"/runs/{run}/plan", {"version": 0, "document": DOCUMENTS[name]}),
    ):
        method = "PUT" if path.endswith("/plan") else "POST"
        answer, held = await sent(world, method, path, body)
        assert held < HELD, (path, held)
        assert answer.status_code in (201, 202, 400, 404, 422), answer.text[:500]
        assert len(answer.content) < MOST


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/templates", b"[" + b"[]," * 330_000 + b"[]]"),
        ("POST", "/templates", b"[" + b"[]," * 330_000 + rb'"\u0000"]'),
        ("POST", "/templates", b'{"name":"' + b'\\"' * 490_000 + b'"}'),
        ("POST", "/templates", b'["' + b'","' * 330_000 + b'"]'),
        ("POST", "/templates", b"1" * 990_000),
        ("POST", "/templates", b"[" * 990_000),
        ("POST", "/templates", {"name": "x", "document": plan(), "parameters": many(9_000)}),
        ("POST", "/conversations", {"title": "x" * 990_000}),
        ("POST", "/conversations", {"title": "\u0301" * 160_000}),
        ("POST", "/conversations", many(4_900)),
        ("POST", "/auth/login", {"name": "x" * 490_000, "password": "y" * 490_000}),
        ("POST", "/auth/refresh", {"refresh_token": "x" * 990_000}),
        ("PUT", "/me/tool-keys/k", {"value": "k", "hosts": ["x y"] * 9_000}),
        ("PUT", "/me/tool-keys/k", {"value": "\x01" * 160_000, "hosts": ["a.b"]}),
    ],
)
async def test_no_other_body_holds_the_loop(world: World, method: str, path: str, body: Any) -> None:
    answer, held = await sent(world, method, path, body)
    assert held < HELD
    assert answer.status_code < 500
    assert len(answer.content) < 100_000


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (UNIQUE, [{"a": n} for n in range(3_000)]),
        (WIDE, list(range(9_000))),
        ({"allOf": [{"type": "string"}] * 900}, [["x" * 20]] * 1_000),
        ({"type": "array", "enum": [[n] for n in range(1_900)]}, list(range(9_000))),
        ({"type": "string", "pattern": "(a+)+$"}, "a" * 150_000 + "b"),
    ],
)
async def test_no_schema_of_a_template_takes_long(world: World, schema: Any, value: Any) -> None:
    document = plan(named={"city": "city"}) | {"parameters": {"city": schema}}
    made = (await sent(world, "POST", "/templates", {"name": "one", "document": document}))[0]
    assert made.status_code == 201, made.text[:500]
    conversation = (await sent(world, "POST", "/conversations", {}))[0].json()["id"]
    body = {"conversation_id": conversation, "parameters": {"city": value}}
    answer, held = await sent(world, "POST", f"/templates/{made.json()['id']}/runs", body)
    assert held < HELD
    assert answer.status_code in (202, 400), answer.text[:500]
    assert len(answer.content) < 100_000


async def test_values_are_not_multiplied(world: World) -> None:
    """A thousand places of a template, and a long text for each."""
    steps = [{"tool": FIND.id, "named": many(99, "x")}, *[STEP | {"named": {"city": "x"}}] * 7]
    document = {"steps": steps[1:], "parameters": {"x": {"type": "string"}}}
    body = {"name": "one", "document": document, "request": "{x}" * 1_300}
    made = (await sent(world, "POST", "/templates", body))[0]
    assert made.status_code == 201, made.text[:500]
    conversation = (await sent(world, "POST", "/conversations", {}))[0].json()["id"]
    for length, status in ((20_000, 202), (100_000, 400)):
        run = {"conversation_id": conversation, "parameters": {"x": "y" * length}}
        answer, held = await sent(world, "POST", f"/templates/{made.json()['id']}/runs", run)
        assert (answer.status_code, held < HELD) == (status, True), answer.text[:500]
        assert len(answer.content) < 10_000


async def test_the_versions_of_a_template_come_in_pages(world: World) -> None:
    document = plan(arguments={"city": "x" * 190_000})
    made = (await sent(world, "POST", "/templates", {"name": "one", "document": document}))[0].json()
    path = f"/templates/{made['id']}/versions"
    for _ in range(12):
        await sent(world, "POST", path, {"document": document})
    first, held = await sent(world, "GET", path, b"")
    assert [one["version"] for one in first.json()] == list(range(1, 11))
    assert held < HELD
    rest, _ = await sent(world, "GET", f"{path}?after=10", b"")
    assert [one["version"] for one in rest.json()] == [11, 12, 13]
    assert (await sent(world, "GET", f"{path}?limit=11", b""))[0].status_code == 422


async def test_a_text_with_many_commas_is_no_list(world: World) -> None:
    """What stands within a text is not counted."""
    document = plan(arguments={"city": ', "[{:' * 20_000})
    answer, _ = await sent(world, "POST", "/templates", {"name": "one", "document": document})
    assert answer.status_code == 201, answer.text[:300]
    assert MOST_VALUES < 100_000
