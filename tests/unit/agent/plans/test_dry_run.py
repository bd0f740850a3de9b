"""Programs gone through without a call, line by line, and what a model would take for them."""

import json
from collections.abc import AsyncIterator, Sequence

import pytest
from pydantic.types import JsonValue

from agent.execution.executor import CallResult, Executor
from agent.plans import dry_run
from agent.plans.cost_estimate import ModelPrice, estimate_cost
from agent.plans.dry_run import MAX_SHOWN_RESPONSE, DryRunContext, DryRunResult, simulate_plan
from agent.plans.plan_compilation import compile_plan
from agent.plans.plan_drafts import draft_plan
from agent.programs.offered_functions import build_functions
from agent.programs.sandbox import MontySandbox
from domain.model import JsonObject
from domain.plan import PlanDocument, PlannedStep, StepResult, Take
from domain.program import ProgramPlan
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from tests.support.small_world import BOOKS, GEOCODE, NEW_WEATHER, REMOVE, ScriptedExecutor, ok

REQUEST = "What is the weather forecast for Paris?"
DOCS = {tool.id: tool for tool in (GEOCODE, NEW_WEATHER, BOOKS, REMOVE)}
BARE = {tool: doc.model_copy(update={"example_response": None}) for tool, doc in DOCS.items()}
POINT = {name: Take(step=1, field=f"results[].{name}") for name in ("latitude", "longitude")}
WEATHER = PlanDocument(
    steps=(PlannedStep(tool=GEOCODE.id, arguments={"city": "Paris"}), PlannedStep(tool=NEW_WEATHER.id, takes=POINT))
)
FOUND: JsonValue = {"results": [{"city": "Lyon", "latitude": 45.7, "longitude": 4.8}]}
LYON = ok(FOUND)
Given = Sequence[tuple[ToolId, StepResult | None]]


@pytest.fixture
async def sandbox() -> AsyncIterator[MontySandbox]:
    one = MontySandbox()
    yield one
    await one.close()


def nothing(_: JsonObject) -> CallResult:
    return CallResult("caller_fault", "", attempts=0, note="none is recorded")


def written(text: str, **values: JsonValue) -> ProgramPlan:
    """A plan of this text; its inputs are the names of its values."""
    program = build_functions(list(DOCS.values()), 10_000).build_program(
        text, parse_source(text).read_names, tainted=False
    )
    return ProgramPlan(program=program, inputs={name: {} for name in values}, values=values)


def around(sandbox: MontySandbox, recorded: Executor, request: str = REQUEST, **other: object) -> DryRunContext:
    told: dict[str, object] = {
        "docs": DOCS,
        "earlier_steps": (),
        "policy": OfflinePolicy(),
        "today": "2026-11-23",
    } | other
    return DryRunContext(request=request, recorded=recorded, sandbox=sandbox, **told)  # pyright: ignore[reportArgumentType]


async def steps(sandbox: MontySandbox, document: PlanDocument, recorded: Executor, **other: object) -> DryRunResult:
    return await simulate_plan(compile_plan(document, DOCS), around(sandbox, recorded, **other))  # pyright: ignore[reportArgumentType]


async def test_recorded_answers_feed_the_calls_behind_them(sandbox: MontySandbox) -> None:
    recorded = ScriptedExecutor(search_places=LYON, get_daily_forecast=ok({"x": "y" * (2 * MAX_SHOWN_RESPONSE)}))
    told = await steps(sandbox, WEATHER, recorded)
    assert [call.arguments for call in told.calls] == [{"city": "Paris"}, {"latitude": 45.7, "longitude": 4.8}]
    assert [(call.step, call.line, call.status, call.changes) for call in told.calls] == [
        (1, 1, "answered", False),
        (2, 2, "answered", False),
    ]
    assert len(told.calls[1].response) == MAX_SHOWN_RESPONSE
    assert not any(call.example for call in told.calls)
    assert (told.stopped, told.speaks, told.says) == ("", False, None)


async def test_a_loop_is_gone_through_round_by_round_and_its_rounds_are_counted(sandbox: MontySandbox) -> None:
    plan = written(
        """# the warmest
warmest = None
for name in cities:
    found = (await search_places(city=name))["results"][0]
    days = await get_daily_forecast(latitude=found["latitude"], longitude=found["longitude"])
    if warmest is None:
        warmest = name
{"answered": "yes", "answer": warmest}""",
        cities=["Lyon", "Paris", "Oslo"],
    )
    told = await simulate_plan(plan, around(sandbox, ScriptedExecutor(search_places=LYON, get_daily_forecast=nothing)))
    assert [(one.line, one.times) for one in told.lines] == [(2, 1), (3, 3), (4, 3), (5, 3), (7, 1)]
    by_line = {one.line: one.values for one in told.lines}
    assert by_line[3] == {"name": "'Oslo'"}
    assert by_line[7] == {"warmest": "'Lyon'"}
    assert "45.7" in by_line[4]["found"]
    assert [(call.line, call.column, call.example) for call in told.calls[:2]] == [(4, 20, False), (5, 18, True)]
    assert told.says is not None
    assert (told.says.answered, told.says.answer) == ("yes", "Lyon")


async def test_it_goes_no_further_than_where_nothing_is_known(sandbox: MontySandbox) -> None:
    plan = written('found = await search_books(title="Dune")\nlater = 1\nlater')
    told = await simulate_plan(plan, around(sandbox, ScriptedExecutor(search_books=nothing), docs=BARE))
    (call,) = told.calls
    assert (call.status, call.response, call.note) == ("unknown", "", "none is recorded")
    assert told.stopped == "nothing is known of what search_books answers: none is recorded"
    assert (told.stopped_line, [one.line for one in told.lines], told.says) == (1, [1], None)


async def test_what_it_would_break_off_with_is_told_with_its_line(sandbox: MontySandbox) -> None:
    plan = written('found = await search_places(city="Paris")\n\nplace = found["places"][0]\nplace')
    told = await simulate_plan(plan, around(sandbox, ScriptedExecutor(search_places=LYON)))
    assert told.stopped_line == 3
    assert "KeyError" in told.stopped


async def test_it_is_bounded(sandbox: MontySandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dry_run, "MAX_DRY_RUN_CALLS", 3)
    plan = written('for n in range(9):\n    found = await search_places(city="Paris")\n1')
    told = await simulate_plan(plan, around(sandbox, ScriptedExecutor(search_places=LYON)))
    assert (len(told.calls), told.stopped, told.stopped_line) == (3, "it makes more than 3 calls", 2)
    forever = await simulate_plan(written("while True:\n    n = 1\nn"), around(sandbox, ScriptedExecutor()))
    assert forever.stopped


async def test_an_example_stands_in_for_a_recording_and_says_so(sandbox: MontySandbox) -> None:
    recorded = ScriptedExecutor(search_places=nothing, get_daily_forecast=nothing)
    told = await steps(sandbox, WEATHER, recorded)
    assert told.calls[1].arguments == {"latitude": 48.85, "longitude": 2.35}
    assert all("the example in the tool's document" in call.note for call in told.calls)
    assert all(call.example for call in told.calls)


async def test_what_is_missing_is_named_and_nothing_is_asked_for_it(sandbox: MontySandbox) -> None:
    recorded = ScriptedExecutor(search_books=nothing)
    open_ = (PlannedStep(tool=NEW_WEATHER.id), PlannedStep(tool=BOOKS.id, arguments={"title": "Dune"}))
    told = await steps(sandbox, PlanDocument(steps=open_), recorded, request="Tidy up")
    assert [call.status for call in told.calls] == ["missing", "answered"]
    assert told.calls[0].missing == ("latitude", "longitude")
    assert [api for api, _ in recorded.made] == ["search_books"]
    beyond = PlannedStep(tool=REMOVE.id, takes={"title": Take(step=1, field="books[5].title")})
    told = await steps(sandbox, PlanDocument(steps=(open_[1], beyond)), recorded, request="Tidy up")
    assert (len(told.calls), told.stopped_line) == (1, 2)
    assert "IndexError" in told.stopped


@pytest.mark.parametrize(("model", "calls"), [(True, 1), (False, 0)])
async def test_a_model_is_asked_for_the_answer_that_steps_do_not_make(
    sandbox: MontySandbox, model: bool, calls: int
) -> None:
    gone = await steps(sandbox, WEATHER, ScriptedExecutor(search_places=LYON, get_daily_forecast=LYON))
    free = estimate_cost(gone, DOCS, has_model=model, rephrases=False, price=None)
    assert (free.model_calls, free.cost) == (calls, None)
    dear = estimate_cost(gone, DOCS, has_model=model, rephrases=False, price=ModelPrice(1.0, 10.0))
    assert dear.cost == pytest.approx((dear.prompt_tokens + 10 * dear.completion_tokens) / 1_000_000)
    assert (dear.tokens > 0) is model


async def test_a_model_is_asked_for_what_is_left_open_and_to_say_an_answer_anew(sandbox: MontySandbox) -> None:
    recorded = ScriptedExecutor(search_places=LYON, get_daily_forecast=LYON)
    plan = written(
        'found = await search_places(city=fill())\n{"answered": "yes", "answer": found["results"][0]["city"]}'
    )
    gone = await simulate_plan(plan, around(sandbox, recorded))
    assert (gone.calls[0].arguments, gone.calls[0].found) == ({"city": "Paris"}, ("city",))
    assert estimate_cost(gone, DOCS, has_model=True, rephrases=False, price=None).model_calls == 1
    assert estimate_cost(gone, DOCS, has_model=True, rephrases=True, price=None).model_calls == 2


def unsaid(tool: ToolDoc, request: str) -> JsonObject:
    return draft_plan(request, (tool,), EnglishReader()).steps[0].arguments


def test_a_draft_fixes_only_what_the_request_names() -> None:
    assert unsaid(REMOVE, 'Delete the book "Dune"') == {"title": "Dune"}
    assert unsaid(REMOVE, "Delete the book") == {}
    assert unsaid(NEW_WEATHER, "What is the weather?") == {}


async def test_what_earlier_subtasks_have_found_is_used_as_it_was_found(sandbox: MontySandbox) -> None:
    """Only where nothing is stored of it, its document's example stands in."""
    plan = compile_plan(PlanDocument(steps=WEATHER.steps[1:]), DOCS, [GEOCODE.id])
    found = StepResult(tool=GEOCODE.id, arguments={"city": "Lyon"}, status="ok", response=json.dumps(FOUND))
    for result, point in (found, (45.7, 4.8)), (None, (48.85, 2.35)):
        recorded = ScriptedExecutor(get_daily_forecast=LYON)
        (call,) = (await simulate_plan(plan, around(sandbox, recorded, earlier_steps=[(GEOCODE.id, result)]))).calls
        assert (call.arguments["latitude"], call.arguments["longitude"]) == point
