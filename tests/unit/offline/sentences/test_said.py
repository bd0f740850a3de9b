"""What rules read in a request before they write a sentence."""

from datetime import date

import pytest

from offline.sentences.said import said_in

VOCABULARY = frozenset({"public", "holiday", "book", "edition"})
KINDS = frozenset({"holiday", "edition", "book"})


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("Which public holidays does Caldera have in 2026?", ("holidays",)),
        ("Which book editions are there of \"Songs\"?", ("editions",)),
        ("Which of them is the oldest?", ()),
    ],
)  # fmt: skip
def test_which_asks_for_the_noun_at_the_end_of_its_words(request_: str, wanted: tuple[str, ...]) -> None:
    assert said_in(request_, date(2026, 3, 2), VOCABULARY, KINDS).wanted == wanted
