"""What somebody shares does not change under those who use it: a newer version is offered with its differences, and taken by hand."""

from typing import Any

import pytest

from tests.support.server_world import World

SEND = {"tool": "money/pay/send", "arguments": {"to": "ada", "amount": 10}}
FIRST: dict[str, Any] = {"steps": [{"tool": "places/search/find"}, SEND]}
SECOND: dict[str, Any] = {"steps": [{"tool": "places/search/find"}, SEND | {"arguments": {"to": "eve", "amount": 10}}]}


async def ask(world: World, who: str, method: str, path: str, body: Any = None) -> Any:
    """The answer's status and body."""
    answer = await world.client.request(method, f"/api/v1{path}", json=body, headers=await world.headers_of(who))
    return answer.status_code, answer.json() if answer.content else None


@pytest.fixture
async def template(world: World) -> str:
    """The path of one that the author shares, at version 1."""
    world.services.worker.stop()
    _, made = await ask(world, "author", "POST", "/templates", {"name": "Pay", "document": FIRST})
    await ask(world, "author", "PATCH", f"/templates/{made['id']}", {"shared": True})
    return f"/templates/{made['id']}"


async def run(world: World, who: str, template: str, **body: Any) -> tuple[int, Any]:
    _, conversation = await ask(world, who, "POST", "/conversations", {})
    return await ask(world, who, "POST", f"{template}/runs", {"conversation_id": conversation["id"], **body})


async def test_a_newer_version_is_run_by_nobody_who_has_not_taken_it(world: World, template: str) -> None:
    status, refused = await run(world, "user", template)
    assert (status, '"version": 1' in refused["detail"]) == (409, True)
    status, begun = await run(world, "user", template, version=1)
    assert (status, begun["template_version"]) == (202, 1)
    await ask(world, "author", "POST", f"{template}/versions", {"document": SECOND})
    status, begun = await run(world, "user", template)
    assert (status, begun["template_version"]) == (202, 1)
    status, refused = await run(world, "user", template, version=2)
    assert (status, f"{template}/differences" in refused["detail"]) == (409, True)
    _, shown = await ask(world, "user", "GET", template)
    assert (shown["version"], shown["taken"], shown["content"]["version"]) == (2, 1, 1)
    _, listed = await ask(world, "user", "GET", "/templates")
    assert [(one["version"], one["taken"]) for one in listed] == [(2, 1)]
    _, told = await ask(world, "user", "GET", f"{template}/differences")
    assert (told["before"], told["after"]) == (1, 2)
    assert [one["said"] for one in told["changes"]] == ['Step 2 (send): to is "eve" instead of "ada".']
    assert (await ask(world, "user", "PUT", f"{template}/taken", {"version": 3}))[0] == 404
    assert (await ask(world, "user", "PUT", f"{template}/taken", {"version": 2}))[0] == 204
    assert (await run(world, "user", template))[1]["template_version"] == 2
    assert (await run(world, "other", template))[0] == 409


async def test_who_made_it_goes_on_with_the_latest(world: World, template: str) -> None:
    await ask(world, "author", "POST", f"{template}/versions", {"document": SECOND})
    assert (await run(world, "author", template))[1]["template_version"] == 2
    assert (await run(world, "author", template, version=1))[1]["template_version"] == 1


async def test_a_run_that_is_refused_takes_nothing(world: World, template: str) -> None:
    assert (await run(world, "user", template, version=1, parameters={"colour": "red"}))[0] == 400
    assert (await ask(world, "user", "GET", template))[1]["taken"] is None


async def test_a_rerun_stays_with_its_version(world: World, template: str) -> None:
    _, begun = await run(world, "user", template, version=1)
    await ask(world, "author", "POST", f"{template}/versions", {"document": SECOND})
    status, again = await ask(world, "user", "POST", f"/runs/{begun['id']}/rerun", {})
    assert (status, again["template_version"]) == (202, 1)
    kept = await world.services.storage.runs.get(again["id"])
    assert kept is not None
    assert "eve" not in str(kept.settings)
