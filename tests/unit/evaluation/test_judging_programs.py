"""Answers that a program worked out, changes that it made, and what it says it cannot do."""

from typing import Any

import pytest

from domain.event import Event, ProgramFailed, ProgramLooked, ProgramRefused, RunOutcome
from evaluation.correctness import compare_changes, judge
from evaluation.evaluation_cases import EvaluationCase, ServiceChange
from tests.unit.evaluation.asking import call, end

CREWS = [call("crew", '[{"name": "Ada"}, {"name": "Bo"}, {"name": "Cy"}]')]


def asked(**more: Any) -> EvaluationCase:
    expect = {"numbers": [3], "computed": True, "evidence": ["Ada", "Bo", "Cy"]}
    return EvaluationCase.model_validate({"id": "a", "request": "How many?", "program": "{}", "expect": expect, **more})


def test_a_count_needs_what_was_counted_and_no_response_that_holds_it() -> None:
    assert judge(asked(), [*CREWS, end("There are three.")]).right
    assert judge(asked(), [*CREWS, end("There are 4.")]).cause == "answer lacks value"
    guessed = judge(asked(), [call("crew", '[{"name": "Ada"}]'), end("There are 3.")])
    assert (guessed.cause, guessed.detail) == ("value not from a response", "Bo, Cy")


@pytest.mark.parametrize(
    ("partly", "outcome", "right"), [(True, "partly", True), (True, "answered", False), (False, "partly", False)]
)
def test_the_outcome_says_how_much_is_served(partly: bool, outcome: RunOutcome, right: bool) -> None:
    assert judge(asked(partly=partly), [*CREWS, end("3", outcome)]).right is right


@pytest.mark.parametrize(
    ("answer", "invented"),
    [("It is 41.", ["41"]), ("Of 3 people none is known to own a boat.", []), ("Since 1999, they say.", [])],
)
def test_of_the_unanswerable_nothing_may_be_invented(answer: str, invented: list[str]) -> None:
    hopeless = EvaluationCase(id="x", request="How many owned a boat in 1999?", answerable=False, why="no boats")
    verdict = judge(hopeless, [*CREWS, end(answer, "partly")])
    assert verdict.right is not bool(invented)
    assert verdict.detail == ", ".join(invented)
    assert judge(hopeless, [*CREWS, end("I have tried 12 tools.", "gave_up")]).right


WANTED = {"operation": "note", "arguments": {"text": "Feed the cat", "at": "2026-05-08T16:00:00"}}


def changed(*made: dict[str, Any]) -> str | None:
    order = asked(expect={}, changes=[WANTED, {"operation": "tick", "arguments": {"id": "t1"}}], alone=True)
    return judge(order, [end("Done.")], changes=[ServiceChange.model_validate(one) for one in made]).cause


def test_changes_are_judged_with_their_arguments() -> None:
    tick = {"operation": "tick", "arguments": {"id": "t1"}}
    written = {"operation": "note", "arguments": {"text": "feed the cat.", "at": "2026-05-08T16:00", "colour": "red"}}
    assert changed(tick, written) is None, "in any order; what is not named is free"
    assert changed(tick) == "wrong change"
    assert changed(tick, written, written) == "unasked change"
    assert changed(written, {"operation": "tick", "arguments": {"id": "t2"}}) == "unasked change"


def test_a_change_of_which_little_matters_takes_none_that_another_needs() -> None:
    vague, exact = ServiceChange(operation="note"), ServiceChange(operation="note", arguments={"text": "Feed the cat"})
    other = ServiceChange(operation="note", arguments={"text": "Water the plants"})
    assert compare_changes([vague, exact], [exact, other]) == ([], [])


def test_whoever_was_asked_to_read_must_not_change() -> None:
    assert judge(asked(), [*CREWS, end("3")], changes=[ServiceChange(operation="tick")]).cause == "unasked change"


def test_repairs_and_looks_are_counted() -> None:
    events: list[Event] = [
        ProgramRefused(text="x", complaints=("no",)), ProgramFailed(number=1, error="KeyError"), ProgramLooked(number=2, shown="{}"),
    ]  # fmt: skip
    verdict = judge(asked(), [*events, *CREWS, end("3")])
    assert (verdict.repairs, verdict.looks) == (2, 1)
