from datetime import UTC, datetime

from agent.execution.call_cache import CachingExecutor
from agent.execution.executor import CallResult
from agent.transcript import RunTranscript
from domain.event import CallFinished, Event, EventRecord, PathEnded, PlanReady, RunFinished, RunStarted
from domain.model import JsonObject
from domain.plan import Plan, StepResult
from domain.tool import ToolDoc
from domain.usage import Usage
from tests.support.small_world import GEOCODE, NEW_WEATHER, OLD_WEATHER


def records(*events: Event) -> list[EventRecord]:
    return [EventRecord(run="r", seq=n, at=datetime.now(UTC), event=event) for n, event in enumerate(events, start=1)]


def test_a_run_with_a_detour_becomes_its_last_plan_and_its_failures() -> None:
    found = StepResult(tool=GEOCODE.id, status="ok", response="{}", attempts=1)
    failed = StepResult(tool=OLD_WEATHER.id, status="failed", attempts=3)
    told = StepResult(tool=NEW_WEATHER.id, status="ok", response="{}", attempts=1)
    transcript = RunTranscript.from_records(
        records(
            RunStarted(request="weather?", planner="dfs", policy="offline"),
            PlanReady(plan=Plan(path=(GEOCODE.id, OLD_WEATHER.id), complete=True)),
            CallFinished(step=1, result=found),
            CallFinished(step=2, result=failed),
            PlanReady(plan=Plan(path=(GEOCODE.id, NEW_WEATHER.id), complete=True)),
            CallFinished(step=2, result=told),
            RunFinished(outcome="answered", answer="4.5", usage=Usage(considered=9, backtracks=1)),
        )
    )
    printed = transcript.to_json()
    assert set(printed) == {
        "answer", "outcome", "subtasks", "considered", "backtracks", "model_calls", "tokens", "seconds",
    }  # fmt: skip
    [subtask] = printed["subtasks"]  # type: ignore[misc]
    assert subtask["path"] == [GEOCODE.id, NEW_WEATHER.id]  # type: ignore[index, call-overload]
    steps = [(step["tool"], step["status"]) for step in subtask["steps"]]  # type: ignore[index, call-overload, union-attr]
    assert steps == [(GEOCODE.id, "ok"), (NEW_WEATHER.id, "ok"), (OLD_WEATHER.id, "failed")]


def test_giving_up_keeps_the_failures_alone() -> None:
    failed = StepResult(tool=OLD_WEATHER.id, status="failed")
    transcript = RunTranscript.from_records(
        records(
            PlanReady(plan=Plan(path=(OLD_WEATHER.id,), complete=True)),
            CallFinished(step=1, result=failed),
            PathEnded(path=(), how="gave_up", reason="nothing left"),
        )
    )
    assert transcript.path == ()
    assert transcript.failed_steps == [failed]


async def test_an_identical_call_is_made_once_whatever_the_order_of_its_arguments() -> None:
    made: list[JsonObject] = []

    class Counting:
        name = "counting"

        async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
            made.append(arguments)
            return CallResult("ok", str(len(made)))

        async def close(self) -> None:
            made.clear()

    executor = CachingExecutor(Counting())
    first = await executor.call(GEOCODE, {"a": 1, "b": 2})
    again = await executor.call(GEOCODE, {"b": 2, "a": 1})
    other = await executor.call(GEOCODE, {"a": 1})
    assert (first.body, again.body, other.body) == ("1", "1", "2")
    assert (again.attempts, again.seconds) == (0, 0.0)
    assert "same call" in again.note
    assert executor.name == "counting"
    await executor.close()
    assert made == []
