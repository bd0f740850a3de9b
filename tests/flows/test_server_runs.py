"""Runs over HTTP: a server as a process, the playground's tools, followers that come and go, a server that is killed."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from domain.event import EventRecord, InputNeeded
from tests.support.playground_process import running_playground
from tests.support.server_process import (
    INHABITANTS,
    WRITE,
    Place,
    built,
    effects,
    registered,
    reset,
    serving,
    to_its_end,
)

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A running playground, and a store of its catalogue and trajectories."""
    with running_playground() as address:
        yield built(tmp_path_factory.mktemp("place"), address)


def test_a_question_is_asked_followed_and_exported(place: Place, tmp_path: Path) -> None:
    with serving(place, tmp_path / "home") as (address, _):
        ada = registered(address)
        conversation, run = ada.ask(INHABITANTS)
        records = ada.follow(run)
        assert [record.seq for record in records] == list(range(1, len(records) + 1))
        assert records[0].event.kind == "run.started"
        shown = ada.call("GET", f"/runs/{run}").json()
        assert (shown["outcome"], shown["status"]) == ("answered", "finished")
        assert ada.follow(run, after=len(records) - 3) == records[-3:]
        export = ada.call("GET", f"/conversations/{conversation}/export").json()
        assert [EventRecord.model_validate(one) for one in export["runs"][0]["events"]] == records
        assert [one["speaker"] for one in export["messages"]] == ["user", "assistant"]
        assert ada.call("GET", "/conversations?search=inhabitants").json()[0]["id"] == conversation
        assert ada.call("DELETE", f"/conversations/{conversation}").status_code == 204
        assert ada.call("GET", f"/runs/{run}").status_code == 404


def test_a_server_that_is_told_to_stop_puts_its_runs_down(place: Place, tmp_path: Path) -> None:
    """Whoever follows is let go, and goes on where it was with the server that comes back."""
    home = tmp_path / "home"
    with serving(place, home) as (address, process):
        ada = registered(address)
        _, run = ada.ask(INHABITANTS)
        before = ada.follow(run, until=2)
        process.send_signal(signal.SIGTERM)
        process.wait(100)
    with serving(place, home) as (address, _):
        ada.address = address
        after = ada.follow(run, after=2)
        shown = ada.call("GET", f"/runs/{run}").json()
    assert [record.seq for record in (*before, *after)] == list(range(1, len(before) + len(after) + 1))
    assert shown["outcome"] == "answered"


@pytest.mark.parametrize("last", [1, 3, "plan.ready", "call.started", "call.finished", "answer.delta"])
def test_a_killed_server_goes_on_and_changes_nothing_twice(place: Place, tmp_path: Path, last: int | str) -> None:
    home = tmp_path / "home"
    reset(place)
    with serving(place, home) as (address, process):
        ada = registered(address)
        _, first = ada.ask(WRITE)
        asked = ada.follow(first, until="input.needed")[-1].event
        assert isinstance(asked, InputNeeded)
        assert ada.call("PUT", f"/me/allowed-tools/{asked.tool}").status_code == 204
        ada.call("POST", f"/runs/{first}/cancel")
        _, run = ada.ask(WRITE)
        before = ada.follow(run, until=last)
        process.kill()
        process.wait()
    with serving(place, home) as (address, _):
        ada.address = address
        everything = to_its_end(ada, place, run)
        shown = ada.call("GET", f"/runs/{run}").json()
    assert everything[: len(before)] == before
    assert [record.seq for record in everything] == list(range(1, len(everything) + 1))
    assert (shown["status"], shown["outcome"]) == ("finished", "answered")
    assert len(effects(place)) == 1


def test_only_so_many_runs_of_one_user(place: Place, tmp_path: Path) -> None:
    with serving(place, tmp_path / "home", FOOTPATH_USER_RUNS="1") as (address, _):
        ada, eve = registered(address), registered(address, "eve")
        conversation, run = ada.ask(INHABITANTS)
        again = ada.call("POST", f"/conversations/{conversation}/runs", {"request": INHABITANTS, "planner": "dfs"})
        assert again.status_code == 429
        assert again.json()["code"] == "busy"
        eve.follow(eve.ask(INHABITANTS)[1])
        ada.follow(run)
        assert (
            ada.call(
                "POST", f"/conversations/{conversation}/runs", {"request": INHABITANTS, "planner": "dfs"}
            ).status_code
            == 202
        )


def test_a_run_is_cancelled(place: Place, tmp_path: Path) -> None:
    with serving(place, tmp_path / "home", FOOTPATH_RUNS_AT_ONCE="1") as (address, _):
        ada = registered(address)
        first, second = ada.ask(INHABITANTS)[1], ada.ask(INHABITANTS)[1]
        assert ada.call("POST", f"/runs/{second}/cancel").status_code == 202
        records = ada.follow(second)
        assert records[-1].event.kind == "run.finished"
        assert ada.call("GET", f"/runs/{second}").json()["outcome"] == "cancelled"
        ada.follow(first)
        assert ada.call("GET", f"/runs/{first}").json()["outcome"] == "answered"
