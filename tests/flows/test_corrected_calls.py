"""A batch of changes whose user corrects some and leaves others out: what is checked, what the service gets, what is told, and servers that are killed."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from domain.event import CallFinished, EventRecord, InputNeeded, RunFinished
from domain.plan import StepResult
from tests.models.brain import Brain
from tests.models.openai_server import model_server_in_thread
from tests.support.attacked_services import Operation, Service, question_of, running, told_of
from tests.support.server_process import ROOT, Client, registered, started

ROOMS = [{"room_id": f"r-{n}", "name": f"{name} room"} for n, name in enumerate(["Blue", "Red", "Oak", "Sea", "Sun"])]
LIST = Operation("list_rooms", "List the rooms of the house.", {"house": "string"}, ROOMS)
BOOK = Operation(
    "book_room",
    "Book a room of the house.",
    {"room_id": "string", "nights": "integer", "breakfast": "boolean"},
    {"booked": True},
    "POST",
)
REQUEST = "Book all rooms of the house Norrhavn for 2 nights."
BATCH = """import asyncio
rooms = await list_rooms(house="Norrhavn")
made = await asyncio.gather(*[book_room(room_id=one["room_id"], nights=2, breakfast=False) for one in rooms])
{"answered": "yes", "answer": f"{len(made)} rooms are booked."}"""
CORRECTED = [{"call": 1, "arguments": {"nights": 3}}, {"call": 3, "skip": True}]
WANTED = [("r-0", 2), ("r-1", 3), ("r-2", 2), ("r-4", 2)]

pytestmark = pytest.mark.timeout(180)


class House:
    """A service with rooms, and servers of one home whose model writes one program."""

    def __init__(self, folder: Path, program: str) -> None:
        self.service = Service("house", [LIST, BOOK])
        self._folder = folder
        self._brain = Brain(program=[f"```python\n{program}\n```"] * 3, answer=["It is done."] * 3)

    @contextmanager
    def standing(self) -> Generator[None]:
        with running(self.service), model_server_in_thread(self._brain) as model:
            store = told_of(self._folder / "store", self.service)
            self._chosen = {
                "FOOTPATH_SERVER_HOME": str(self._folder / "home"),
                "FOOTPATH_STORE": str(store),
                "FOOTPATH_ALLOW_HOSTS": self.service.host,
                "FOOTPATH_MODEL_URL": model.url,
                "FOOTPATH_MODEL_NAME": model.model,
                "FOOTPATH_LEARN": "false",
                "FOOTPATH_LEASE_SECONDS": "1",
                "PYTHONPATH": str(ROOT),
            }
            yield

    def served(self):  # the server's address and process
        return started(self._chosen, self._folder)

    @property
    def booked(self) -> list[tuple[str, int]]:
        return [(body["room_id"], body["nights"]) for _, body in self.service.asked_of("book_room")]


@pytest.fixture
def house(tmp_path: Path) -> Generator[House]:
    made = House(tmp_path, BATCH)
    with made.standing():
        yield made


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[House, Client, str, InputNeeded]]:
    """A run that waits for its user's word, whom, and what it asks: for what is refused, which leaves all as it is."""
    house = House(tmp_path_factory.mktemp("waiting"), BATCH)
    with house.standing(), house.served() as (address, _):
        ada = registered(address)
        run = ada.ask(REQUEST, policy="llm")[1]
        yield house, ada, run, question_of(ada, run)


def answer(client: Client, run: str, asked: InputNeeded, corrections: list[dict[str, Any]], **more: Any) -> Any:
    body = {"decision": "allow", "corrections": corrections, **more}
    return client.call("POST", f"/runs/{run}/inputs/{asked.input}", body)


def results(records: list[EventRecord]) -> list[StepResult]:
    return [
        one.event.result
        for one in records
        if isinstance(one.event, CallFinished) and "book_room" in one.event.result.tool
    ]


def end(records: list[EventRecord]) -> RunFinished:
    last = records[-1].event
    assert isinstance(last, RunFinished)
    return last


def test_what_is_asked_reads_as_people_speak(house: House) -> None:
    with house.served() as (address, _):
        ada = registered(address)
        run = ada.ask(REQUEST, policy="llm")[1]
        asked = question_of(ada, run)
        assert asked.summary == "Book room, 5 times"
        assert asked.calls[1].summary == "Book room: “Red room” (room id r-1), nights 2, breakfast no"
        assert asked.undo == asked.calls[1].undo == "This cannot be taken back, as far as is known."
        told = {one.parameter: one.words for one in asked.calls[1].origins}
        assert told["room_id"].startswith(f"from what “List rooms” of {house.service.host} answered ([1].room_id)")
        assert "which calls it “Red room”" in told["room_id"]
        assert told["nights"].startswith("you said it")
        (shown,) = ada.call("GET", f"/runs/{run}/inputs").json()
        assert shown["accepts"]["properties"]["nights"] == {"type": "integer"}
        assert shown["calls"][1]["summary"] == asked.calls[1].summary


def test_what_is_made_is_what_was_corrected_and_what_is_left_out_is_not(house: House) -> None:
    with house.served() as (address, _):
        ada = registered(address)
        run = ada.ask(REQUEST, policy="llm")[1]
        asked = question_of(ada, run)
        said = answer(ada, run, asked, CORRECTED, always=True)
        assert said.status_code == 200, said.text
        assert [(one["call"], one["arguments"], one["skip"]) for one in said.json()["corrections"]] == [
            (1, {"nights": 3}, False),
            (3, {}, True),
        ]
        records = ada.follow(run)
        (listed,) = ada.call("GET", "/me/allowed-tools").json()
        assert "field" in listed["origins"]
    assert house.booked == WANTED
    made = results(records)
    assert [(one.arguments["room_id"], one.status) for one in made if one.intended] == [("r-1", "ok")]
    assert made[-1].left_out
    assert sum(isinstance(one.event, InputNeeded) for one in records) == 1
    assert end(records).outcome == "partly"
    lines = end(records).answer.splitlines()
    assert sum(line.startswith("Done: ") for line in lines) == 4
    assert any("(nights 3 instead of 2, as you corrected it)" in line for line in lines), lines
    assert any(line.startswith("Not done: ") and "You left this call out" in line for line in lines), lines
    assert "5 rooms are booked" not in end(records).answer
    used = end(records).usage
    assert used.model_calls == sum(used.by_purpose.values()) > 0, "what was taken before its user was asked counts"
    assert used.prompt_tokens + used.completion_tokens == sum(used.tokens_by_purpose.values()) > 0


@pytest.mark.parametrize(
    ("corrections", "places"),
    [
        ([{"call": 1, "arguments": {"nights": "many"}}], ["body.corrections.0.arguments.nights"]),
        ([{"call": 0}, {"call": 2, "arguments": {"room": "r"}}], ["body.corrections.1.arguments"]),
        ([{"call": 5, "skip": True}], ["body.corrections.0.call"]),
        ([{"call": 1, "skip": True}, {"call": 1, "arguments": {"nights": 1}}], ["body.corrections.1.call"]),
        ([{"call": 1, "skip": True, "arguments": {"nights": 1}}], ["body.corrections.0.skip"]),
        ([{"call": n, "skip": True} for n in range(5)], ["body.corrections"]),
        ([{"call": 1, "arguments": {"room_id": None}}], ["body.corrections.0.arguments.room_id"]),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(
    waiting: tuple[House, Client, str, InputNeeded], corrections: list[dict[str, Any]], places: list[str]
) -> None:
    house, ada, run, asked = waiting
    said = answer(ada, run, asked, corrections)
    assert (said.status_code, said.headers["content-type"]) == (400, "application/problem+json")
    assert [one["place"] for one in said.json()["errors"]] == places
    refused = {"decision": "deny", "corrections": [{"call": 0, "skip": True}]}
    assert ada.call("POST", f"/runs/{run}/inputs/{asked.input}", refused).status_code == 400
    (shown,) = ada.call("GET", f"/runs/{run}/inputs").json()
    assert shown["decision"] is None
    assert house.booked == []


@pytest.mark.parametrize("after", range(5))
def test_a_server_that_is_killed_while_it_makes_them_makes_none_twice(house: House, after: int) -> None:
    with house.served() as (address, process):
        ada = registered(address)
        run = ada.ask(REQUEST, policy="llm")[1]
        before = ada.follow(run, until="input.needed")
        asked = question_of(ada, run)
        assert answer(ada, run, asked, CORRECTED).status_code == 200
        until = time.monotonic() + 20
        while len(house.booked) < after and time.monotonic() < until:
            time.sleep(0.0005)
        process.kill()
        process.wait()
    with house.served() as (address, _):
        ada.address = address
        records = before
        while records[-1].event.kind != "run.finished":
            records = records + ada.follow(run, after=records[-1].seq, until="input.needed")
            if isinstance(lost := records[-1].event, InputNeeded):
                assert lost.asks == "unknown_outcome"
                assert lost.summary.startswith("Book room: “")
                there = (lost.arguments["room_id"], lost.arguments["nights"]) in house.booked
                decision = "happened" if there else "did_not_happen"
                ada.call("POST", f"/runs/{run}/inputs/{lost.input}", {"decision": decision})
    assert house.booked == WANTED
    assert [
        (one.arguments["room_id"], one.arguments["nights"]) for one in results(records) if one.status == "ok"
    ] == WANTED
    assert end(records).outcome == "partly"
