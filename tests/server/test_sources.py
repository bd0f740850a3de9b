"""Sources of tools over HTTP: added, corrected, admitted, kept out, undone, removed."""

from typing import Any

import pytest

from domain.tool import ToolId
from domain.tool_source import Finding
from tests.support.server_world import World
from tests.support.source_samples import A_TOOL, FORM_TOOL, NEW_SOURCE, PASSED, UNCALLED, Asking, check_all, source_of

OPENAPI = """
openapi: 3.0.3
info: {title: Harbour, version: "1"}
servers: [{url: https://harbour.example}]
paths:
  /ships:
    get: {operationId: listShips, summary: The ships in the harbour, responses: {"200": {description: ok}}}
  /ships/{id}:
    delete:
      operationId: removeShip
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {"204": {description: gone}}
"""


@pytest.fixture
async def author(world: World) -> Asking:
    return Asking(world, await world.headers_of("author"))


@pytest.fixture
async def admin(world: World) -> Asking:
    return Asking(world, await world.headers_of("admin"))


async def offered(world: World) -> dict[ToolId, Any]:
    return {one.doc.id: one.doc for one in await world.services.storage.source_offers.list_all()}


async def test_a_form_becomes_drafts(world: World, author: Asking) -> None:
    ship = {"name": "get_ship", "url": "/ships/{id}", "parameters": [{"name": "id", "type": "integer"}]}
    made = await author("POST", "/sources", NEW_SOURCE | {"tools": [FORM_TOOL, ship]})
    assert (made["counts"]["draft"], made["author"], made["toolset"]) == (2, "author", "Harbour")
    tools = {one["tool"]: one for one in await author("GET", f"/sources/{made['id']}/tools")}
    doc = tools["harbour/Harbour/get_ship"]["document"]
    assert (doc["url"], doc["source"]) == ("https://harbour.example/ships/{id}", f"source:{made['id']}")
    assert [(one["name"], one["location"], one["required"]) for one in doc["parameters"]] == [("id", "path", True)]
    assert not any(one["offered"] for one in tools.values())
    assert await offered(world) == {}


async def test_a_document_becomes_drafts_in_the_place_of_its_source(author: Asking) -> None:
    made = await author("POST", "/sources", {"name": "H", "kind": "openapi", "category": "sea", "document": OPENAPI})
    assert sorted(one["tool"] for one in await author("GET", f"/sources/{made['id']}/tools")) == [
        "sea/H/listShips",
        "sea/H/removeShip",
    ]


BROKEN = OPENAPI.replace("get: {", "get: {parameters: [{in: query}], ").replace("type: integer", "$ref: '#/no'")
"""One operation whose input has no name, and one that cannot be called: the schema of what it needs is not there."""


async def test_what_is_left_out_of_a_document_is_told_until_it_is_mended(author: Asking) -> None:
    given = {"name": "H", "kind": "openapi", "category": "sea", "document": BROKEN}
    made = await author("POST", "/sources", given)
    assert made["counts"]["draft"] == 1
    assert [one.partition(";")[0] for one in made["notes"]] == [
        "GET /ships is imported without an input: a parameter in query has no 'name' that can be used",
        "DELETE /ships/{id} is not imported: #/no leads nowhere",
    ]
    mended = BROKEN.replace("[{in: query}]", "[]")
    again = await author("POST", f"/sources/{made['id']}/refresh", {"document": mended})
    assert [one.partition(" is ")[0] for one in again["notes"]] == ["DELETE /ships/{id}"]
    whole = await author("POST", f"/sources/{made['id']}/refresh", {"document": OPENAPI})
    assert (whole["notes"], whole["counts"]["draft"]) == ([], 2)


async def test_a_document_of_which_nothing_can_be_called_is_refused_with_each_reason(author: Asking) -> None:
    nothing = BROKEN.replace("get: {", "gett: {")
    answer = await author.answer(
        "POST", "/sources", {"name": "H", "kind": "openapi", "category": "sea", "document": nothing}
    )
    assert answer.status_code == 422
    assert answer.json()["detail"].partition("; correct it and give it again: ")[2] == (
        "(1) GETT /ships is not imported: no method of HTTP; correct how it is written."
        " (2) DELETE /ships/{id} is not imported: #/no leads nowhere; add what it refers to, or correct it."
    )
    assert await author("GET", "/sources") == []


@pytest.mark.parametrize(
    ("changed", "status", "told"),
    [
        ({"kind": "openapi", "tools": [], "document": "{}"}, 422, "no OpenAPI"),
        (
            {"kind": "openapi", "tools": [], "document": "openapi: 3.0.0\npaths: {/a: ["},
            422,
            "at line 3, column 1; correct it",
        ),
        ({"kind": "openapi", "tools": [], "document": "openapi: 3.0.0\npaths: {}"}, 422, "no operation"),
        ({"tools": []}, 422, "needs tools"),
        ({"kind": "mcp"}, 422, "needs address or command"),
        ({"tools": [FORM_TOOL, FORM_TOOL]}, 422, "two tools are called list_ships"),
        ({"tools": [FORM_TOOL | {"name": ""}]}, 422, "at least 1 character"),
    ],
)
async def test_what_cannot_be_a_source_is_told(author: Asking, changed: Any, status: int, told: str) -> None:
    answer = await author.answer("POST", "/sources", NEW_SOURCE | changed)
    assert answer.status_code == status
    assert told in answer.json()["detail"]
    assert await author("GET", "/sources") == []


async def test_what_the_gate_did_not_call_is_admitted_only_by_its_name(world: World, author: Asking) -> None:
    source = (await source_of("author", world, tools=[FORM_TOOL, FORM_TOOL | {"name": "book"}]))["source_id"]
    book = "harbour/Harbour/book"
    seen = {A_TOOL: Finding(check="probe", verdict="warned", told="It answered nothing."), book: UNCALLED}
    for tool, finding in seen.items():
        await check_all(world, source, PASSED, finding, only=tool)
    shown = await author("GET", f"/sources/{source}/tools")
    assert {one["tool"]: one["called"] for one in shown} == {A_TOOL: True, book: False}
    await author("POST", f"/sources/{source}/admit", {})
    assert list(await offered(world)) == [A_TOOL]
    refused = await author.answer("POST", f"/sources/{source}/admit", {})
    assert (refused.status_code, f"name those that you want all the same: {book}" in refused.text) == (409, True)
    await author("POST", f"/sources/{source}/admit", {"tools": [book]})
    assert set(await offered(world)) == {A_TOOL, book}


async def test_what_was_kept_out_is_not_admitted_without_its_name(world: World, author: Asking) -> None:
    source = (await source_of("author", world, tested=True))["source_id"]
    await author("POST", f"/sources/{source}/quarantine", {"tools": [A_TOOL], "reason": "stale"})
    assert (await author.answer("POST", f"/sources/{source}/admit", {})).status_code == 409
    await author("POST", f"/sources/{source}/admit", {"tools": [A_TOOL]})
    assert list(await offered(world)) == [A_TOOL]


PRIVATE = {"name": "H", "kind": "openapi", "category": "sea", "address": "http://127.0.0.1:9000/openapi.json"}


async def test_an_address_that_is_not_public_is_told_with_what_its_author_can_do(author: Asking, admin: Asking) -> None:
    told = {who: await who.answer("POST", "/sources", PRIVATE) for who in (author, admin)}
    assert [one.status_code for one in told.values()] == [422, 422]
    said = "127.0.0.1 (127.0.0.1) is not a public address; where it is meant, "
    whom = "ask an administrator of this server to allow 127.0.0.1:9000 by the setting FOOTPATH_ALLOW_HOSTS"
    how = "allow it for the whole server: add 127.0.0.1:9000 to the setting FOOTPATH_ALLOW_HOSTS, and start the server anew"
    assert told[author].json()["detail"] == f"{said}{whom}, or give a public address"
    assert told[admin].json()["detail"] == f"{said}{how}"


async def test_a_source_that_is_read_again_from_a_private_address_says_whom_to_ask(author: Asking) -> None:
    given = {"name": "H", "kind": "openapi", "category": "sea", "document": OPENAPI}
    made = await author("POST", "/sources", given)
    await author("PATCH", f"/sources/{made['id']}", {"address": PRIVATE["address"]})
    refused = await author.answer("POST", f"/sources/{made['id']}/refresh", {})
    assert "ask an administrator of this server to allow 127.0.0.1:9000" in refused.json()["detail"]


async def test_where_clouds_tell_secrets_nobody_is_told_how_to_allow_it(author: Asking, admin: Asking) -> None:
    for who in (author, admin):
        refused = await who.answer("POST", "/sources", PRIVATE | {"address": "http://169.254.169.254/openapi.json"})
        assert refused.status_code == 422
        assert "no setting allows a call to it; give another address" in refused.json()["detail"]
        assert "FOOTPATH_ALLOW_HOSTS" not in refused.text


async def test_a_tool_is_offered_once_it_passed_and_was_admitted(world: World, author: Asking) -> None:
    source = (await source_of("author", world))["source_id"]
    refused = await author.answer("POST", f"/sources/{source}/admit", {"tools": [A_TOOL]})
    assert (refused.status_code, "has not been checked" in refused.json()["detail"]) == (409, True)
    await check_all(world, source)
    (tool,) = await author("POST", f"/sources/{source}/admit", {})
    assert (tool["state"], tool["offered"]) == ("admitted", True)
    assert (await offered(world))[ToolId(A_TOOL)].url == "https://harbour.example/ships"
    (tool,) = await author("POST", f"/sources/{source}/quarantine", {"tools": [A_TOOL], "reason": "stale"})
    assert (tool["state"], tool["reason"], tool["offered"]) == ("quarantined", "stale", False)
    assert await offered(world) == {}
    done = [(one["what"], one["who"]) for one in await author("GET", f"/sources/{source}/history")]
    assert done == [("quarantined", "author"), ("admitted", "author"), ("checked", "author"), ("added", "author")]


@pytest.mark.parametrize(
    ("check", "who", "despite", "status"),
    [
        ("quality", "author", "", 409),
        ("quality", "author", "I know better", 403),
        ("quality", "admin", "", 409),
        ("quality", "admin", "It is the only one", 200),
        ("findable", "admin", "It is the only one", 200),
        ("address", "admin", "It is ours", 409),
        ("document", "admin", "It is ours", 409),
    ],
)
async def test_a_failed_check_stops_a_tool(
    world: World, author: Asking, admin: Asking, check: Any, who: str, despite: str, status: int
) -> None:
    source = (await source_of("author", world))["source_id"]
    await check_all(world, source, Finding(check=check, verdict="failed", told="It does not."))
    asking = author if who == "author" else admin
    answer = await asking.answer("POST", f"/sources/{source}/admit", {"tools": [A_TOOL], "despite": despite})
    assert answer.status_code == status, answer.text
    assert bool(await offered(world)) == (status == 200)


async def test_a_correction_of_an_admitted_tool_is_live_at_once_unless_it_says_that_it_only_reads(
    world: World, author: Asking
) -> None:
    source = (await source_of("author", world, tested=True))["source_id"]
    await author("POST", f"/sources/{source}/admit", {})
    said = {"description": "Ships, now.", "examples": {"flag": "DE"}, "side_effect": "changes"}
    tool = await author("PATCH", f"/sources/{source}/tools/{A_TOOL}", said)
    live = (await offered(world))[ToolId(A_TOOL)]
    assert (live.description, live.parameters[0].example, live.marked) == ("Ships, now.", "DE", "changes")
    assert (tool["version"], tool["original"]["description"]) == (2, FORM_TOOL["description"])
    tool = await author("PATCH", f"/sources/{source}/tools/{A_TOOL}", said | {"side_effect": "reads"})
    assert (tool["state"], tool["offered"], await offered(world)) == ("tested", False, {})
    again = await author.answer("POST", f"/sources/{source}/admit", {"tools": [A_TOOL]})
    assert (again.status_code, "check it again" in again.json()["detail"]) == (409, True)


async def test_undoing_brings_back_what_was_step_by_step(world: World, author: Asking) -> None:
    source = (await source_of("author", world, tested=True))["source_id"]
    await author("POST", f"/sources/{source}/admit", {})
    await author("PATCH", f"/sources/{source}/tools/{A_TOOL}", {"description": "Better."})
    await author("POST", f"/sources/{source}/quarantine", {"tools": [A_TOOL], "reason": "stale"})
    seen: list[tuple[str, str | None]] = []
    for _ in range(3):
        (tool,) = await author("POST", f"/sources/{source}/undo")
        live = (await offered(world)).get(ToolId(A_TOOL))
        seen.append((tool["state"], live.description if live else None))
    assert seen == [("admitted", "Better."), ("admitted", FORM_TOOL["description"]), ("tested", None)]
    refused = await author.answer("POST", f"/sources/{source}/undo")
    assert (refused.status_code, refused.json()["detail"]) == (409, "there is nothing to undo")


async def test_undoing_offers_nothing_that_fails_by_now(world: World, author: Asking) -> None:
    source = (await source_of("author", world, tested=True))["source_id"]
    await author("POST", f"/sources/{source}/admit", {})
    await author("POST", f"/sources/{source}/quarantine", {"tools": [A_TOOL], "reason": "stale"})
    await check_all(world, source, Finding(check="address", verdict="failed", told="It is inside your network."))
    (tool,) = await author("POST", f"/sources/{source}/undo")
    assert (tool["state"], tool["offered"], "inside your network" in tool["reason"]) == ("tested", False, True)


async def test_what_an_administrator_keeps_out_only_one_lets_in(world: World, author: Asking, admin: Asking) -> None:
    source = (await source_of("author", world, tested=True))["source_id"]
    await author("POST", f"/sources/{source}/admit", {})
    await admin("POST", f"/sources/{source}/quarantine", {"tools": [A_TOOL], "reason": "it leaks"})
    assert (await author.answer("POST", f"/sources/{source}/undo")).status_code == 403
    refused = await author.answer("POST", f"/sources/{source}/admit", {"tools": [A_TOOL]})
    assert (refused.status_code, "it leaks" in refused.json()["detail"]) == (409, True)
    assert await offered(world) == {}
    (tool,) = await admin("POST", f"/sources/{source}/admit", {"tools": [A_TOOL]})
    assert (tool["offered"], tool["held"]) == (True, False)


async def test_one_id_is_offered_of_one_source_only(world: World, author: Asking, admin: Asking) -> None:
    first = (await source_of("author", world, tested=True))["source_id"]
    second = (await source_of("admin", world, tested=True))["source_id"]
    await author("POST", f"/sources/{first}/admit", {})
    refused = await admin.answer("POST", f"/sources/{second}/admit", {})
    assert (refused.status_code, A_TOOL in refused.json()["detail"]) == (409, True)
    await author("DELETE", f"/sources/{first}")
    await admin("POST", f"/sources/{second}/admit", {})
    assert set(await offered(world)) == {A_TOOL}


async def test_a_removed_source_is_told_of_to_administrators_only(world: World, author: Asking, admin: Asking) -> None:
    source = (await source_of("author", world, tested=True))["source_id"]
    await author("POST", f"/sources/{source}/admit", {})
    await author("DELETE", f"/sources/{source}")
    assert await offered(world) == {}
    assert (await author.answer("GET", f"/sources/{source}/history")).status_code == 404
    assert (await admin("GET", f"/sources/{source}/history"))[0]["what"] == "removed"
    assert (await admin.answer("GET", f"/sources/{source}")).status_code == 404


async def test_a_removed_accounts_sources_are_the_administrators(world: World, admin: Asking) -> None:
    source = (await source_of("author", world, tested=True))["source_id"]
    await admin("POST", f"/sources/{source}/admit", {})
    await admin("DELETE", f"/users/{world.people['author'].id}")
    (left,) = await admin("GET", "/sources")
    assert (left["id"], left["author_id"], left["author"]) == (source, None, "")
    assert (await admin("GET", f"/sources/{source}/history"))[-1]["who"] == "author"
    assert set(await offered(world)) == {A_TOOL}


async def test_names_of_users_by_how_they_begin(author: Asking) -> None:
    assert [one["name"] for one in await author("GET", "/user-names?prefix=A")] == ["admin", "author"]
    assert await author("GET", "/user-names?prefix=%25") == []


async def test_a_tool_is_found_by_its_name_as_it_is_told_and_near_names_are_told(world: World, author: Asking) -> None:
    ships = FORM_TOOL | {"name": "GET /ships"}
    source = (await author("POST", "/sources", NEW_SOURCE | {"tools": [ships]}))["id"]
    out = {"tools": ["harbour/Harbour/GET /ships"], "reason": "stale"}
    done = await author("POST", f"/sources/{source}/quarantine", out)
    assert [(one["tool"], one["state"]) for one in done] == [("harbour/Harbour/GET%20%2Fships", "quarantined")]
    for path, body in (("admit", {}), ("quarantine", {"reason": "stale"}), ("check", {})):
        said = await author.answer(
            "POST", f"/sources/{source}/{path}", body | {"tools": ["harbour/Harbour/GET%20%2Fship"]}
        )
        assert (said.status_code, "near ones: harbour/Harbour/GET%20%2Fships" in said.json()["detail"]) == (404, True)
    stranger = Asking(world, await world.headers_of("other"))
    said = await stranger.answer("POST", f"/sources/{source}/admit", {"tools": ["harbour/Harbour/x"]})
    assert said.status_code == 403


async def test_a_document_that_is_not_there_is_a_fault_of_what_was_sent(author: Asking) -> None:
    body = {"name": "H", "kind": "openapi", "category": "sea", "address": "https://harbour.invalid/openapi.json"}
    said = await author.answer("POST", "/sources", body)
    assert (said.status_code, "is the address right?" in said.json()["detail"]) == (422, True), said.text
    assert await author("GET", "/sources") == []
