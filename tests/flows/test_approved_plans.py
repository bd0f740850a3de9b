"""Plans that their user approves, edits or denies before anything is called: in a small world, and resumed after each event."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from agent.execution.approval import AllowChangesApprover
from agent.plans.plan_approval import PlanApprover, PlanQuestion
from agent.plans.plan_compilation import compile_plan
from agent.run_context import RunDeps
from agent.transcript import RunTranscript
from domain.event import EventRecord, PlanReady
from domain.plan import PlanDocument, PlannedStep, Take
from domain.program import ProgramPlan
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from tests.flows.shared_sandbox import sandbox
from tests.flows.test_resuming import course, ended, told
from tests.flows.test_resuming import made as calls_told
from tests.flows.test_subtasks import BOTH, DUNE, Splitting
from tests.support.run_deps import build_deps, change_deps
from tests.support.small_world import (
    FORECAST,
    FOUND,
    GEOCODE,
    NEW_WEATHER,
    OLD_WEATHER,
    TOOLS,
    WALKS,
    ScriptedExecutor,
    finder,
    graph,
)

REQUEST = "What is the weather forecast for Paris?"
Decide = Callable[[PlanDocument], PlanDocument | None]


class Asked:
    """A user who decides by a function; ``questions`` are what was asked."""

    def __init__(self, decide: Decide) -> None:
        self.questions: list[PlanQuestion] = []
        self._decide = decide

    async def __call__(self, question: PlanQuestion) -> ProgramPlan | None:
        self.questions.append(question)
        assert question.document is not None
        decided = self._decide(question.document)
        if decided is None or decided == question.document:
            return question.program if decided else None
        return compile_plan(decided, {tool.id: tool for tool in TOOLS}, question.earlier_tools)


def as_it_is(document: PlanDocument) -> PlanDocument:
    return document


def another_tool(document: PlanDocument) -> PlanDocument:
    first, second = document.steps
    return PlanDocument(steps=(first, second.model_copy(update={"tool": NEW_WEATHER.id})))


def not_at_all(_: PlanDocument) -> None:
    return None


def world() -> ScriptedExecutor:
    return ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST, get_daily_forecast=FORECAST, search_books=DUNE)


async def deps(
    folder: Path, executor: ScriptedExecutor, approves: PlanApprover, policy: OfflinePolicy | None = None
) -> RunDeps:
    made = build_deps(
        await graph(WALKS),
        await finder(folder),
        policy or OfflinePolicy(),
        executor,
        approver=AllowChangesApprover(),
        reader=EnglishReader(),
        sandbox=sandbox(),
    )
    return change_deps(made, plan_approver=approves)


def paths(records: Sequence[EventRecord]) -> list[tuple[str, ...]]:
    return [record.event.plan.path for record in records if isinstance(record.event, PlanReady)]


async def test_a_plan_is_shown_with_what_is_known_of_its_values(tmp_path: Path) -> None:
    asked, executor = Asked(as_it_is), world()
    records = await told(REQUEST, await deps(tmp_path, executor, asked))
    (question,) = asked.questions
    takes = {name: Take(step=1, field=f"results[].{name}") for name in ("latitude", "longitude")}
    assert question.document is not None
    assert question.document.steps == (
        PlannedStep(tool=GEOCODE.id, arguments={"city": "Paris"}),
        PlannedStep(tool=OLD_WEATHER.id, takes=takes),
    )
    assert (question.subtask, question.request, question.earlier_tools) == (1, REQUEST, ())
    assert executor.made == [
        ("search_places", {"city": "Paris"}),
        ("get_forecast", {"latitude": 48.85, "longitude": 2.35}),
    ]
    assert len(paths(records)) == 1, "what is carried out as planned is told once"
    assert ended(records).outcome == "answered"


async def test_an_edited_plan_is_told_and_carried_out(tmp_path: Path) -> None:
    executor = world()
    records = await told(REQUEST, await deps(tmp_path, executor, Asked(another_tool)))
    assert paths(records) == [(GEOCODE.id, OLD_WEATHER.id), (GEOCODE.id, NEW_WEATHER.id)]
    assert [api for api, _ in executor.made] == ["search_places", "get_daily_forecast"]
    assert RunTranscript.from_records(records).path == (GEOCODE.id, NEW_WEATHER.id)
    assert ended(records).outcome == "answered"


async def test_nothing_is_called_of_a_plan_that_is_not_allowed(tmp_path: Path) -> None:
    executor = world()
    records = await told(REQUEST, await deps(tmp_path, executor, Asked(not_at_all)))
    assert executor.made == []
    assert ended(records).outcome == "gave_up"
    assert "its plan was not allowed, so nothing was called" in ended(records).answer


async def test_a_subtask_that_builds_on_another_counts_its_steps_after_what_it_was_given(tmp_path: Path) -> None:
    asked, executor = Asked(as_it_is), world()
    policy = Splitting(("Which coordinates has the city Paris?", ()), ("What is the weather forecast there?", (1,)))
    records = await told(BOTH, await deps(tmp_path, executor, asked, policy))
    assert [question.subtask for question in asked.questions] == [1, 2]
    assert asked.questions[1].earlier_tools == (GEOCODE.id,)
    second = asked.questions[1].document
    assert second is not None
    assert second.steps[0].takes["latitude"] == Take(step=1, field="results[].latitude")
    assert executor.made[1][1] == {"latitude": 48.85, "longitude": 2.35}
    assert ended(records).outcome == "answered"


@pytest.mark.parametrize("decide", [as_it_is, another_tool, not_at_all])
async def test_a_run_with_a_decided_plan_goes_on_after_each_of_its_events(tmp_path: Path, decide: Decide) -> None:
    whole = await told(REQUEST, await deps(tmp_path, world(), Asked(decide)))
    for cut in range(1, len(whole)):
        before = await told(REQUEST, await deps(tmp_path, world(), Asked(decide)), until=cut)
        finished = Counter(calls_told(before))
        again = world()
        records = await told(REQUEST, await deps(tmp_path, again, Asked(decide)), past=before)
        assert course(records) == course(whole), cut
        assert (ended(records).answer, paths(records)) == (ended(whole).answer, paths(whole))
        assert not {(tool, str(arguments)) for tool, arguments in again.made} & set(finished), cut
