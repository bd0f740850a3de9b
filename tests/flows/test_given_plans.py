"""Runs of a given plan: its steps and values as they stand, the rest found on the way, and resumed after each event."""

from collections import Counter
from pathlib import Path

import pytest

from agent.execution.approval import AllowChangesApprover
from agent.learning.learner import RunLearner
from agent.plans.plan_compilation import compile_plan
from agent.policy.protocol import ArgumentsQuestion, CallArguments
from agent.run import run
from agent.run_context import RunDeps
from agent.transcript import RunTranscript
from domain.event import CallFinished, CallStarted, EventRecord, PlanReady, ProgramFailed, WeightsLearned
from domain.plan import PlanDocument, PlannedStep, StepResult, Take
from domain.program import ProgramPlan
from domain.tool import ToolId
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from tests.flows.shared_sandbox import sandbox
from tests.flows.test_resuming import course, ended, told
from tests.flows.test_resuming import made as calls_told
from tests.support.run_deps import build_deps, change_deps
from tests.support.small_world import (
    BOOKS,
    FORECAST,
    FOUND,
    GEOCODE,
    NEW_WEATHER,
    REMOVE,
    TOOLS,
    WALKS,
    ScriptedExecutor,
    down,
    finder,
    graph,
    ok,
)

REQUEST = "What is the weather forecast for Paris?"
POINT = {"latitude": Take(step=1, field="results[0].latitude"), "longitude": Take(step=1, field="results[0].longitude")}
WEATHER = PlanDocument(
    steps=(PlannedStep(tool=GEOCODE.id, arguments={"city": "Lyon"}), PlannedStep(tool=NEW_WEATHER.id, takes=POINT))
)
TWO_BOOKS = ok({"books": [{"title": "Emma"}, {"title": "Dune"}]})


class Unasked(OfflinePolicy):
    """A policy that may decide on nothing but answers and scores."""

    async def fill_arguments(self, question: ArgumentsQuestion) -> CallArguments:
        raise AssertionError(question)


def weather(**other: object) -> ScriptedExecutor:
    return ScriptedExecutor(**{"search_places": FOUND, "get_daily_forecast": FORECAST, **other})  # pyright: ignore[reportArgumentType]


async def deps(folder: Path, executor: ScriptedExecutor, plan: PlanDocument | ProgramPlan, **other: object) -> RunDeps:
    made = build_deps(
        await graph(WALKS),
        await finder(folder),
        OfflinePolicy(),
        executor,
        plan=plan if isinstance(plan, ProgramPlan) else compile_plan(plan, {tool.id: tool for tool in TOOLS}),
        sandbox=sandbox(),
        approver=AllowChangesApprover(),
        reader=EnglishReader(),
    )
    return change_deps(made, **other)  # pyright: ignore[reportArgumentType]


def results(records: list[EventRecord]) -> list[StepResult]:
    return [record.event.result for record in records if isinstance(record.event, CallFinished)]


async def test_the_steps_and_values_of_a_plan_stand(tmp_path: Path) -> None:
    executor = weather()
    records = await told(REQUEST, await deps(tmp_path, executor, WEATHER, policy=Unasked()))
    assert executor.made == [
        ("search_places", {"city": "Lyon"}),
        ("get_daily_forecast", {"latitude": 48.85, "longitude": 2.35}),
    ]
    assert [r.event.plan.path for r in records if isinstance(r.event, PlanReady)] == [(GEOCODE.id, NEW_WEATHER.id)]
    origins = [[(binding.origin, binding.reference) for binding in result.provenance] for result in results(records)]
    assert origins[0] == [("user", "the plan")]
    assert origins[1] == [("step", "1.results[0].latitude"), ("step", "1.results[0].longitude")]
    assert ended(records).outcome == "answered"
    assert RunTranscript.from_records(records).path == (GEOCODE.id, NEW_WEATHER.id)


async def test_what_is_left_open_is_found_on_the_way(tmp_path: Path) -> None:
    executor = weather()
    plan = PlanDocument(
        steps=(PlannedStep(tool=GEOCODE.id), PlannedStep(tool=NEW_WEATHER.id, arguments={"latitude": 1}))
    )
    records = await told(REQUEST, await deps(tmp_path, executor, plan))
    assert executor.made == [
        ("search_places", {"city": "Paris"}),
        ("get_daily_forecast", {"latitude": 1, "longitude": 2.35}),
    ]
    assert ended(records).outcome == "answered"


async def test_the_item_that_the_request_names_is_taken(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_books=TWO_BOOKS, delete_book=ok({}))
    take = {"title": Take(step=1, field="books[].title")}
    plan = PlanDocument(
        steps=(PlannedStep(tool=BOOKS.id, arguments={"title": "e"}), PlannedStep(tool=REMOVE.id, takes=take))
    )
    records = await told('Delete the book "Dune"', await deps(tmp_path, executor, plan))
    assert executor.made[1] == ("delete_book", {"title": "Dune"})
    assert results(records)[1].provenance[0].reference == "1.books[1].title"


async def test_what_a_person_points_at_is_not_questioned_and_what_nobody_named_is(tmp_path: Path) -> None:
    for field, called in (("books[0].title", True), ("books[].title", False)):
        executor = ScriptedExecutor(search_books=TWO_BOOKS, delete_book=ok({}))
        take = {"title": Take(step=1, field=field)}
        plan = PlanDocument(
            steps=(PlannedStep(tool=BOOKS.id, arguments={"title": "e"}), PlannedStep(tool=REMOVE.id, takes=take))
        )
        await told("Delete a book", await deps(tmp_path / field, executor, plan))
        assert (("delete_book", {"title": "Emma"}) in executor.made) is called, field


async def test_a_step_that_fails_is_not_gone_around(tmp_path: Path) -> None:
    executor = weather(get_daily_forecast=down, get_forecast=FORECAST)
    records = await told(REQUEST, await deps(tmp_path, executor, WEATHER))
    assert [api for api, _ in executor.made] == ["search_places", "get_daily_forecast"]
    assert ended(records).outcome == "gave_up"
    assert "HTTP 503" in ended(records).answer


@pytest.mark.parametrize(
    ("field", "error"),
    [("results[7].latitude", "IndexError"), ("results[].altitude", "KeyError"), ("nowhere", "KeyError")],
)
async def test_a_place_with_nothing_in_it_is_named(tmp_path: Path, field: str, error: str) -> None:
    executor = weather()
    takes = POINT | {"latitude": Take(step=1, field=field)}
    plan = PlanDocument(steps=(WEATHER.steps[0], PlannedStep(tool=NEW_WEATHER.id, takes=takes)))
    records = await told(REQUEST, await deps(tmp_path, executor, plan))
    assert len(executor.made) == 1
    failed = next(record.event for record in records if isinstance(record.event, ProgramFailed))
    assert failed.line > 1
    assert "for the call of get_daily_forecast in line 2" in failed.error
    assert error in failed.error
    assert (ended(records).outcome, failed.error.split(":")[0] in ended(records).answer) == ("gave_up", True)


async def test_a_tool_that_is_not_there_ends_the_run_before_any_call(tmp_path: Path) -> None:
    for steps in ((WEATHER.steps[0], PlannedStep(tool=ToolId("no/such/tool"))), ()):
        executor = weather()
        records = await told(REQUEST, await deps(tmp_path, executor, PlanDocument(steps=steps)))
        assert (ended(records).outcome, executor.made) == ("failed", [])
        assert ended(records).error.startswith("usage: ")


async def test_the_same_tool_may_be_called_twice(tmp_path: Path) -> None:
    executor = weather()
    steps = tuple(PlannedStep(tool=GEOCODE.id, arguments={"city": city}) for city in ("Lyon", "Nice"))
    records = await told(REQUEST, await deps(tmp_path, executor, PlanDocument(steps=steps)))
    assert [arguments for _, arguments in executor.made] == [{"city": "Lyon"}, {"city": "Nice"}]
    assert ended(records).outcome == "answered"


async def test_a_value_that_does_not_fit_is_said_and_not_replaced(tmp_path: Path) -> None:
    executor = weather()
    step = PlannedStep(tool=NEW_WEATHER.id, arguments={"latitude": "north", "longitude": 2})
    records = await told(REQUEST, await deps(tmp_path, executor, PlanDocument(steps=(step,))))
    assert executor.made == []
    assert "latitude must be of type number" in results(records)[0].note


async def test_a_run_of_a_given_plan_goes_on_after_each_of_its_events(tmp_path: Path) -> None:
    whole = await told(REQUEST, await deps(tmp_path, weather(), WEATHER))
    for cut in range(1, len(whole)):
        before = await told(REQUEST, await deps(tmp_path, weather(), WEATHER), until=cut)
        finished = Counter(calls_told(before))
        again = weather()
        records = await told(REQUEST, await deps(tmp_path, again, WEATHER), past=before)
        assert records[:cut] == before
        assert course(records) == course(whole), cut
        assert ended(records).answer == ended(whole).answer
        assert not {(tool, str(arguments)) for tool, arguments in again.made} & set(finished), cut


async def test_a_change_of_a_given_plan_is_not_made_twice(tmp_path: Path) -> None:
    plan = PlanDocument(steps=(PlannedStep(tool=REMOVE.id, arguments={"title": "Dune"}),))

    def executor() -> ScriptedExecutor:
        return ScriptedExecutor(delete_book=ok({}))

    whole = await told("Tidy up", await deps(tmp_path, executor(), plan))
    begun = next(record.seq for record in whole if isinstance(record.event, CallStarted))
    before = await told("Tidy up", await deps(tmp_path, executor(), plan), until=begun)
    again = executor()
    records = await told("Tidy up", await deps(tmp_path, again, plan), past=before)
    assert (again.made, results(records)[0].status) == ([], "unknown")


async def test_a_given_plan_teaches_like_another(tmp_path: Path) -> None:
    given = await deps(tmp_path, weather(), WEATHER)
    learning = change_deps(given, learner=RunLearner(given.knowledge.store))
    records = [record async for record in run(REQUEST, learning)]
    learned = next(record.event for record in records if isinstance(record.event, WeightsLearned))
    assert not learned.error
    walked = {(edge.source, edge.target) for edge in learned.transitions}
    assert (GEOCODE.id, NEW_WEATHER.id) in walked
    assert {one.tool for one in learned.tools} == {GEOCODE.id, NEW_WEATHER.id}
