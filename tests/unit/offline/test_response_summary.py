"""The currency beside a number, and the value that a request asks for."""

from offline.nlp.asked_words import asked_words
from offline.response_summary import view


def test_a_currency_stands_beside_its_amount() -> None:
    told = view('{"amount": 5, "from_currency": "VDK"}', asked_words("the amount"))
    assert told.lines == ("amount: 5; from currency: VDK",)
