import pytest

from domain.event import Event
from evaluation.correctness import MAX_ANSWER, judge
from evaluation.evaluation_cases import EvaluationCase
from tests.unit.evaluation.asking import asked, call, end, right_run


def test_the_value_in_the_answer_and_in_a_response_is_right() -> None:
    verdict = judge(asked(), right_run())
    assert verdict.right
    assert verdict.path == ("weather",)
    assert verdict.usage.model_calls == 2


def test_the_day_of_a_moment_in_a_response_is_right() -> None:
    due = asked(dates=["2026-06-24"])
    assert judge(due, [call("weather", '{"at": "2026-06-24T12:00:00"}'), end("Am 24. Juni 2026.")]).right
    other = judge(due, [call("weather", '{"at": "2026-06-25T12:00:00"}'), end("Am 24. Juni 2026.")])
    assert other.cause == "value not from a response"


def test_within_the_tolerance_only() -> None:
    assert judge(asked(), [call("weather", '{"t": 9.6}'), end("It is 9.64 °C.")]).right
    assert judge(asked(), [call("weather", '{"t": 9.6}'), end("It is 9.7 °C.")]).cause == "answer lacks value"
    exact = asked(numbers=[9.6])
    assert judge(exact, [call("weather", '{"t": 9.6}'), end("It is 9.64 °C.")]).cause == "answer lacks value"


def test_a_number_is_not_a_part_of_another_one() -> None:
    assert judge(asked(numbers=[44]), [call("weather", '{"d": 44}'), end("144 days")]).cause == "answer lacks value"


def test_any_of_the_ways_to_write_a_text() -> None:
    wanted = asked(texts=[["2026-06-04T00:20", "00:20"]])
    assert judge(wanted, [call("weather", '{"local": "2026-06-04T00:20"}'), end("At 00:20 there.")]).right
    assert judge(wanted, [call("weather", '{"local": "2026-06-04T00:20"}'), end("At 00:21.")]).cause is not None


def test_every_value_is_needed() -> None:
    both = asked(numbers=[1, 2], texts=["fog"])
    response = call("weather", '{"a": 1, "b": 2, "c": "fog"}')
    assert judge(both, [response, end("1 and 2 with fog")]).right
    verdict = judge(both, [response, end("1 with fog")])
    assert (verdict.cause, verdict.detail) == ("answer lacks value", "2")


@pytest.mark.parametrize(
    "calls",
    [
        [],
        [call("weather", '{"t": 3.1}')],
        [call("weather", '{"t": 9.6}', status="failed")],
        [call("weather", '{"t": 9.6}', status="unknown")],
    ],
)
def test_a_right_number_that_no_successful_call_gave_is_wrong(calls: list[Event]) -> None:
    assert judge(asked(), [*calls, end("It is 9.6 °C.")]).cause == "value not from a response"


@pytest.mark.parametrize(
    ("events", "cause"),
    [
        ([], "run failed"),
        ([end("", "failed", "internal: x")], "run failed"),
        ([end("", "cancelled")], "run failed"),
        ([end("", "budget")], "budget"),
        ([end("", "gave_up")], "gave up"),
        ([call("weather", '{"t": 9.6}'), end("It is 9.6.", "gave_up")], "gave up"),
        ([call("weather", status="missing", note="no city"), end("", "gave_up")], "argument missing"),
        ([call("weather", status="failed", note="HTTP 503"), end("", "gave_up")], "failed call"),
        ([call("news", '{"t": 3}'), end("3")], "wrong tool first"),
        ([call("places", '{"t": 3}'), end("3")], "not called"),
        ([call("places", "{}"), call("weather", '{"t": 3}'), end("3")], "wrong value"),
        ([call("places", "{}"), call("weather", '{"t": 9.6}'), end("warm")], "answer lacks value"),
        ([call("weather", '{"t": 9.6}'), end("9.6 " + "x" * MAX_ANSWER)], "answer too long"),
    ],
)
def test_the_cause_of_a_wrong_answer(events: list[Event], cause: str) -> None:
    assert judge(asked("places", "weather"), events).cause == cause


def test_another_tool_may_give_the_value() -> None:
    """Several tools may do the same job: the calls given with a request are one way, not the only one."""
    assert judge(asked("weather"), [call("meteo", '{"t": 9.6}'), end("9.6")]).right


def test_what_cannot_be_answered_must_not_be() -> None:
    hopeless = EvaluationCase(id="x", request="My wedding?", answerable=False, why="no date")
    assert judge(hopeless, [end("", "gave_up")]).right
    assert judge(hopeless, [end("", "budget")]).cause == "budget", "it has not said that it cannot be done"
    assert judge(hopeless, [end("In 3 days.")]).cause == "answered the unanswerable"
    assert judge(hopeless, [end("", "failed", "internal: x")]).cause == "run failed"
    assert judge(hopeless, []).cause == "run failed"


def test_a_change_is_made_once_and_only_if_asked_for() -> None:
    booking = EvaluationCase.model_validate(
        {**asked(texts=["TF01"]).model_dump(), "alone": True, "effects": ("reserve",)}
    )
    events: list[Event] = [call("reserve", '{"code": "TF01"}'), end("Reserved under TF01.")]
    assert judge(booking, events, ["reserve"]).right
    twice = judge(booking, events, ["reserve", "reserve"])
    assert (twice.cause, twice.detail) == ("unasked change", "reserve")
    assert judge(booking, events, ["reserve", "cancel"]).detail == "cancel"
    assert judge(asked(), right_run(), ["reserve"]).cause == "unasked change"
    hopeless = EvaluationCase(id="x", request="Book a table.", answerable=False, alone=True, why="no day")
    assert judge(hopeless, [end("", "gave_up")], ["reserve"]).cause == "unasked change"
    assert judge(hopeless, [end("", "gave_up")], []).right


def test_failed_calls_are_marked_in_the_path() -> None:
    verdict = judge(asked(), [call("meteo", status="failed"), *right_run()])
    assert verdict.path == ("meteo (failed)", "weather")
    assert verdict.right
