"""What a program says of itself, and what code makes of it: it may take away, and never adds."""

import pytest
from pydantic.types import JsonValue

from agent.programs.verdict import Ran, Verdict, claim_of, is_nothing, judged, told
from agent.request_reader import Review
from domain.plan import StepResult, StepStatus
from domain.tool import ToolDoc
from tests.flows.small_world import BOOKS, REMOVE


def call(
    tool: ToolDoc, status: StepStatus = "ok", response: str = "{}", **arguments: JsonValue
) -> tuple[ToolDoc, StepResult]:
    return tool, StepResult(tool=tool.id, arguments=arguments, status=status, response=response)


READ = call(BOOKS, title="Dune")
YES = claim_of("412 pages")
PARTLY = claim_of({"answered": "partly", "answer": "x"})


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
    claim = claim_of(value)
    assert (claim.answered, claim.answer) == (answered, answer)


@pytest.mark.parametrize("value", [None, "", "  ", "None", "null", "[]", "Unknown.", [], {}, [None], {"a": ""}])
def test_some_values_are_nothing(value: JsonValue) -> None:
    assert is_nothing(value)


@pytest.mark.parametrize(
    "value", [0, False, "0", "no", "None of them is cheaper", ["", "x", {"count": 1}, [{"title": "Dune"}]]]
)
def test_others_are_not(value: JsonValue) -> None:
    assert not is_nothing(value)


@pytest.mark.parametrize(
    ("ran", "verdict"),
    [
        (Ran("1", (READ,)), "yes"),
        (Ran("1"), "no"),
        (Ran("1", (call(BOOKS, "failed"),)), "no"),
        (Ran("1", before=(READ,)), "yes"),
        (Ran("1", given=True), "yes"),
        (Ran("1", (READ, call(REMOVE, "failed"))), "no"),
        (Ran("1", (call(REMOVE, title="a"), call(REMOVE, "failed", title="b"))), "partly"),
        (Ran("1", (call(REMOVE, "failed", title="b"), call(REMOVE, title="b"))), "yes"),
        (Ran("1", (call(REMOVE, "failed", title="b"), call(REMOVE, title="a"))), "yes"),
        (Ran("1", (call(REMOVE, "unknown", title="b"), call(REMOVE, title="a"))), "partly"),
        (Ran("1", (call(REMOVE, title="a"), call(REMOVE, "failed", title="b"), call(REMOVE, title="c"))), "partly"),
        (Ran("1", (call(REMOVE, "unknown"), READ)), "no"),
        (Ran("1", (READ,), (call(REMOVE, "failed"),)), "yes"),
        (Ran("1", (READ,), unreached=["delete_book"]), "yes"),
        (Ran("1", (READ, call(BOOKS, "failed", title="Emma")), unreached=["delete_book"]), "partly"),
        (Ran("1", (READ,), review=Review(unused=("Emma",))), "partly"),
        (Ran("'emma'", (READ,), review=Review(unused=("Emma",))), "yes"),
        (Ran("1", (READ,), review=Review(about_another=("it was about Emma",))), "partly"),
    ],
)
def test_a_yes_is_what_its_calls_make_of_it(ran: Ran, verdict: str) -> None:
    found = judged(YES, ran)
    assert found.answered == verdict
    assert bool(found.veto) == (verdict != "yes")


def test_a_no_stays_one() -> None:
    assert judged(claim_of({"answered": "no", "answer": "x"}), Ran("1", (READ,))).answered == "no"
    assert judged(PARTLY, Ran("1", (READ,))).answered == "partly"


def test_a_part_that_was_read_stays_one_where_the_change_failed() -> None:
    assert judged(PARTLY, Ran("1", (READ, call(REMOVE, "failed")))) == Verdict(PARTLY, "partly")
    assert judged(PARTLY, Ran("1", (call(REMOVE, "failed"),))).answered == "no"


def test_a_change_may_answer_nothing() -> None:
    nothing, gone = claim_of(None), call(REMOVE, response="")
    assert judged(nothing, Ran("1", (gone,))).answered == "yes"
    assert judged(nothing, Ran("1", (gone, READ))).answered == "no"
    assert judged(nothing, Ran("1", (gone, call(REMOVE, "failed", title="a")))).answered == "no"


def test_a_value_that_is_not_there_is_seen_in_a_text() -> None:
    said = claim_of("Dune has None pages")
    assert judged(said, Ran("f'{title} has {pages} pages'", (READ,))).answered == "partly"
    assert judged(said, Ran("'None'", (READ,))).answered == "yes"
    assert judged(said, Ran("1", (call(BOOKS, response='{"title": "And Then There Were None"}'),))).answered == "yes"


def test_long_answers_are_cut() -> None:
    assert len(told("x" * 20_000)) == 16_000
