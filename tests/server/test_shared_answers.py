"""Answers that are shared: who reads what, until when, and what is kept from whom."""

from typing import Any

from sqlalchemy import text

from domain.event import CallFinished, CallStarted, Event, EventRecord, ProgramStarted, RunFinished
from domain.plan import StepResult
from domain.program import Program
from domain.tool import ToolId
from domain.usage import Usage
from server.storage.identifiers import generate_id
from server.storage.rows.runs import RunRow
from server.storage.run_records import StoredEvent
from tests.server.hidden import HIDDEN, all_that_knows
from tests.support.rights_matrix import a_question
from tests.support.server_world import World, with_store
from tests.support.small_world import BOOKS

SENT, GOT = "a name that is sent", "a list that comes back"


async def an_answer(world: World, tool: ToolId, who: str = "author") -> str:
    """A run that made one call of a tool and ended."""
    storage, owner = world.services.storage, world.people[who].id
    talk = await storage.conversations.add(owner)
    at, kept = talk.created_at, {"status": "finished", "outcome": "answered", "planner": "program", "policy": "llm"}
    run = RunRow(
        id=generate_id(), user_id=owner, conversation_id=talk.id, request="Which books are there?", model="", settings={},
        plan_version=0, created_at=at, finished_at=at, **kept,
    )  # fmt: skip
    async with storage.database.write_session() as session:
        session.add(run)
    result = StepResult(tool=tool, arguments={"name": SENT}, status="ok", response=GOT)
    events: list[Event] = [
        ProgramStarted(number=1, program=Program(text="books = await list_books()\nbooks", tools={"list_books": tool})),
        CallStarted(step=1, tool=tool, arguments={"name": SENT}),
        CallFinished(step=1, result=result),
        RunFinished(outcome="answered", answer="There are three.", usage=Usage()),
    ]
    records = [EventRecord(run=run.id, seq=seq, at=at, event=one) for seq, one in enumerate(events, 1)]
    await storage.events.append(
        [StoredEvent(run_id=run.id, seq=one.seq, kind=one.event.kind, body=one.model_dump_json()) for one in records]
    )
    return run.id


async def shares(world: World, run: str, who: str = "author", **body: Any) -> dict[str, Any]:
    answer = await world.client.post(f"/api/v1/runs/{run}/shared", json=body, headers=await world.headers_of(who))
    assert answer.status_code == 201, answer.text
    return answer.json()


async def reads(world: World, secret: str, who: str = "other") -> Any:
    return await world.client.get(f"/api/v1/shared/{secret}", headers=await world.headers_of(who))


async def test_another_user_reads_question_answer_and_program_and_no_values(world: World) -> None:
    await with_store(world)
    made = await shares(world, await an_answer(world, BOOKS.id), days=1)
    found = (await reads(world, made["secret"])).json()
    assert (found["owner"], found["request"], found["answer"]) == (
        "author",
        "Which books are there?",
        "There are three.",
    )
    assert (len(found["programs"]), found["withheld"]) == (1, 0)
    assert found["calls"] == [{"tool": BOOKS.id, "status": "ok", "arguments": None, "response": None}]
    assert not any(secret in str(found) for secret in (SENT, GOT))
    whole = await shares(world, made["run_id"], with_calls=True)
    (call,) = (await reads(world, whole["secret"])).json()["calls"]
    assert (call["arguments"], call["response"]) == ({"name": SENT}, GOT)


async def test_what_rests_on_a_tool_that_the_reader_may_not_use_is_not_told(world: World) -> None:
    await with_store(world)
    await all_that_knows(world, "other")
    made = await shares(world, await an_answer(world, HIDDEN), with_calls=True)
    answer = await reads(world, made["secret"])
    found = answer.json()
    assert (found["withheld"], found["answer"], found["programs"], found["calls"]) == (1, "", [], [])
    assert HIDDEN not in answer.text
    for who in ("author", "admin"):
        assert (await reads(world, made["secret"], who)).json()["answer"] == "There are three."


async def test_a_link_ends_when_it_is_taken_back_and_with_its_conversation(world: World) -> None:
    await with_store(world)
    run = await an_answer(world, BOOKS.id)
    first, second = await shares(world, run), await shares(world, run)
    headers = await world.headers_of("author")
    listed = (await world.client.get("/api/v1/me/shared", headers=headers)).json()
    assert [one["id"] for one in listed] == [second["id"], first["id"]]
    assert "secret" not in listed[0]
    assert (await world.client.delete(f"/api/v1/me/shared/{first['id']}", headers=headers)).status_code == 204
    assert ((await reads(world, first["secret"])).status_code, (await reads(world, second["secret"])).status_code) == (
        404,
        200,
    )
    talk = await world.services.storage.runs.get(run, world.people["author"].id)
    assert talk is not None
    await world.client.delete(f"/api/v1/conversations/{talk.conversation_id}", headers=headers)
    assert (await reads(world, second["secret"])).status_code == 404


async def test_no_secret_is_kept_and_each_link_is_in_the_audit_log(world: World) -> None:
    await with_store(world)
    made = await shares(world, await an_answer(world, BOOKS.id), days=30)
    async with world.services.storage.database.read_session() as session:
        rows = str((await session.execute(text("SELECT * FROM shared_answers"))).all())
    assert made["secret"].partition("_")[2] not in rows
    headers = await world.headers_of("admin")
    (entry,) = (await world.client.get("/api/v1/audit", params={"operation": "share"}, headers=headers)).json()[
        "entries"
    ]
    assert (entry["name"], entry["said"]["days"], entry["said"]["run_id"]) == ("author", 30, made["run_id"])
    assert made["secret"] not in str(entry)


async def test_only_what_has_ended_is_shared_for_the_days_that_can_be_chosen(world: World) -> None:
    things, headers = await a_question(world), await world.headers_of("user")
    path = f"/api/v1/runs/{things['run_id']}/shared"
    assert (await world.client.post(path, json={"days": 2}, headers=headers)).status_code == 422
    refused = await world.client.post(path, json={}, headers=headers)
    assert (refused.status_code, refused.json()["detail"]) == (409, "the run has not ended; share it when it has")
