"""Each kind of question has its own answers; another's are refused, and change nothing."""

from typing import Any

import pytest
from pydantic import JsonValue

from server.storage.inputs import InputKind
from tests.server.matrix import a_question
from tests.server.world import World

LEAVES = {"allow", "deny"}
OUTCOMES = {"happened", "did_not_happen", "leave"}
QUESTION: JsonValue = {
    "tool": "a/b/c",
    "arguments": {},
    "reason": "?",
    "plan": {"steps": []},
    "request": "",
    "given": [],
}


async def asked(world: World, kind: InputKind) -> str:
    """The path of an open question."""
    run = (await a_question(world))["run_id"]
    key = {"plan": "plan-1", "call": "ab12", "unknown_outcome": "outcome-1:ab12"}[kind]
    await world.services.storage.inputs.ask(run, key, kind, QUESTION)
    return f"/api/v1/runs/{run}/inputs/{key}"


async def status(world: World, path: str, body: dict[str, Any]) -> int:
    return (await world.client.post(path, json=body, headers=await world.headers_of("user"))).status_code


@pytest.mark.parametrize(("kind", "own"), [("plan", LEAVES), ("call", LEAVES), ("unknown_outcome", OUTCOMES)])
async def test_a_decision_fits_its_question(world: World, kind: InputKind, own: set[str]) -> None:
    path = await asked(world, kind)
    for other in (LEAVES | OUTCOMES) - own:
        assert await status(world, path, {"decision": other}) == 400
    assert await status(world, path, {"decision": "perhaps"}) == 422
    for one in (
        own - {"allow"} if kind == "plan" else own
    ):  # a plan that is allowed is tests/flows/test_server_plans.py's
        assert await status(world, await asked(world, kind), {"decision": one}) == 200
    assert await status(world, path, {"decision": "deny" if own == LEAVES else "leave"}) == 200
    assert await status(world, path, {"decision": "deny" if own == LEAVES else "happened"}) == 409


@pytest.mark.parametrize(
    ("kind", "decision"), [("plan", "deny"), ("plan", "allow"), ("call", "deny"), ("unknown_outcome", "happened")]
)
async def test_only_a_call_is_allowed_always(world: World, kind: InputKind, decision: str) -> None:
    assert await status(world, await asked(world, kind), {"decision": decision, "always": True}) == 400
