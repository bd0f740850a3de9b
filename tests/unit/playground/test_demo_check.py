"""The demo's judge: right answers pass, and each way of being wrong is told."""

from dataclasses import replace

import pytest

from domain.event import CallFinished, Event, RunFinished, RunOutcome, StepBacktracked
from domain.plan import StepResult, StepStatus
from domain.tool import ToolId, make_tool_id
from domain.usage import Usage
from playground.demo_check import MAX_ANSWER, judge, numbers_in
from playground.demo_requests import DemoRequest, demo_requests
from playground.worlds.geography import city_named
from playground.worlds.library import books
from playground.worlds.weather import current

REQUEST = DemoRequest("How warm?", ("a", "b"), numbers=(7.3, -2.0), texts=("Fog",), tolerance=0.05)


def finished(answer: str, outcome: RunOutcome = "answered") -> RunFinished:
    return RunFinished(outcome=outcome, answer=answer, usage=Usage())


def called(api: str, status: StepStatus) -> CallFinished:
    return CallFinished(step=1, result=StepResult(tool=the(api), status=status))


def the(api: str) -> ToolId:
    return make_tool_id("Weather", "Meteo Classic", api)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("7.3 and -2, 1,234,567.", [7.3, -2, 1234567]),
        ("temperature: 7.34;days=3", [7.34, 3]),
        ("plc_8bac227e PM2.5 v1", []),
        ("2026-05-06 [3]", [2026, 5, 6]),
        ("", []),
    ],
)
def test_numbers_of_a_text(text: str, numbers: list[float]) -> None:
    assert numbers_in(text) == numbers


@pytest.mark.parametrize("answer", ["7.3 °C, then -2; FOG", "fog: 7.26 -2.04"])
def test_right_answers(answer: str) -> None:
    verdict = judge(REQUEST, [called("a", "ok"), called("b", "ok"), finished(answer)])
    assert (verdict.right, verdict.calls, verdict.answer) == (True, ("a", "b"), answer)


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ([finished("7.4 -2 fog")], "7.3 is not"),
        ([finished("17.3 -2 fog")], "7.3 is not"),
        ([finished("7.3 2 fog")], "-2 is not"),
        ([finished("7.3 -2 clear")], "Fog is not"),
        ([finished("7.3 -2 fog", "gave_up")], "gave_up"),
        ([finished("7.3 -2 fog" + " " * MAX_ANSWER)], "too many"),
        ([], "without an answer"),
    ],
)
def test_wrong_answers(events: list[Event], problem: str) -> None:
    verdict = judge(REQUEST, events)
    assert not verdict.right
    assert problem in verdict.problem


def test_the_way_does_not_decide_whether_an_answer_is_right() -> None:
    request = replace(REQUEST, fails="old")
    straight: list[Event] = [called("new", "ok"), finished("7.3 -2 fog")]
    direct = judge(request, straight)
    assert (direct.right, direct.unmet) == (True, "old")
    back = StepBacktracked(dropped=the("old"), path=(), reason="503", phase="execute")
    around = judge(request, [called("old", "failed"), back, *straight])
    assert (around.right, around.unmet) == (True, "")
    assert (around.around, around.calls) == (("old",), ("new",))


def test_expected_values_are_the_worlds_own() -> None:
    temperature, email, money, birthplace, forecast = demo_requests()
    city = city_named("Tarnholm")
    assert city is not None
    assert temperature.numbers == (current(city.latitude, city.longitude).temperature,)
    assert email.texts[0].endswith(".example")
    assert money.numbers == (293.03,)
    book = next(book for book in books() if book.title in birthplace.request)
    assert birthplace.numbers == (book.author.birth_city.population,)
    assert len(forecast.numbers) == 3
    assert all(2 <= len(request.calls) <= 4 for request in demo_requests())
