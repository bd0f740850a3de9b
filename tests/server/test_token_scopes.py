"""A program's token does what its scopes name, approves nothing, and leaves one entry in the audit log for each change."""

from datetime import timedelta

import pytest

from server.runs.approvals import READS_ONLY
from server.storage.tokens import Scope
from tests.support.rights_matrix import a_conversation, a_finished_run, a_question
from tests.support.server_world import World
from tests.support.source_samples import NEW_SOURCE


async def headers_of_token(world: World, who: str, *scopes: Scope) -> dict[str, str]:
    token, _ = await world.services.storage.tokens.open_program_session(
        world.people[who].id, "a job", timedelta(days=1), scopes
    )
    return {"Authorization": f"Bearer {token}"}


async def test_a_token_without_the_scope_is_refused_and_told_which_it_lacks(world: World) -> None:
    asks, reads = [await headers_of_token(world, "user", scope) for scope in ("ask", "read")]
    assert (await world.client.get("/api/v1/conversations", headers=reads)).status_code == 200
    refused = await world.client.get("/api/v1/conversations", headers=asks)
    assert (refused.status_code, "lacks the scope read" in refused.json()["detail"]) == (403, True)


@pytest.mark.parametrize("decision", ["allow", "did_not_happen", "happened"])
async def test_no_token_approves(world: World, decision: str) -> None:
    things = await a_question(world)
    path = "/api/v1/runs/{run_id}/inputs/{input_id}".format(**things)
    headers = await headers_of_token(world, "user", "ask", "read", "run_changes", "administer")
    answer = await world.client.post(path, json={"decision": decision}, headers=headers)
    assert (answer.status_code, "approve" in answer.json()["detail"]) == (403, True)
    tried = await world.client.post("/api/v1/tools/a/b/c/try", json={"leave": True}, headers=headers)
    assert (tried.status_code, "leave" in tried.json()["detail"]) == (403, True)
    denied = await world.client.post(path, json={"decision": "deny"}, headers=headers)
    assert denied.status_code == 200, "to deny approves nothing"


async def test_a_run_changes_nothing_unless_its_token_has_the_scope(world: World) -> None:
    """What such a run may call is held by tests/attacks/test_token_scopes.py."""
    path = "/api/v1/conversations/{conversation_id}/runs".format(**await a_conversation(world))
    callers = {
        "a session": await world.headers_of("user"),
        "asks": await headers_of_token(world, "user", "ask"),
        "changes": await headers_of_token(world, "user", "ask", "run_changes"),
    }
    only_reads: dict[str, bool] = {}
    for name, headers in callers.items():
        begun = await world.client.post(path, json={"request": "a request"}, headers=headers)
        assert begun.status_code == 202, begun.text
        run = await world.services.storage.runs.get(begun.json()["id"], world.people["user"].id)
        assert run is not None
        only_reads[name] = READS_ONLY in run.settings
    assert only_reads == {"a session": False, "asks": True, "changes": False}


async def test_each_change_of_a_token_is_written_once(world: World) -> None:
    run = (await a_finished_run(world))["run_id"]
    changes = await headers_of_token(world, "user", "run_changes")
    shared = await world.client.post(f"/api/v1/runs/{run}/shared", json={}, headers=changes)
    assert shared.status_code == 201, shared.text
    administers = await headers_of_token(world, "author", "administer")
    assert (await world.client.post("/api/v1/sources", json=NEW_SOURCE, headers=administers)).status_code == 201
    listed = await world.client.get("/api/v1/audit", headers=await world.headers_of("admin"))
    entries = [(one["name"], one["operation"], one["via"]) for one in listed.json()["entries"]]
    assert entries == [("author", "add_source", "token"), ("user", "share", "token")]
