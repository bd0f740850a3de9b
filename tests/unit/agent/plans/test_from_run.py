"""The plan that a run has carried out, out of its events."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from agent.plans.steps_from_run import ParameterCandidate, build_steps
from domain.event import CallFinished, Event, EventRecord, PathEnded, PlanReady, RunStarted, SubtaskStarted
from domain.model import JsonObject
from domain.plan import Binding, Origin, Plan, PlanDocument, StepResult, StepStatus, Take
from domain.tool import ToolId

PATH = ("a/b/places", "a/b/weather")
PLACES = json.dumps({"results": [{"lat": 1.5, "unit": "metre"}]})


def result(
    tool: str,
    arguments: JsonObject,
    bound: Sequence[tuple[str, Origin, str]],
    response: str = "{}",
    status: StepStatus = "ok",
) -> StepResult:
    provenance = tuple(Binding(parameter=name, origin=origin, reference=place) for name, origin, place in bound)
    return StepResult(tool=ToolId(tool), arguments=arguments, provenance=provenance, status=status, response=response)


def made(*results: StepResult) -> tuple[PlanDocument, list[ParameterCandidate]]:
    path = tuple(one.tool for one in results)
    events: list[Event] = [
        RunStarted(request="?", planner="dfs", policy="offline"),
        SubtaskStarted(subtask=1, name="?", description="?"),
        PathEnded(path=path, how="finished", reason=""),
        PlanReady(plan=Plan(path=path, complete=True)),
        *(CallFinished(step=step, result=one) for step, one in enumerate(results, start=1)),
    ]
    return build_steps(
        [
            EventRecord(run="r", seq=seq, at=datetime.now(UTC), subtask=min(1, seq - 1), event=event)
            for seq, event in enumerate(events, start=1)
        ]
    )


def test_values_are_taken_offered_or_stand() -> None:
    first = result(
        PATH[0], {"city": "Oslo", "limit": 1}, [("city", "request", "Oslo"), ("limit", "default", "")], PLACES
    )
    taken: list[tuple[str, Origin, str]] = [
        ("lat", "step", "1.results[0].lat"),
        ("unit", "step", "1.results[0].lat"),
        ("key", "secret", "k"),
    ]
    second = result(PATH[1], {"lat": 1.5, "unit": "metre"}, taken)
    document, offered = made(first, second)
    assert [step.arguments for step in document.steps] == [{"city": "Oslo", "limit": 1}, {"unit": "metre"}]
    assert document.steps[1].takes == {"lat": Take(step=1, field="results[0].lat")}
    assert offered == [ParameterCandidate("city", 1, "city", "Oslo", "Oslo")]


def test_calls_that_failed_are_left_out_and_the_rest_is_counted_on() -> None:
    lost = result("a/b/lost", {}, [], status="failed")
    document, offered = made(
        lost,
        result(PATH[0], {"city": "Oslo"}, [("city", "step", "earlier.1:city")], PLACES),
        result(
            PATH[1], {"lat": "1.5", "city": "Rome"}, [("lat", "step", "2.results[0].lat"), ("city", "user", "the plan")]
        ),
    )
    assert [step.tool for step in document.steps] == list(PATH)
    assert document.steps[1].takes == {"lat": Take(step=1, field="results[0].lat")}
    assert [(one.name, one.value) for one in offered] == [("city", "Oslo"), ("city_2", "Rome")]


def test_nothing_was_called() -> None:
    assert made() == (PlanDocument(steps=()), [])


def test_values_from_the_same_words_have_one_name() -> None:
    def stay(day: str, said: str) -> StepResult:
        return result(PATH[0], {"check_in": day}, [("check_in", "request", said)])

    _, offered = made(stay("2026-05-03", "3 May"), stay("2026-05-03", "3 May"), stay("2026-05-04", "the day after"))
    assert [(one.name, one.step) for one in offered] == [("check_in", 1), ("check_in", 2), ("check_in_3", 3)]
