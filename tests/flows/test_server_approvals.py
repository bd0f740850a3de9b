"""Calls that change something wait for their user: allowed, denied, allowed for good, cancelled, and asked across a restart."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from domain.event import CallFinished, EventRecord, InputNeeded, RunFinished
from tests.flows.test_server_runs import place
from tests.support.server_process import WRITE, Client, Place, effects, registered, reset, serving

__all__ = ["place"]
ASKED = "input.needed"

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def fresh(place: Place) -> Iterator[Place]:
    """The playground as if nothing had been changed."""
    reset(place)
    yield place
    reset(place)


def asked(client: Client, run: str) -> tuple[list[EventRecord], InputNeeded]:
    """A run's events to its question, and the question."""
    records = client.follow(run, until=ASKED)
    event = records[-1].event
    assert isinstance(event, InputNeeded)
    return records, event


def stands(client: Client, run: str, status: str) -> dict[str, Any]:
    """How a run stands once it has this status."""
    until = time.monotonic() + 100
    while (shown := client.call("GET", f"/runs/{run}").json())["status"] != status:
        assert time.monotonic() < until, shown
        time.sleep(0.05)
    return shown


def end(records: list[EventRecord]) -> RunFinished:
    last = records[-1].event
    assert isinstance(last, RunFinished)
    return last


def test_an_allowed_call_is_made_once(fresh: Place, tmp_path: Path) -> None:
    with serving(fresh, tmp_path / "home", FOOTPATH_RUNS_AT_ONCE="1") as (address, _):
        ada, eve = registered(address), registered(address, "eve")
        _, run = ada.ask(WRITE)
        before, question = asked(ada, run)
        stands(ada, run, "waiting")
        assert effects(fresh) == []
        other = ada.ask("How many inhabitants does Meghalpet have?")[1]
        assert end(ada.follow(other)).outcome == "answered"  # the waiting run keeps no place
        (shown,) = ada.call("GET", f"/runs/{run}/inputs").json()
        assert (shown["id"], shown["asks"], shown["tool"], shown["decision"]) == (
            question.input,
            "call",
            question.tool,
            None,
        )
        assert shown["arguments"] == question.arguments
        place_of_it = f"/runs/{run}/inputs/{question.input}"
        assert eve.call("GET", f"/runs/{run}/inputs").status_code == 404
        assert eve.call("POST", place_of_it, {"decision": "allow"}).status_code == 404
        assert ada.call("POST", place_of_it, {"decision": "deny", "always": True}).status_code == 400
        assert ada.call("POST", place_of_it, {"decision": "allow"}).status_code == 200
        after = ada.follow(run, after=before[-1].seq)
        assert ada.call("POST", place_of_it, {"decision": "deny"}).status_code == 409
        assert end(after).outcome == "answered"
        assert not any(isinstance(record.event, InputNeeded) for record in after)
        assert [record.seq for record in (*before, *after)] == list(range(1, len(before) + len(after) + 1))
        assert before[-1].subtask == before[-2].subtask
        assert len(effects(fresh)) == 1
        asked(ada, ada.ask(WRITE)[1])  # once is not always


def test_a_denied_call_is_not_made_and_said_so(fresh: Place, tmp_path: Path) -> None:
    with serving(fresh, tmp_path / "home") as (address, _):
        ada = registered(address)
        _, run = ada.ask(WRITE)
        before, question = asked(ada, run)
        ada.call("POST", f"/runs/{run}/inputs/{question.input}", {"decision": "deny"})
        after = ada.follow(run, after=before[-1].seq)
    results = [record.event.result for record in after if isinstance(record.event, CallFinished)]
    assert [(result.tool, result.status, result.attempts) for result in results] == [(question.tool, "skipped", 0)]
    assert effects(fresh) == []
    assert end(after).outcome == "gave_up"
    assert "You did not allow this call" in end(after).answer
    assert "is covered" not in end(after).answer


def test_what_is_allowed_always_is_not_asked_again(fresh: Place, tmp_path: Path) -> None:
    with serving(fresh, tmp_path / "home") as (address, _):
        ada, eve = registered(address), registered(address, "eve")
        _, run = ada.ask(WRITE)
        _, question = asked(ada, run)
        ada.call("POST", f"/runs/{run}/inputs/{question.input}", {"decision": "allow", "always": True})
        assert end(ada.follow(run)).outcome == "answered"
        (listed,) = ada.call("GET", "/me/allowed-tools").json()
        assert (listed["tool"], listed["address"], listed["holds"]) == (question.tool, fresh.tools, True)
        assert listed["origins"] == ["said"]
        second = ada.follow(ada.ask(WRITE)[1])
        assert end(second).outcome == "answered"
        assert not any(isinstance(record.event, InputNeeded) for record in second)
        assert len(effects(fresh)) == 2
        asked(eve, eve.ask(WRITE)[1])  # ada's list is ada's


def test_a_waiting_run_is_cancelled(fresh: Place, tmp_path: Path) -> None:
    with serving(fresh, tmp_path / "home") as (address, _):
        ada = registered(address)
        _, run = ada.ask(WRITE)
        _, question = asked(ada, run)
        assert ada.call("POST", f"/runs/{run}/cancel").status_code == 202
        assert end(ada.follow(run)).outcome == "cancelled"
        stands(ada, run, "finished")
        late = ada.call("POST", f"/runs/{run}/inputs/{question.input}", {"decision": "allow"})
        assert (late.status_code, late.json()["code"]) == (409, "conflict")
    assert effects(fresh) == []


@pytest.mark.parametrize("waits", [True, False])
def test_a_question_outlives_the_server(fresh: Place, tmp_path: Path, waits: bool) -> None:
    """Killed at the question, or when the run waits already: it is asked once, and the answer counts."""
    home = tmp_path / "home"
    with serving(fresh, home) as (address, process):
        ada = registered(address)
        _, run = ada.ask(WRITE)
        before, question = asked(ada, run)
        if waits:
            stands(ada, run, "waiting")
        process.kill()
        process.wait()
    with serving(fresh, home) as (address, _):
        ada.address = address
        stands(ada, run, "waiting")
        assert [one["decision"] for one in ada.call("GET", f"/runs/{run}/inputs").json()] == [None]
        ada.call("POST", f"/runs/{run}/inputs/{question.input}", {"decision": "allow"})
        everything = ada.follow(run)
    assert everything[: len(before)] == before
    assert [record.seq for record in everything] == list(range(1, len(everything) + 1))
    assert sum(isinstance(record.event, InputNeeded) for record in everything) == 1
    assert end(everything).outcome == "answered"
    assert len(effects(fresh)) == 1


def test_a_run_makes_no_more_changes_than_its_budget_whatever_is_allowed(fresh: Place, tmp_path: Path) -> None:
    two = (
        'First add a task "Clean the greenhouse" with normal priority to my list, due on 2026-07-04, and then enter "Greenhouse party" '
        "in my calendar for 2026-07-05 at 16:00 in Porto Sereno. I want both ids."
    )
    with serving(fresh, tmp_path / "home", FOOTPATH_MAX_CHANGES="1") as (address, _):
        ada = registered(address)
        _, run = ada.ask(two)
        before, question = asked(ada, run)
        stands(ada, run, "waiting")
        assert ada.call("POST", f"/runs/{run}/inputs/{question.input}", {"decision": "allow"}).status_code == 200
        after = ada.follow(run, after=before[-1].seq)
        assert not any(isinstance(record.event, InputNeeded) for record in after)
        assert (end(after).outcome, len(effects(fresh))) == ("budget", 1)
        assert "a run may make 1 change (FOOTPATH_MAX_CHANGES), and may make no more" in end(after).answer
