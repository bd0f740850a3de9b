"""What a program says of itself, and what code makes of it: it may take away, and never adds."""

import pytest
from pydantic.types import JsonValue

from agent.programs.program_verdict import (
    FinishedProgram,
    ProgramVerdict,
    is_empty_value,
    judge_claim,
    parse_claim,
    render_answer_value,
)
from agent.request_reader import RequestReview
from domain.plan import StepResult, StepStatus
from domain.tool import ToolDoc
from tests.support.small_world import BOOKS, REMOVE


def call(
    tool: ToolDoc, status: StepStatus = "ok", response: str = "{}", **arguments: JsonValue
) -> tuple[ToolDoc, StepResult]:
    return tool, StepResult(tool=tool.id, arguments=arguments, status=status, response=response)


READ = call(BOOKS, title="Dune")
YES = parse_claim("412 pages")
PARTLY = parse_claim({"answered": "partly", "answer": "x"})


@pytest.mark.parametrize(
    ("value", "answered", "answer"),
    [
        ("412 pages", "yes", "412 pages"),
        (412, "yes", "412"),
        (["Dune", "Emma"], "yes", "Dune, Emma"),
        ([{"title": "Dune", "pages": 412}], "yes", "title: Dune, pages: 412"),
        ({"title": "Dune"}, "yes", "title: Dune"),
        ({"answered": "No", "answer": None}, "no", ""),
        ({"answered": True, "answer": 4.0}, "yes", "4"),
        ({"answered": "mostly", "answer": "x"}, "partly", "x"),
    ],
)
def test_the_last_value_is_a_claim(value: JsonValue, answered: str, answer: str) -> None:
    claim = parse_claim(value)
    assert (claim.answered, claim.answer) == (answered, answer)


@pytest.mark.parametrize("value", [None, "", "  ", "None", "null", "[]", "Unknown.", [], {}, [None], {"a": ""}])
def test_some_values_are_nothing(value: JsonValue) -> None:
    assert is_empty_value(value)


@pytest.mark.parametrize(
    "value", [0, False, "0", "no", "None of them is cheaper", ["", "x", {"count": 1}, [{"title": "Dune"}]]]
)
def test_others_are_not(value: JsonValue) -> None:
    assert not is_empty_value(value)


@pytest.mark.parametrize(
    ("ran", "verdict"),
    [
        (FinishedProgram("1", (READ,)), "yes"),
        (FinishedProgram("1"), "no"),
        (FinishedProgram("1", (call(BOOKS, "failed"),)), "no"),
        (FinishedProgram("1", earlier_calls=(READ,)), "yes"),
        (FinishedProgram("1", may_answer_without_calls=True), "yes"),
        (FinishedProgram("1", (READ, call(REMOVE, "failed"))), "no"),
        (FinishedProgram("1", (call(REMOVE, title="a"), call(REMOVE, "failed", title="b"))), "partly"),
        (FinishedProgram("1", (call(REMOVE, "failed", title="b"), call(REMOVE, title="b"))), "yes"),
        (FinishedProgram("1", (call(REMOVE, "failed", title="b"), call(REMOVE, title="a"))), "yes"),
        (FinishedProgram("1", (call(REMOVE, "unknown", title="b"), call(REMOVE, title="a"))), "partly"),
        (
            FinishedProgram("1", (call(REMOVE, title="a"), call(REMOVE, "failed", title="b"), call(REMOVE, title="c"))),
            "partly",
        ),
        (FinishedProgram("1", (call(REMOVE, "unknown"), READ)), "no"),
        (FinishedProgram("1", (READ,), (call(REMOVE, "failed"),)), "yes"),
        (FinishedProgram("1", (READ,), unreached=["delete_book"]), "yes"),
        (FinishedProgram("1", (READ, call(BOOKS, "failed", title="Emma")), unreached=["delete_book"]), "partly"),
        (FinishedProgram("1", (READ,), review=RequestReview(unused_values=("Emma",))), "partly"),
        (FinishedProgram("'emma'", (READ,), review=RequestReview(unused_values=("Emma",))), "yes"),
        (FinishedProgram("1", (READ,), review=RequestReview(mismatches=("it was about Emma",))), "partly"),
    ],
)
def test_a_yes_is_what_its_calls_make_of_it(ran: FinishedProgram, verdict: str) -> None:
    found = judge_claim(YES, ran)
    assert found.answered == verdict
    assert bool(found.veto) == (verdict != "yes")


def test_a_no_stays_one() -> None:
    assert judge_claim(parse_claim({"answered": "no", "answer": "x"}), FinishedProgram("1", (READ,))).answered == "no"
    assert judge_claim(PARTLY, FinishedProgram("1", (READ,))).answered == "partly"


def test_a_part_that_was_read_stays_one_where_the_change_failed() -> None:
    assert judge_claim(PARTLY, FinishedProgram("1", (READ, call(REMOVE, "failed")))) == ProgramVerdict(PARTLY, "partly")
    assert judge_claim(PARTLY, FinishedProgram("1", (call(REMOVE, "failed"),))).answered == "no"


def test_a_change_may_answer_nothing() -> None:
    nothing, gone = parse_claim(None), call(REMOVE, response="")
    assert judge_claim(nothing, FinishedProgram("1", (gone,))).answered == "yes"
    assert judge_claim(nothing, FinishedProgram("1", (gone, READ))).answered == "no"
    assert judge_claim(nothing, FinishedProgram("1", (gone, call(REMOVE, "failed", title="a")))).answered == "no"


def test_a_value_that_is_not_there_is_seen_in_a_text() -> None:
    said = parse_claim("Dune has None pages")
    assert judge_claim(said, FinishedProgram("f'{title} has {pages} pages'", (READ,))).answered == "partly"
    assert judge_claim(said, FinishedProgram("'None'", (READ,))).answered == "yes"
    assert (
        judge_claim(
            said, FinishedProgram("1", (call(BOOKS, response='{"title": "And Then There Were None"}'),))
        ).answered
        == "yes"
    )


def test_long_answers_are_cut() -> None:
    assert len(render_answer_value("x" * 20_000)) == 16_000
