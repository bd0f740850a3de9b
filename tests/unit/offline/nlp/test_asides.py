"""What is said beside what is asked is neither asked nor looked for."""

from datetime import date

import pytest

from offline.nlp.asides import is_wish_for_marks, without_headings, without_reasons
from offline.nlp.clauses import clauses
from offline.nlp.entities import spans


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("Three things: the weather in Oslo, and who wrote Dune?", ("the weather in Oslo", "who wrote Dune")),
        ("Tea or juice? Tell me how hot it is in Rome.", ("how hot it is in Rome",)),
        ("Flying to Peru, I need its flag, and, because I paint, the colours of its coast.", ("its flag", "the colours of its coast")),
        ('Add "Milk" to my list and put "Party" into my diary. I want both ids.', ('Add "Milk" to my list', 'put "Party" into my diary')),
        ("the price of Acme as well as the weather in Oslo", ("the price of Acme", "the weather in Oslo")),
        ("How long do I stay if I come on 2026-01-02, and in which year does Ada return?",
         ("How long do I stay if I come on 2026-01-02", "in which year does Ada return")),
    ],
)  # fmt: skip
def test_only_what_is_asked_is_a_clause(request_: str, expected: tuple[str, ...]) -> None:
    assert clauses(request_) == expected


def test_what_names_something_is_no_heading_and_what_asks_is_no_choice() -> None:
    assert without_headings("Acme Corporation: what is its price?") == "Acme Corporation: what is its price?"
    assert without_headings("Is it warm or cold? Say so.") == "Is it warm or cold? Say so."


def test_a_reason_between_commas_is_left_out_and_a_condition_is_not() -> None:
    assert without_reasons("the bill, since I pay alone, and the tip") == "the bill, and the tip"
    assert without_reasons("the bill, if I pay alone, and the tip") == "the bill, if I pay alone, and the tip"


def test_a_reason_names_nothing_that_is_looked_for() -> None:
    day = date(2026, 1, 1)
    phrases = {span.text for span in spans("Find a flat, since I work for a bank, near the harbour", day)}
    assert "harbour" in phrases
    assert "bank" not in phrases


@pytest.mark.parametrize(("part", "wish"), [("both references", True), ("the new id", True), ("the id of the book", False)])  # fmt: skip
def test_what_every_answer_tells_need_not_be_asked(part: str, wish: bool) -> None:
    assert is_wish_for_marks(part) is wish
