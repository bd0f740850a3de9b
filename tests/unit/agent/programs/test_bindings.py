"""Where the arguments of a program's calls come from, as steps tell it."""

import json

import pytest
from pydantic.types import JsonValue

from agent.programs import argument_bindings as told
from agent.programs.argument_bindings import AnswerIndex, find_bindings
from domain.plan import StepResult
from domain.provenance import Slice, Source
from domain.tool import ToolId
from graph.lenient_json import read_value

GET = ToolId("c/t/get")
ITEMS = {"items": [{"id": 7, "on": True}, {"id": 8, "of": {"a": 1}}]}
ANSWERED = [(step, GET, StepResult(tool=GET, arguments={}, status="ok", response=json.dumps(ITEMS))) for step in (1, 2)]


def made(expression: str) -> Slice:
    return Slice(parameter="q", expression=expression, sources=(Source(kind="call", name="get", tool=GET),), words="")


@pytest.mark.parametrize(
    ("value", "place"),
    [(8, "2.items[1].id"), ("7", "2.items[0].id"), (True, "2.items[0].on"), ({"a": 1}, "2.items[1].of"), (ITEMS, "2")],
)
def test_a_value_is_told_by_the_field_that_holds_it(value: JsonValue, place: str) -> None:
    (one,) = find_bindings({"q": value}, [made("x")], ANSWERED, "", AnswerIndex(), is_plan=False)
    assert (one.origin, one.reference) == ("step", place)


def test_an_answer_is_read_once_whatever_is_looked_for_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str) -> JsonValue:
        read.append(text)
        return read_value(text)

    monkeypatch.setattr(told, "read_value", counted)
    answers = AnswerIndex()
    for value in range(50):
        (one,) = find_bindings({"q": value + 100}, [made("x + 1")], ANSWERED, "", answers, is_plan=False)
        assert one.origin == "computed"
    assert len(read) == 1
