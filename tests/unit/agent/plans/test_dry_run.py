"""Plans gone through without a call, and what a model would take for them."""

import json

import pytest

from agent.execution.executor import CallResult
from agent.plans.cost_estimate import Price, expected
from agent.plans.draft import drafted
from agent.plans.dry_run import SHOWN, tried
from domain.model import JsonObject
from domain.plan import StepResult
from domain.plan_document import PlanDocument, PlannedStep, Take
from domain.tool import ToolDoc
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from tests.flows.small_world import BOOKS, GEOCODE, NEW_WEATHER, REMOVE, ScriptedExecutor, ok

REQUEST = "What is the weather forecast for Paris?"
DOCS = {tool.id: tool for tool in (GEOCODE, NEW_WEATHER, BOOKS, REMOVE)}
POINT = {name: Take(step=1, field=f"results[].{name}") for name in ("latitude", "longitude")}
WEATHER = PlanDocument(
    steps=(PlannedStep(tool=GEOCODE.id, arguments={"city": "Paris"}), PlannedStep(tool=NEW_WEATHER.id, takes=POINT))
)
FOUND = {"results": [{"city": "Lyon", "latitude": 45.7, "longitude": 4.8}]}
LYON = ok(FOUND)


def nothing(_: JsonObject) -> CallResult:
    return CallResult("caller_fault", "", attempts=0, note="none is recorded")


async def test_recorded_answers_feed_the_steps_behind_them() -> None:
    recorded = ScriptedExecutor(search_places=LYON, get_daily_forecast=ok({"x": "y" * (2 * SHOWN)}))
    calls = await tried(WEATHER, REQUEST, DOCS, (), OfflinePolicy(), recorded)
    assert [call.arguments for call in calls] == [{"city": "Paris"}, {"latitude": 45.7, "longitude": 4.8}]
    assert [(call.step, call.status, call.changes) for call in calls] == [
        (1, "answered", False),
        (2, "answered", False),
    ]
    assert len(calls[1].response) == SHOWN
    assert not any(call.example for call in calls)


async def test_an_example_stands_in_for_a_recording_and_says_so() -> None:
    recorded = ScriptedExecutor(search_places=nothing, get_daily_forecast=nothing)
    calls = await tried(WEATHER, REQUEST, DOCS, (), OfflinePolicy(), recorded)
    assert calls[1].arguments == {"latitude": 48.85, "longitude": 2.35}
    assert all("the example in the tool's document" in call.note for call in calls)
    assert all(call.example for call in calls)


async def test_what_is_missing_is_named_and_nothing_is_asked_for_it() -> None:
    recorded = ScriptedExecutor(search_books=nothing)
    steps = (
        PlannedStep(tool=NEW_WEATHER.id),
        PlannedStep(tool=BOOKS.id, arguments={"title": "Dune"}),
        PlannedStep(tool=REMOVE.id, takes={"title": Take(step=2, field="books[5].title")}),
    )
    calls = await tried(PlanDocument(steps=steps), "Tidy up", DOCS, (), OfflinePolicy(), recorded)
    assert [call.status for call in calls] == ["missing", "answered", "missing"]
    assert calls[0].missing == ("latitude", "longitude")
    assert (calls[2].missing, calls[2].changes) == (("title",), True)
    assert "nothing at books[5].title" in calls[2].note
    assert [api for api, _ in recorded.made] == ["search_books"]


async def test_without_recording_or_example_the_answer_is_unknown() -> None:
    bare = {tool: doc.model_copy(update={"example_response": None}) for tool, doc in DOCS.items()}
    plan = PlanDocument(steps=WEATHER.steps[:1])
    (call,) = await tried(plan, REQUEST, bare, (), OfflinePolicy(), ScriptedExecutor(search_places=nothing))
    assert (call.status, call.response, call.note) == ("unknown", "", "none is recorded")


@pytest.mark.parametrize(("model", "learns", "calls"), [(True, True, 2), (True, False, 1), (False, True, 0)])
async def test_a_model_is_asked_for_the_answer_and_what_the_steps_were_worth(
    model: bool, learns: bool, calls: int
) -> None:
    gone = await tried(
        WEATHER, REQUEST, DOCS, (), OfflinePolicy(), ScriptedExecutor(search_places=LYON, get_daily_forecast=LYON)
    )
    free = expected(WEATHER, DOCS, gone, model=model, learns=learns, price=None)
    assert (free.model_calls, free.cost) == (calls, None)
    dear = expected(WEATHER, DOCS, gone, model=model, learns=learns, price=Price(1.0, 10.0))
    assert dear.cost == pytest.approx((dear.prompt_tokens + 10 * dear.completion_tokens) / 1_000_000)
    assert (dear.tokens > 0) is model


async def test_a_model_is_asked_for_what_a_step_leaves_open() -> None:
    plan = PlanDocument(steps=(PlannedStep(tool=GEOCODE.id), WEATHER.steps[1]))
    gone = await tried(
        plan, REQUEST, DOCS, (), OfflinePolicy(), ScriptedExecutor(search_places=LYON, get_daily_forecast=LYON)
    )
    assert expected(plan, DOCS, gone, model=True, learns=False, price=None).model_calls == 2


def unsaid(tool: ToolDoc, request: str) -> JsonObject:
    return drafted(request, (tool,), EnglishReader()).steps[0].arguments


def test_a_draft_fixes_only_what_the_request_names() -> None:
    assert unsaid(REMOVE, 'Delete the book "Dune"') == {"title": "Dune"}
    assert unsaid(REMOVE, "Delete the book") == {}
    assert unsaid(NEW_WEATHER, "What is the weather?") == {}


async def test_what_earlier_subtasks_have_found_is_used_as_it_was_found() -> None:
    """Only where nothing is stored of it, its document's example stands in."""
    plan = PlanDocument(steps=WEATHER.steps[1:])
    found = StepResult(tool=GEOCODE.id, arguments={"city": "Lyon"}, status="ok", response=json.dumps(FOUND))
    for result, point in (found, (45.7, 4.8)), (None, (48.85, 2.35)):
        recorded = ScriptedExecutor(get_daily_forecast=LYON)
        (call,) = await tried(plan, REQUEST, DOCS, [(GEOCODE.id, result)], OfflinePolicy(), recorded)
        assert (call.arguments["latitude"], call.arguments["longitude"]) == point
