"""Which of the written documents may serve as negatives, and which requests as requests."""

from retriever.training.synthetic_requests import WrittenRequests, build_request_task, select_usable
from retriever.training.written_negatives import (
    WrittenDocument,
    WrittenDocuments,
    WrittenNegative,
    build_negatives_task,
    select_distinct,
    to_tool_doc,
)
from tests.support.small_catalogue import document

RAIN, WIND = document("sky", "rain"), document("sky", "wind")
GAUGES = WrittenDocument(api="gauges", description="List the rain gauges of a city", parameters=("city",))


def apis(*written: WrittenDocument) -> list[str]:
    return [one.api for one in select_distinct(written, [RAIN, WIND])]


def test_what_is_as_good_as_one_that_solved_it_is_dropped() -> None:
    paraphrase = WrittenDocument(api="rain-of", description="Get, of a city, the RAIN forecast!")
    by_name = WrittenDocument(api="Wind", description="Draw a map of all storms on earth")
    assert apis(GAUGES, paraphrase, by_name) == ["gauges"]


def test_of_two_alike_one_is_kept() -> None:
    again = WrittenDocument(api="gauges_list", description="List of the rain gauges of a city")
    assert apis(GAUGES, again) == ["gauges"]
    assert apis(again, GAUGES) == ["gauges_list"]


def test_a_written_document_stands_in_the_tool_set_of_what_solved_it() -> None:
    made = to_tool_doc(WrittenNegative(request="r", tool=RAIN.id, **GAUGES.model_dump()), RAIN)
    assert (made.toolset, made.category, made.api) == ("sky", "c", "gauges")
    assert [parameter.name for parameter in made.parameters] == ["city"]


def test_fewer_documents_than_asked_for_are_complained_about() -> None:
    task = build_negatives_task("will it rain", RAIN, 2)
    assert "2 documents" in task.check(WrittenDocuments(documents=(GAUGES,)))
    assert task.check(WrittenDocuments(documents=(GAUGES, GAUGES))) == ""
    assert "Write 2 documents" in task.system
    assert "will it rain" in task.user


def test_requests_are_told_once_and_in_one_line() -> None:
    written = WrittenRequests(requests=("Will it\nrain today?", "Will it rain today?", "rain", "x " * 200))
    assert select_usable(written) == ["Will it rain today?"]
    task = build_request_task(RAIN, 2)
    assert task.check(written)
    assert task.check(WrittenRequests(requests=("Will it rain?", "Do I need a coat?"))) == ""
