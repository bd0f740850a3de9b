"""What rules read in a request before they write a sentence."""

from datetime import date

import pytest

from offline.sentences.parsed_request import parse_request

VOCABULARY = frozenset({"public", "holiday", "book", "edition"})
KINDS = frozenset({"holiday", "edition", "book"})


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("Which public holidays does Caldera have in 2026?", ("holidays",)),
        ("Which book editions are there of \"Songs\"?", ("editions",)),
        ("Which of them is the oldest?", ()),
        ("Which book in the library has most pages?", ("book",)),
    ],
)  # fmt: skip
def test_which_asks_for_the_noun_at_the_end_of_its_words(request_: str, wanted: tuple[str, ...]) -> None:
    assert parse_request(request_, date(2026, 3, 2), VOCABULARY, KINDS).wanted_kinds == wanted


def test_how_many_times_asks_for_a_count_and_for_no_times() -> None:
    said = parse_request("How many times was the book lent?", date(2026, 3, 2), VOCABULARY, KINDS)
    assert said.figures == ("count",)
    assert not any("time" in unit.own_words for unit in said.units)


def test_what_compares_is_no_value() -> None:
    said = parse_request("Show me the windier of both", date(2026, 3, 2), VOCABULARY, KINDS)
    assert all("windier" not in one.text for one in said.phrases)
