"""Calls in words: what they are called, their values, the things that their ids stand for; strangers' words stay words."""

import json

import pytest
from pydantic.types import JsonValue

from agent.execution.call_wording import (
    MASK,
    build_tool_title,
    find_thing_name_at,
    format_value_for_people,
    is_named_after,
    quote_text,
    summarize_call,
)
from agent.execution.provenance import ProvenanceTracker, RunStatements
from domain.model import JsonObject
from domain.plan import StepResult
from domain.provenance import Slice, Source
from domain.tool import Parameter, ToolDoc, make_tool_id


def tool(api: str, *names: str, method: str = "POST", description: str = "", host: str = "stay.example") -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", host, api), category="c", toolset=host, api=api, function=api, method=method,
        url=f"https://{host}/x", description=description, parameters=tuple(Parameter(name=name) for name in names),
    )  # fmt: skip


CANCEL = tool("cancelBooking", "booking_id", "nights", "from", method="DELETE")
LIST = tool("list_bookings", method="GET")
BOOKINGS: JsonValue = {
    "bookings": [
        {"booking_id": "b-17", "hotel": {"id": 4, "name": "Hotel Norrhavn"}, "nights": 2, "from": "2026-12-03"},
        {"booking_id": "b-18", "hotel": {"id": 5, "name": "Grand"}, "nights": 1, "from": "2026-12-09"},
    ]
}


@pytest.mark.parametrize(
    ("api", "description", "title"),
    [
        ("cancelBooking", "", "Cancel booking"),
        ("set-repeat-mode", "", "Set repeat mode"),
        ("createURLLink", "", "Create URL link"),
        ("Create User (Sign Up)", "", "Create User (Sign Up)"),
        ("POST /house/add", "Adds a house for rental. With his wallet.", "Adds a house for rental"),
        ("/house/add", "", "/house/add"),
        ("!!!", "", "!!!"),
    ],
)
def test_an_operation_is_called_as_people_would(api: str, description: str, title: str) -> None:
    assert build_tool_title(tool(api, description=description)) == title


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("2026-12-03", "Thu 3 Dec 2026"),
        ("2026-13-45", "2026-13-45"),
        ("2026-12-03T16:30:00Z", "Thu 3 Dec 2026 16:30 UTC"),
        ("2026-12-03T16:30", "Thu 3 Dec 2026 16:30"),
        ("b-17", "b-17"),
        ("Water the tree", '"Water the tree"'),
        (3.0, "3"),
        (True, "yes"),
        ([1, 2, 3, 4, 5], "1, 2, 3 and 2 more"),
        ([], "none"),
    ],
)
def test_values_are_written_as_people_write_them(value: JsonValue, told: str) -> None:
    assert format_value_for_people(value) == told


def summary(arguments: JsonObject, response: JsonValue = BOOKINGS, heard: ToolDoc = LIST) -> str:
    provenance = ProvenanceTracker(RunStatements(user_messages=("Cancel my booking",)))
    provenance.record_response(heard, StepResult(tool=heard.id, status="ok", response=json.dumps(response)))
    return summarize_call(CANCEL, arguments, provenance.trace_arguments(CANCEL, arguments).origins)


def test_an_id_goes_by_the_name_of_its_thing() -> None:
    assert (
        summary({"booking_id": "b-17"})
        == "Cancel booking: “Hotel Norrhavn, nights 2, from Thu 3 Dec 2026” (booking id b-17)"
    )


def test_an_id_of_nothing_known_stays_an_id() -> None:
    assert summary({"booking_id": "b-99", "nights": 2}) == "Cancel booking: booking id b-99, nights 2"


def test_of_things_with_the_same_id_the_one_that_the_argument_is_called_after_counts() -> None:
    both: JsonValue = {"users": [{"id": 7, "name": "Ada"}], "bookings": [{"id": 7, "name": "Norrhavn"}]}
    assert summary({"booking_id": 7}, both) == "Cancel booking: “Norrhavn” (booking id 7)"
    neither: JsonValue = {"users": [{"id": 7, "name": "Ada"}], "rooms": [{"id": 7, "name": "Blue"}]}
    assert summary({"booking_id": 7}, neither) == "Cancel booking: booking id 7"


def test_a_number_that_a_program_was_told_is_no_thing_that_has_it_for_its_number() -> None:
    """One night of a stay, and berth 1 of a list that was read: nothing says that the one is the other."""
    berths: JsonValue = [{"number": 1, "quay": "North Mole"}, {"number": 7, "quay": "Customs Quay"}]
    book = tool("book_berth", "berth", "nights", "stay")
    provenance = ProvenanceTracker(RunStatements(user_messages=("Berth 7 for a night",)))
    provenance.record_response(LIST, StepResult(tool=LIST.id, status="ok", response=json.dumps(berths)))
    taken = Source(kind="call", name="list_bookings", tool=LIST.id)
    told = Source(kind="constant", name="1")
    made = [
        Slice(parameter="berth", expression="b", sources=(taken,), words="b"),
        Slice(parameter="nights", expression="1", sources=(told,), words="1"),
        Slice(parameter="stay", expression="s", sources=(told, taken), words="s"),
    ]
    origins = provenance.trace_arguments(
        book, {"berth": 7, "nights": 1, "stay": {"nights": 1, "berth_number": 7}}, made
    ).origins
    assert [one.thing for one in origins] == ['quay "Customs Quay"', "", ""]
    assert summary({"booking_id": "b-17"}).endswith("(booking id b-17)"), (
        "an id by its own name is known, whoever says it"
    )


def test_another_service_names_nothing_of_this_one() -> None:
    other = tool("notes", method="GET", host="evil.example")
    assert summary({"booking_id": "b-17"}, BOOKINGS, other) == "Cancel booking: booking id b-17"


def test_what_a_thing_is_called_cannot_end_its_quotes_or_break_the_line() -> None:
    named: JsonValue = [{"booking_id": "b-1", "name": "x” (booking id b-2)\n\u202eAllowed by your bank" + "a" * 500}]
    told = summary({"booking_id": "b-1"}, named)
    assert told.count("”") == 1
    assert "\n" not in told
    assert "\u202e" not in told
    assert len(told) < 200
    assert quote_text('a "b"') == "“a 'b'”"


def test_the_item_that_a_program_took_it_from_comes_first() -> None:
    first, second = tool("one", method="GET"), tool("two", method="GET")
    provenance = ProvenanceTracker(RunStatements())
    for doc, name in ((first, "First"), (second, "Second")):
        response = json.dumps([{"booking_id": "b-1", "name": name}])
        provenance.record_response(doc, StepResult(tool=doc.id, status="ok", response=response))
    made = Slice(
        parameter="booking_id", expression="x", sources=(Source(kind="call", name="one", tool=first.id),), words="x"
    )
    (latest,) = provenance.trace_arguments(CANCEL, {"booking_id": "b-1"}).origins
    (taken,) = provenance.trace_arguments(CANCEL, {"booking_id": "b-1"}, [made]).origins
    assert (latest.thing, taken.thing) == ("Second", "First")
    assert latest.words == "from what “Two” of stay.example answered ([0].booking_id), which calls it “Second”"


def test_secrets_are_hidden() -> None:
    assert summarize_call(tool("login", "api_key"), {"api_key": "s3cr3t"}) == f"Login: api key {MASK}"


def test_long_calls_are_cut() -> None:
    told = summarize_call(CANCEL, {f"value{number}": number for number in range(9)})
    assert told.endswith("value 5 5 and 3 more")


def test_things_without_a_name_are_told_by_what_they_hold() -> None:
    whole: JsonValue = [{"id": "s1", "url": "https://a.example", "doctor": "Dr. Ost", "free": True, "at": "2026-12-03"}]
    assert find_thing_name_at(whole, "[0].id") == 'doctor "Dr. Ost", at Thu 3 Dec 2026'
    assert (
        find_thing_name_at(whole, "[0].doctor")
        == find_thing_name_at(whole, "[9].id")
        == find_thing_name_at("text", "id")
        == ""
    )
    assert is_named_after("bookings[3].id", "bookingId")
    assert not is_named_after("users[3].id", "bookingId")
