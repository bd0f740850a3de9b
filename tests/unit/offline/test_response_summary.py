"""The currency beside a number, the value that a request asks for, and a list of which there is nothing."""

import json

import pytest
from pydantic.types import JsonValue

from offline.nlp.asked_words import find_asked_words
from offline.response_summary import summarize_response


def test_a_currency_stands_beside_its_amount() -> None:
    told = summarize_response('{"amount": 5, "from_currency": "VDK"}', find_asked_words("the amount"))
    assert told.lines == ("amount: 5; from currency: VDK",)


@pytest.mark.parametrize(
    ("request_", "response", "sentences"),
    [
        ("Which berths are free in Brest?", {"harbour": "Brest", "berths": []}, ("No berths were found.",)),
        ("Which berths are free in Brest?", {"data": {"freeBerths": []}}, ("No free berths were found.",)),
        ("Where can a ship moor in Brest?", {"harbour": "Brest", "berths": []}, ("No berths were found.",)),
        ("On which days is berth 2 taken?", {"berth": 2, "taken": []}, ("Nothing was found under “taken”.",)),
        ("anything", {"count": 0, "results": []}, ("No results were found.",)),
        ("anything", [], ("Nothing was found.",)),
        ("the temperature in Brest", {"temperature": 7, "alerts": []}, ()),
        ("the berths of Brest", {"harbour": "Brest", "berths": [{"number": 1}]}, ()),
    ],
)
def test_an_empty_list_that_is_waited_for_is_told_in_a_sentence(
    request_: str, response: JsonValue, sentences: tuple[str, ...]
) -> None:
    assert summarize_response(json.dumps(response), find_asked_words(request_)).empty_list_notes == sentences
