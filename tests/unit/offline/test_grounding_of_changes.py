"""What a call that changes something takes from a list: only what the request names."""

import json

import pytest

from agent.policy.protocol import Arguments, ArgumentsQuestion
from domain.plan import Binding, StepResult
from domain.tool import Parameter, ToolDoc, tool_id
from offline.grounding_of_changes import not_asked_for

EVENTS = [
    {"event_id": "evt_b5f34634", "title": "Keynote rehearsal", "starts_at": "2026-05-06T13:00:00", "state": "open"},
    {"event_id": "evt_161ed134", "title": "Harbour tour", "starts_at": "2026-05-07T15:30:00", "state": "open"},
    {"event_id": "evt_c5fc8bd1", "title": "Summer school", "starts_at": "2026-05-18T17:15:00", "state": "done"},
]


def doc(api: str, method: str, *needs: str) -> ToolDoc:
    return ToolDoc(
        id=tool_id("Work", "Agendo", api), category="Work", toolset="Agendo", api=api, function=api, method=method,
        description=f"{api.replace('_', ' ')} of the calendar.",
        parameters=tuple(Parameter(name=name, required=True) for name in needs),
    )  # fmt: skip


LIST, GET, DELETE = doc("list_events", "GET"), doc("get_event", "GET", "event_id"), doc("delete_event", "DELETE", "event_id")  # fmt: skip


def answered(tool: ToolDoc, response: object, **taken: str) -> tuple[ToolDoc, StepResult]:
    bindings = tuple(Binding(parameter=name, origin="step", reference=place) for name, place in taken.items())
    return tool, StepResult(tool=tool.id, status="ok", response=json.dumps(response), provenance=bindings)


def refusal(request: str, index: int, events: list[dict[str, str]] = EVENTS, *, tool: ToolDoc = DELETE) -> str:
    """Why ``tool`` may not be called with the event at this index."""
    question = ArgumentsQuestion(request, tool, (answered(LIST, {"events": events}),))
    binding = Binding(parameter="event_id", origin="step", reference=f"1.events[{index}].event_id")
    return not_asked_for(question, Arguments({"event_id": events[index]["event_id"]}, (binding,)))


@pytest.mark.parametrize(
    ("request_", "index"),
    [
        ("Delete the event Harbour tour", 1),
        ("Delete the event 'Harbour tour'", 1),
        ("please delete the harbour tour from my calendar", 1),
        ("Delete the event evt_161ed134", 1),
        ("Delete the first event", 0),
        ("Delete the last event", 2),
        ("Delete the earliest event", 0),
        ("Delete the event on 7 May 2026", 1),
        ("Delete the event which is done", 2),
        ("Look up the event 'Summer school' and delete it", 2),
        ("Delete the events 'Harbour tour' and 'Summer school'", 2),
    ],
)
def test_what_the_request_names_may_be_changed(request_: str, index: int) -> None:
    assert refusal(request_, index) == ""


@pytest.mark.parametrize(
    ("request_", "index", "why"),
    [
        ("Delete the event Moon party", 0, "names none of its 3 entries"),
        ("Delete the event 'Moon party' which is done", 2, "names 'Moon party', which is not there"),
        ("Delete the event", 0, "names none of its 3 entries"),
        ("Delete all events in the calendar", 0, "names none of its 3 entries"),
        ("Delete the event evt_15faf141", 0, "names evt_15faf141, which is not there"),
        ("Delete the event Harbour tour", 0, "names another of its entries"),
        ("Delete the event which is open", 0, "names more than one of its 3 entries"),
        ("Move the event Harbour tour to after Summer school", 2, "names more than one of its 3 entries"),
        ("Delete the last event", 0, "names none of its 3 entries"),
        ("Delete the event Moon party and tell me about Harbour tour", 1, "names none of its 3 entries"),
    ],
)
def test_nothing_is_changed_because_it_comes_first(request_: str, index: int, why: str) -> None:
    note = refusal(request_, index)
    assert why in note
    assert "delete_event was not called: its event_id would come from list_events (step 1)" in note


def test_the_only_item_may_be_changed_unless_another_is_named() -> None:
    one = EVENTS[:1]
    assert refusal("Delete the event", 0, one) == ""
    assert "'Moon party', which is not there" in refusal("Delete the event 'Moon party'", 0, one)
    assert "evt_15faf141, which is not there" in refusal("Delete the event evt_15faf141", 0, one)
    assert "moon" in refusal("delete the moon event", 0, one)


def test_reading_is_free() -> None:
    assert refusal("Show me an event", 0, tool=GET) == ""


def test_a_thing_that_was_looked_up_by_what_came_first_is_not_named_either() -> None:
    earlier = (
        answered(LIST, {"events": EVENTS}),
        answered(GET, EVENTS[0], event_id="1.events[0].event_id"),
    )
    binding = Binding(parameter="event_id", origin="step", reference="2.event_id")
    answer = Arguments({"event_id": "evt_b5f34634"}, (binding,))
    assert "names none" in not_asked_for(ArgumentsQuestion("Delete the event", DELETE, earlier), answer)
    assert not_asked_for(ArgumentsQuestion("Delete the Keynote rehearsal", DELETE, earlier), answer) == ""


def test_a_value_without_an_origin_is_looked_for_in_the_answers() -> None:
    question = ArgumentsQuestion("Delete the event", DELETE, (answered(LIST, {"events": EVENTS}),))
    assert "names none" in not_asked_for(question, Arguments({"event_id": "evt_b5f34634"}, ()))


def test_a_whole_list_is_taken_only_where_all_is_asked_for() -> None:
    many = doc("delete_events", "POST", "event_ids")
    binding = Binding(parameter="event_ids", origin="step", reference="1.events[*].event_id")
    answer = Arguments({"event_ids": [event["event_id"] for event in EVENTS]}, (binding,))
    earlier = (answered(LIST, {"events": EVENTS}),)
    assert not_asked_for(ArgumentsQuestion("Delete all events", many, earlier), answer) == ""
    assert "all of its 3 entries" in not_asked_for(ArgumentsQuestion("Delete the event", many, earlier), answer)


@pytest.mark.parametrize(
    ("request_", "refused"),
    [
        ("Create the event Choir and remove the event Winter gala", True),
        ("Create the event Choir and then delete it", False),
        ("Create the event Choir and delete the event Choir", False),
    ],
)
def test_what_was_just_made_is_undone_only_where_it_is_meant(request_: str, refused: bool) -> None:
    made = answered(doc("create_event", "POST", "title"), {"event_id": "evt_1", "title": "Choir"})
    binding = Binding(parameter="event_id", origin="step", reference="1.event_id")
    question = ArgumentsQuestion(request_, DELETE, (made,))
    assert bool(not_asked_for(question, Arguments({"event_id": "evt_1"}, (binding,)))) == refused
