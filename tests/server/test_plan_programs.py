"""Plans as programs over the API: shown, checked while they are typed, gone through line by line, never approved while anything is wrong."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from domain.tool import Parameter, make_tool_id
from server.storage.identifiers import generate_id
from server.storage.rows.runs import RunRow
from tests.support.indexed_store import indexed_store
from tests.support.server_world import World, copied, serving
from tests.support.small_tools import FIND, SEND, STEP

EXAMPLE = '{"cities": [{"id": 7, "name": "Velmora", "people": 900}, {"id": 8, "name": "Tarn", "people": 1200}]}'
LIST = FIND.model_copy(update={"id": make_tool_id("places", "search", "list_cities"), "api": "list_cities", "function": "list_cities",
                               "description": "All cities of a country, with their people.", "example_response": EXAMPLE,
                               "parameters": (Parameter(name="country", type="string", required=True),)})  # fmt: skip
BIGGEST = """# the biggest city of a country
cities = (await list_cities(country=country))["cities"]
best = None
for one in cities:
    if best is None or one["people"] > best["people"]:
        best = one
{"answered": "yes", "answer": best["name"]}"""
INPUTS = {"country": {"type": "string"}}
PROGRAM: dict[str, Any] = {"text": BIGGEST, "inputs": INPUTS, "values": {"country": "Caldera"}}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(indexed_store(tmp_path_factory.mktemp("store"), [FIND, SEND, LIST]))


@pytest.fixture
async def world(home: Path, store: Path, tmp_path: Path) -> AsyncIterator[World]:
    async with serving(await asyncio.to_thread(copied, home, tmp_path / "home"), store=store) as opened:
        opened.services.worker.stop()
        yield opened


async def waiting(world: World, plan: dict[str, Any]) -> str:
    """A run that waits with a plan."""
    storage, user = world.services.storage, world.people["user"].id
    conversation, run_id = await storage.conversations.add(user), generate_id()
    chosen: dict[str, Any] = {"planner": "dfs", "policy": "offline", "model": "", "settings": {}, "plan_version": 0}
    told: dict[str, Any] = {"request": "the biggest city", "status": "waiting", "created_at": conversation.created_at}
    async with storage.database.write_session() as session:
        session.add(RunRow(id=run_id, user_id=user, conversation_id=conversation.id, **chosen, **told))
    asked: dict[str, Any] = {
        "reason": "?",
        "tool": "",
        "arguments": {},
        "request": "the biggest city of Caldera",
        "given": [],
        "made": [],
    }
    await storage.run_questions.ask(run_id, "plan-1", "plan", asked | plan)
    return run_id


STEPS: dict[str, Any] = {"plan": {"steps": [STEP | {"arguments": {"city": "Velmora"}}], "parameters": {}}}


class Editor:
    """A user who edits the plan of one run."""

    def __init__(self, world: World, run: str, headers: dict[str, str]) -> None:
        self.world, self.run, self.headers = world, run, headers

    async def send(self, method: str, path: str = "", body: object = None, status: int = 200) -> dict[str, Any]:
        address = f"/api/v1/runs/{self.run}{path}"
        answer = await self.world.client.request(method, address, json=body, headers=self.headers)
        assert answer.status_code == status, answer.text[:600]
        return answer.json()


@pytest.fixture
async def editor(world: World) -> Editor:
    return Editor(world, await waiting(world, STEPS), await world.headers_of("user"))


async def test_steps_are_shown_as_the_program_that_they_are_too(editor: Editor) -> None:
    shown = await editor.send("GET", "/plan")
    assert shown["document"]["steps"][0]["arguments"] == {"city": "Velmora"}
    assert shown["program"]["text"] == 'find_city_answer = await find_city(city="Velmora")'
    assert shown["program"]["complaints"] == shown["problems"] == []
    functions = {one["name"]: one for one in shown["program"]["functions"]}
    assert functions["find_city"]["used"]
    assert functions["list_cities"]["call"] == "await list_cities(country=fill())"
    assert "async def list_cities(country: str)" in functions["list_cities"]["declaration"]
    offered = [one for one in shown["suggestions"] if one["after"] is None]
    assert "list_cities_answer = await list_cities(country=fill())" in [one["code"] for one in offered]
    assert {tool["id"]: tool["changes"] for tool in shown["tools"]}[SEND.id] is True


async def test_a_text_that_is_more_than_steps_is_shown_as_code_with_what_feeds_what(editor: Editor) -> None:
    text = f"{BIGGEST[: BIGGEST.index('best')]}for one in cities:\n    await find_city(city=one['name'])\ncities[0]"
    shown = await editor.send("PUT", "/plan", {"version": 0, "program": PROGRAM | {"text": text}})
    assert (shown["version"], shown["document"]) == (1, None)
    assert "line 4" in shown["why_no_steps"]
    assert shown["program"]["text"] == text
    first, second = shown["program"]["calls"]
    assert [(call["line"], call["tool"]) for call in (first, second)] == [(2, LIST.id), (4, FIND.id)]
    assert shown["program"]["feeds"] == [{"source": first["place"], "target": second["place"]}]
    assert shown["program"]["answer"] == [first["place"]]
    assert await editor.send("GET", "/plan") == shown


async def test_what_is_wrong_is_told_by_line_and_column_and_kept_until_it_is_mended(editor: Editor) -> None:
    wrong = BIGGEST.replace("list_cities(country=country)", "list_city(country=country)")
    shown = await editor.send("PUT", "/plan", {"version": 0, "program": PROGRAM | {"text": wrong}})
    (complaint,) = shown["program"]["complaints"]
    assert (complaint["line"], complaint["column"]) == (2, 17)
    assert "list_city" in complaint["message"]
    refused = await editor.send("POST", "/inputs/plan-1", {"decision": "allow"}, 400)
    assert refused["errors"] == [{"place": "program.text.2", "message": complaint["message"]}]
    await editor.send("POST", "/plan/dry-run", status=400)
    late = await editor.send("PUT", "/plan", {"version": 0, "program": PROGRAM}, 409)
    assert late["code"] == "conflict"
    assert (await editor.send("PUT", "/plan", {"version": 1, "program": PROGRAM}))["program"]["complaints"] == []


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = (", 1, "no Python"),
        ("x = 1\ny = find_city(town='a')\nx", 2, "town"),
        ("await find_city()\n", 1, "city"),
        ("import os\nos.remove('x')", 1, "os"),
        ("earlier[0]", 1, "no results"),
    ],
)
async def test_a_text_is_checked_without_being_kept(editor: Editor, text: str, line: int, words: str) -> None:
    told = await editor.send("POST", "/plan/check", {"text": text})
    assert told["complaints"][0]["line"] == line
    assert any(words in one["message"] for one in told["complaints"])
    assert (await editor.send("GET", "/plan"))["version"] == 0
    sound = await editor.send("POST", "/plan/check", {"text": 'found = await find_city(city="Tarn")'})
    assert (sound["complaints"], sound["document"]["steps"]) == (
        [],
        [STEP | {"arguments": {"city": "Tarn"}} | {"takes": {}, "named": {}}],
    )


async def test_it_is_gone_through_line_by_line(editor: Editor) -> None:
    await editor.send("PUT", "/plan", {"version": 0, "program": PROGRAM})
    dry = await editor.send("POST", "/plan/dry-run")
    assert dry["text"] == BIGGEST
    assert {one["line"]: one["times"] for one in dry["lines"]} == {2: 1, 3: 1, 4: 2, 6: 2}
    assert dry["lines"][-1]["values"]["best"].startswith("{'id': 8")
    (call,) = dry["calls"]
    assert (call["line"], call["arguments"], call["example"]) == (2, {"country": "Caldera"}, True)
    assert (dry["says"]["answered"], dry["says"]["answer"], dry["stopped"]) == ("yes", "Tarn", "")
    text = 'found = await find_city(city="Tarn")\nawait send(to=found["id"])'
    await editor.send("PUT", "/plan", {"version": 1, "program": {"text": text}})
    dry = await editor.send("POST", "/plan/dry-run")
    assert (dry["stopped_line"], dry["says"], dry["changes"]) == (1, None, [])
    assert "nothing is known of what find_city answers" in dry["stopped"]


async def test_linear_texts_and_steps_are_the_same_plan(editor: Editor) -> None:
    text = 'cities = await list_cities(country="Caldera")\nawait send(to=named(cities["cities"])["name"])'
    shown = await editor.send("PUT", "/plan", {"version": 0, "program": {"text": text}})
    assert shown["program"]["complaints"] == []
    assert shown["document"]["steps"][1]["takes"] == {"to": {"step": 1, "field": "cities[].name"}}
    back = await editor.send("PUT", "/plan", {"version": 1, "document": shown["document"]})
    assert back["document"] == shown["document"]
    again = await editor.send("PUT", "/plan", {"version": 2, "program": {"text": back["program"]["text"]}})
    assert again["document"] == shown["document"]


async def test_a_plan_is_one_of_both_and_of_bounded_size(editor: Editor) -> None:
    both: dict[str, Any] = {"document": {"steps": []}, "program": PROGRAM}
    bodies: list[dict[str, Any]] = [{}, both, {"program": {"text": "x" * 200_000}}]
    for body in bodies:
        await editor.send("PUT", "/plan", {"version": 0} | body, 422)
    many = {"text": "1", "values": {"a": "x" * 300_000}}
    await editor.send("POST", "/plan/check", many, 422)


async def test_what_was_approved_is_the_program_that_was_checked(world: World) -> None:
    editor = Editor(world, await waiting(world, STEPS), await world.headers_of("user"))
    await editor.send("PUT", "/plan", {"version": 0, "program": PROGRAM})
    await editor.send("POST", "/inputs/plan-1", {"decision": "allow"})
    kept: Any = (await world.services.storage.run_questions.list_all(editor.run))[0].answer
    assert kept["program"]["program"]["text"] == BIGGEST
    assert (kept["program"]["values"], kept["program"]["program"]["tools"]) == (
        {"country": "Caldera"},
        {"list_cities": LIST.id},
    )
    assert list(kept["reach"]) == [LIST.id]
    await editor.send("GET", "/plan", status=404)


async def test_the_version_that_was_read_is_what_is_approved_once(editor: Editor) -> None:
    await editor.send("PUT", "/plan", {"version": 0, "program": PROGRAM})
    stale = await editor.send("POST", "/inputs/plan-1", {"decision": "allow", "version": 0}, 409)
    assert "version 1, not 0" in stale["detail"]
    await editor.send("POST", "/inputs/plan-1", {"decision": "deny", "version": 1}, 400)
    await editor.send("POST", "/inputs/plan-1", {"decision": "allow", "version": 1})
    for decision in ("allow", "deny"):
        again = await editor.send("POST", "/inputs/plan-1", {"decision": decision}, 409)
        assert again["detail"] == "this was answered already"


async def test_an_input_without_a_value_is_told(editor: Editor) -> None:
    told = await editor.send("POST", "/plan/check", {"text": BIGGEST, "inputs": INPUTS})
    assert [(one["input"], "has no value" in one["message"]) for one in told["complaints"]] == [("country", True)]
    default = {"country": {"type": "string", "default": "Caldera"}}
    assert (await editor.send("POST", "/plan/check", {"text": BIGGEST, "inputs": default}))["complaints"] == []
    await editor.send("PUT", "/plan", {"version": 0, "program": {**PROGRAM, "values": dict[str, str]()}})
    refused = await editor.send("POST", "/inputs/plan-1", {"decision": "allow"}, 400)
    assert [one["place"] for one in refused["errors"]] == ["program.inputs.country"]


async def test_what_is_no_python_yet_takes_no_proposals_away(editor: Editor) -> None:
    before = await editor.send("GET", "/plan")
    text = 'x = await find_city(city="Tarn")\ny = ('
    shown = await editor.send("PUT", "/plan", {"version": 0, "program": {"text": text}})
    (complaint,) = shown["program"]["complaints"]
    assert (complaint["line"], complaint["message"].startswith("This is no Python")) == (2, True)
    assert [one["name"] for one in shown["program"]["functions"] if one["used"]] == ["find_city"]
    offered = [{one["tool"] for one in plan["suggestions"] if one["after"] is None} for plan in (before, shown)]
    assert offered[0] == offered[1] != set()


async def test_a_loop_without_an_end_is_told_by_its_line(editor: Editor) -> None:
    text = 'n = 0\nwhile True:\n    n = n + 1\nawait find_city(city="Tarn")'
    await editor.send("PUT", "/plan", {"version": 0, "program": {"text": text}})
    dry = await editor.send("POST", "/plan/dry-run")
    assert "was gone through too often" in dry["stopped"], dry["stopped"]
    assert dry["stopped_line"] in (2, 3)


async def test_an_answer_is_a_text_or_a_number(editor: Editor) -> None:
    await editor.send("POST", "/inputs/plan-1", {"decision": "answer", "answer": True}, 422)
