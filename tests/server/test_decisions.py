"""Each kind of question has its own answers; another's are refused, and change nothing."""

from typing import Any

import pytest
from pydantic import JsonValue

from server.storage.run_records import InputKind
from tests.support.rights_matrix import a_question
from tests.support.server_world import World

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
    await world.services.storage.run_questions.ask(run, key, kind, QUESTION)
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


CHOICES = ("Ada Brennick", "Ben Brennick")
ASKED: JsonValue = {"tool": "", "arguments": {}, "reason": "Which one?", "choices": [*CHOICES]}


async def asked_which(world: World) -> str:
    """The path of an open question about what a request leaves open."""
    run = (await a_question(world))["run_id"]
    await world.services.storage.run_questions.ask(run, "question-1", "question", ASKED)
    return f"/api/v1/runs/{run}/inputs/question-1"


@pytest.mark.parametrize(
    ("given", "kept"),
    [(1, CHOICES[1]), (0, CHOICES[0]), ("ben  BRENNICK", CHOICES[1]), ("Carl", "Carl"), ("1", "1"), ("x" * 1000,) * 2],
)
async def test_a_question_is_answered_by_the_place_of_a_choice_or_in_own_words_once(
    world: World, given: str | int, kept: str
) -> None:
    path = await asked_which(world)
    headers = await world.headers_of("user")
    answered = await world.client.post(path, json={"decision": "answer", "answer": given}, headers=headers)
    assert answered.status_code == 200, answered.text
    assert (answered.json()["decision"], answered.json()["answer"]) == ("answer", kept)
    assert await status(world, path, {"decision": "answer", "answer": "Carl"}) == 409
    assert await status(world, path, {"decision": "deny"}) == 409


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"decision": "answer", "answer": 2}, 400),
        ({"decision": "answer", "answer": -1}, 400),
        ({"decision": "answer", "answer": " \t\n"}, 400),
        ({"decision": "answer"}, 400),
        ({"decision": "deny", "answer": "Carl"}, 400),
        ({"decision": "allow"}, 400),
        ({"decision": "answer", "answer": "Carl", "always": True}, 400),
        ({"decision": "answer", "answer": ""}, 422),
        ({"decision": "answer", "answer": "x" * 1001}, 422),
        ({"decision": "answer", "answer": ["Carl"]}, 422),
    ],
)
async def test_what_is_no_answer_is_refused_and_the_question_stays_open(
    world: World, body: dict[str, Any], code: int
) -> None:
    path = await asked_which(world)
    assert await status(world, path, body) == code
    assert await status(world, path, {"decision": "answer", "answer": 0}) == 200


async def test_a_question_of_another_user_s_run_cannot_be_answered(world: World) -> None:
    path = await asked_which(world)
    for person in ("other", "admin"):
        answered = await world.client.post(
            path, json={"decision": "answer", "answer": 0}, headers=await world.headers_of(person)
        )
        assert answered.status_code == 404, answered.text
    assert await status(world, path, {"decision": "answer", "answer": 0}) == 200


async def test_only_a_question_takes_an_answer(world: World) -> None:
    path = await asked(world, "call")
    assert await status(world, path, {"decision": "answer", "answer": "yes"}) == 400
    assert await status(world, path, {"decision": "allow", "answer": "yes"}) == 400
    assert await status(world, path, {"decision": "allow"}) == 200
