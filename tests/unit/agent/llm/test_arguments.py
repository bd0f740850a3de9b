"""Arguments from a model: what it reads in the request is its own, what it takes from a step is what stands there."""

import pytest
from pydantic.types import JsonValue

from agent.llm.arguments import ArgumentsAnswer, Bound, check_arguments, to_call_arguments
from agent.policy.protocol import ArgumentsQuestion
from domain.plan import StepResult
from domain.tool import Parameter, ToolDoc
from tests.support.small_world import GEOCODE

REQUEST = "Book a table for four at Salt & Sorrel tomorrow, for an hour and a half."
RESPONSE = (
    '{"results": [{"id": 17, "name": "Hotel Astoria", "open": true, "no": null}, {"id": 18, "tags": ["a", "b"]}]}'
)
EARLIER = (
    (GEOCODE, StepResult(tool=GEOCODE.id, status="ok", response=RESPONSE)),
    (GEOCODE, StepResult(tool=GEOCODE.id, status="failed", response=RESPONSE)),
)


def question(parameter: dict[str, object], tool: ToolDoc = GEOCODE) -> ArgumentsQuestion:
    asked = Parameter.model_validate({"name": "thing", "required": True, **parameter})
    return ArgumentsQuestion(REQUEST, tool.model_copy(update={"parameters": (asked,)}), EARLIER)


def answer(value: JsonValue, origin: str, reference: str, name: str = "thing") -> ArgumentsAnswer:
    bound = Bound.model_validate({"parameter": name, "value": value, "origin": origin, "reference": reference})
    return ArgumentsAnswer(bindings=[bound])


def wrong(value: JsonValue, origin: str, reference: str, **parameter: object) -> str:
    name = str(parameter.get("name", "thing"))
    return check_arguments(answer(value, origin, reference, name), question(parameter))


def sent(value: JsonValue, origin: str, reference: str, **parameter: object) -> JsonValue:
    name = str(parameter.get("name", "thing"))
    found = to_call_arguments(answer(value, origin, reference, name), question(parameter))
    return found.values.get(name)


@pytest.mark.parametrize(
    ("value", "words", "parameter", "goes_out"),
    [
        (7, "July", {"type": "integer", "name": "month"}, 7),
        (90, "an hour and a half", {"type": "integer", "name": "minutes"}, 90),
        ("AAPL", "Apple", {"name": "symbol"}, "AAPL"),
        ("2026-03-02", "tomorrow", {"name": "date", "format": "date"}, "2026-03-02"),
        ("2026-03-02", "morgen", {"name": "date", "format": "date"}, "2026-03-02"),
        ("4", "四位", {"type": "integer", "name": "guests"}, 4),
        ("Hotel", "the first word of the hotel's name", {}, "Hotel"),
        ('["New York", "France"]', "both", {"type": "array"}, ["New York", "France"]),
    ],
)
def test_what_the_model_reads_in_the_request_is_its_own(
    value: JsonValue, words: str, parameter: dict[str, object], goes_out: JsonValue
) -> None:
    assert wrong(value, "request", words, **parameter) == ""
    assert sent(value, "request", words, **parameter) == goes_out


@pytest.mark.parametrize(
    ("value", "place", "parameter", "goes_out"),
    [
        (17, "1.results[0].id", {"type": "integer"}, 17),
        ("17", "1.results[0].id", {}, "17"),
        (17, "step 1.results[0].id", {"type": "integer"}, 17),
        ("", "1.results[0].name", {}, "Hotel Astoria"),
        (18, "1.results[].id", {"type": "integer"}, 18),
        ([17, 18], "1.results[].id", {"type": "array"}, [17, 18]),
        ("[18]", "1.results[*].id", {"type": "array"}, [18]),
        ("", "1.results[].id", {"type": "array"}, [17, 18]),
        (["a", "b"], "1.results[1].tags", {"type": "array"}, ["a", "b"]),
        (True, "[1] $.results[0].open", {"type": "boolean"}, True),
    ],
)
def test_what_stands_at_a_step_s_place_is_sent(
    value: JsonValue, place: str, parameter: dict[str, object], goes_out: JsonValue
) -> None:
    assert wrong(value, "step", place, **parameter) == ""
    assert sent(value, "step", place, **parameter) == goes_out


@pytest.mark.parametrize(
    ("value", "place", "told"),
    [
        (17, "1.results[9].id", "nothing at"),
        (17, "1.results[99999999999999].id", "nothing at"),
        (17, "1.nothing.id", "nothing at"),
        ("", "1.results[0].no", "nothing at"),
        (17, "2.results[0].id", "step 2 gave nothing"),
        (17, "3.results[0].id", "names no earlier step"),
        (17, "0.results[0].id", "names no earlier step"),
        (17, "results[0].id", "names no earlier step"),
        (99, "1.results[].id", "2 values stand at"),
        ("x", "0." + "[" * 5_000, "names no earlier step"),
        ("x", "1.[" + "9" * 5_000 + "]", "nothing at"),
    ],
)
def test_a_place_that_does_not_exist_is_told_back_and_nothing_sent(value: JsonValue, place: str, told: str) -> None:
    assert told in wrong(value, "step", place)
    found = to_call_arguments(answer(value, "step", place), question({}))
    assert (found.values, found.provenance, found.missing) == ({}, (), ("thing",))


def test_a_misquoted_place_is_told_back_and_what_stands_there_is_sent() -> None:
    assert "17 stands at '1.results[0].id', and not 18" in wrong(18, "step", "1.results[0].id", type="integer")
    assert sent(18, "step", "1.results[0].id", type="integer") == 17
    assert "'Hotel Astoria' stands at" in wrong("Astoria", "step", "1.results[0].name")


def test_a_default_is_the_document_s() -> None:
    assert wrong("", "default", "", type="integer", default=5) == ""
    assert sent("5", "default", "", type="integer", default=5) == 5
    assert "the default is 5, and not 6" in wrong(6, "default", "", type="integer", default=5)
    assert "no default" in wrong(6, "default", "", type="integer")
    assert sent("", "default", "", enum=["json"]) == "json"


def test_no_secret_no_stranger_and_nothing_twice() -> None:
    assert "keys and secrets are not yours" in wrong("2", "request", "2 seats", name="api_key")
    assert sent("2", "request", "2 seats", name="api_key") is None
    assert "there is no value" in wrong("", "request", "Book")
    one = answer("x", "request", "x").bindings[0]
    assert "thing is bound twice" in check_arguments(ArgumentsAnswer(bindings=[one, one]), question({}))
    assert "no such parameter; it has thing" in check_arguments(answer("x", "request", "x", "other"), question({}))
    assert "neither bound nor missing: thing" in check_arguments(ArgumentsAnswer(bindings=[]), question({}))


def test_provenance_is_told_as_the_model_gave_it() -> None:
    told = [to_call_arguments(answer(17, *origin), question({"default": 17})).provenance[0] for origin in
            (("request", " tomorrow "), ("step", "step 1: results[0].id"), ("default", "whatever"))]  # fmt: skip
    assert [(one.origin, one.reference) for one in told] == [
        ("request", "tomorrow"),
        ("step", "1.results[0].id"),
        ("default", "the document's default"),
    ]
