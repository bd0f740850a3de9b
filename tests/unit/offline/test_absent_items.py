"""An item that the request names and a list does not hold: nothing else is taken, whatever kind of call it is for."""

import json

import pytest

from agent.execution.execute import execute
from agent.execution.executor import CallResult
from agent.policy.protocol import Arguments, ArgumentsQuestion
from domain.event import CallFinished
from domain.model import JsonObject
from domain.plan import Binding, StepResult
from domain.tool import Parameter, ToolDoc, tool_id
from offline.absent_items import absent
from offline.policy import OfflinePolicy


def doc(toolset: str, api: str, text: str, *needs: str) -> ToolDoc:
    return ToolDoc(
        id=tool_id("Work", toolset, api), category="Work", toolset=toolset, api=api, function=api, method="GET",
        description=text, parameters=tuple(Parameter(name=name, required=True) for name in needs),
    )  # fmt: skip


ROOMS = doc("Deskhive", "find_meeting_rooms", "Meeting rooms of a city.", "city")
ROOM = doc("Deskhive", "get_meeting_room", "The hourly price of a meeting room.", "room_id")
HELD: list[JsonObject] = [
    {"room_id": "r1", "room_name": "Compass Room", "seats": 6, "keeper": "Tilda Quarrie"},
    {"room_id": "r2", "room_name": "Heron Room", "seats": 9, "keeper": "Jon Vale"},
    {"room_id": "r3", "room_name": "Villasera Palace", "seats": 30, "keeper": "Jon Vale"},
]
PINEWATER: list[JsonObject] = [
    {"room_id": "r7", "room_name": "Otter Room"},
    {"room_id": "r8", "room_name": "Mill Room"},
]


def refusal(
    request: str,
    rooms: list[JsonObject] | None = None,
    city: str = "Villasera",
    origin: str = "request",
    settled: frozenset[str] = frozenset(),
) -> str:
    """Why the first room may not be taken."""
    rooms = HELD if rooms is None else rooms
    binding = Binding.model_validate({"parameter": "city", "origin": origin, "reference": city})
    listed = StepResult(
        tool=ROOMS.id, arguments={"city": city}, provenance=(binding,), status="ok", response=json.dumps(rooms)
    )
    taken = Binding(parameter="room_id", origin="step", reference="1.[0].room_id")
    answer = Arguments({"room_id": rooms[0]["room_id"]}, (taken,), settled=settled)
    return absent(ArgumentsQuestion(request, ROOM, ((ROOMS, listed),)), answer)


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ("What does the Copper Room in Villasera cost per hour?", "Copper Room"),
        ("What does Blue Parrot in Villasera cost per hour?", "Blue Parrot"),
        ("What does a seat cost at the Zephyr in Villasera?", "Zephyr"),
        ("What does 'blue parrot' in Villasera cost per hour?", "blue parrot"),
        ("Which price does room Blue Parrot in Villasera have?", "Blue Parrot"),
        ("What is the cheapest hour at the Blue Parrot in Villasera?", "Blue Parrot"),
    ],
)
def test_nothing_is_taken_for_what_the_list_does_not_hold(request_: str, name: str) -> None:
    told = refusal(request_)
    assert told == (
        f"There is nothing called {name!r} in Villasera; there are: Compass Room, Heron Room, Villasera Palace."
    )


def test_nor_where_one_thing_alone_is_listed() -> None:
    assert "there are: Otter Room." in refusal(
        "What does the Heron Room in Villasera cost?", [PINEWATER[0]], "Pinewater", "user"
    )


def test_the_words_of_a_plan_name_an_item_of_a_list_that_was_asked_for_elsewhere() -> None:
    told = refusal("What would the Heron Room in Villasera cost us per hour?", PINEWATER, "Pinewater", "user")
    assert told == "There is nothing called 'Heron Room' in Pinewater; there are: Otter Room, Mill Room."


@pytest.mark.parametrize(
    "request_",
    [
        "What would a room in Villasera cost us per hour?",
        "What would the first meeting room in Villasera cost us per hour?",
        "What are the rooms in Villasera, and what do they cost?",
    ],
)
def test_the_place_that_a_plan_was_drawn_from_names_no_item(request_: str) -> None:
    assert refusal(request_, PINEWATER, "Pinewater", "user") == ""


@pytest.mark.parametrize(
    "request_",
    [
        "What does the Compass Room in Villasera cost per hour?",
        "What does the compass room in Villasera cost per hour?",
        "What does Compass in Villasera cost per hour?",
        "What does the Compas Room in Villasera cost per hour?",
        "What does the Palace in Villasera cost per hour?",
        "What does the Grand Villasera Palace Hall cost per hour?",
        "What does the room of Tilda Quarrie in Villasera cost per hour?",
        "What does a room for the Blue Parrots in Villasera cost per hour?",
        "What does the cheapest meeting room in Villasera cost the Blue Parrots?",
        "Tell Jane Doe what meeting in Villasera costs per hour",
        "I meet with Jane Doe. What do they ask per hour in Villasera?",
        "What does the Meeting Room in Villasera cost?",
        "What does the Compass Room in Villasera cost, and who owns the Blue Parrot in Pinewater?",
        "Who owns the Blue Parrot in Pinewater, and what do they ask for meeting in Villasera?",
    ],
)
def test_what_is_named_in_part_or_not_at_all_is_taken(request_: str) -> None:
    assert refusal(request_) == ""


def test_a_list_without_names_is_taken_from() -> None:
    assert refusal("What does the Blue Parrot in Villasera cost?", [{"room_id": "r1"}, {"room_id": "r2"}]) == ""


def test_a_list_that_was_asked_for_by_the_name_is_taken_from() -> None:
    assert refusal("What does the Blue Parrot cost?", city="Blue Parrot") == ""


def test_a_list_that_was_asked_for_by_one_of_two_names_is_taken_from() -> None:
    foxes: list[JsonObject] = [{"room_id": "r1", "room_name": "Serra Nova Foxes"}]
    request = "Serra Nova Foxes won 3-2 at home against Santa Iria Comets this spring. Who scored the goals?"
    assert refusal(request, foxes, "Serra Nova Foxes") == ""


def test_a_list_that_was_asked_for_in_other_words_is_taken_from() -> None:
    assert refusal("What does the Big Apple cost?", city="New York") == ""


def test_what_a_person_has_decided_on_is_taken() -> None:
    assert refusal("What does the Blue Parrot in Villasera cost?", settled=frozenset({"room_id"})) == ""


def test_of_a_long_list_the_first_are_told() -> None:
    rooms: list[JsonObject] = [{"room_id": f"r{n}", "room_name": f"Hall {n}"} for n in range(12)]
    assert refusal("What does the Blue Parrot in Villasera cost?", rooms).endswith("Hall 7 and 4 more.")


class Rooms:
    """An executor that lists the rooms and prices any of them."""

    name = "rooms"

    def __init__(self) -> None:
        self.called: list[str] = []

    async def call(self, tool: ToolDoc, arguments: JsonObject) -> CallResult:
        self.called.append(tool.api)
        body = json.dumps(HELD) if tool is ROOMS else json.dumps({"hourly_price": 48.4, **arguments})
        return CallResult("ok", body, http_status=200)

    async def close(self) -> None: ...


@pytest.mark.parametrize(("room", "called"), [("Heron Room", 2), ("Copper Room", 1)])
async def test_a_safe_call_is_not_made_with_another_item(room: str, called: int) -> None:
    executor, request = Rooms(), f"What does the {room} in Villasera cost per hour?"
    events = [event async for event in execute(request, (ROOMS, ROOM), OfflinePolicy(), executor, {})]
    last = events[-1]
    assert isinstance(last, CallFinished)
    assert len(executor.called) == called
    if called == 1:
        assert (last.step, last.result.status) == (2, "missing")
        assert last.result.note.startswith(
            "There is nothing called 'Copper Room' in Villasera; there are: Compass Room,"
        )
