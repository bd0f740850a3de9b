"""A value that one service answered goes to another only where its user lets it, once or always, and never by a command."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.models.brain import Brain, Line, advance_to, bind, move
from tests.models.openai_server import model_server_in_thread
from tests.support.attacked_services import (
    Operation,
    Service,
    decided,
    outcome_of,
    question_of,
    running,
    serving,
    told_of,
)
from tests.support.server_process import ROOT, Client, registered

RECORD = "MRN-5520-77"
FIND = Operation("find_patient", "Find the record number of a patient.", {"patient": "string"}, {"record": RECORD})
LOOK = Operation("look_up", "Look up what is known of a record number.", {"record": "string"}, {"known": "nothing"})
REQUEST = "Which record number does the patient Lindqvist have, and what is known of it?"

pytestmark = pytest.mark.timeout(180)


def carries() -> Brain:
    """A model that takes what the one service answers to the other, again and again."""
    choose: list[Line] = [advance_to("find_patient"), advance_to("look_up"), move("finish")]
    arguments: list[Line] = [
        bind(("patient", "Lindqvist", "request", "Lindqvist")),
        bind(("record", RECORD, "step", "1.record")),
    ]
    return Brain(choose=choose * 4, arguments=arguments * 4, answer=["Nothing is known [2]."])


@contextmanager
def two_hosts(folder: Path) -> Generator[tuple[Service, Service, Path, dict[str, str]]]:
    """A clinic and a broker with a document each, a store that knows both, and a model that carries."""
    clinic, broker = Service("clinic", [FIND]), Service("broker", [LOOK])
    with running(clinic, broker), model_server_in_thread(carries()) as model:
        chosen = {"FOOTPATH_MODEL_URL": model.url, "FOOTPATH_MODEL_NAME": model.model, "FOOTPATH_LEARN": "false"}
        yield clinic, broker, told_of(folder / "store", clinic, broker), chosen


def test_a_read_that_carries_a_value_to_another_host_asks_once(tmp_path: Path) -> None:
    with (
        two_hosts(tmp_path) as (clinic, broker, store, chosen),
        serving(store, tmp_path / "home", clinic, broker, **chosen) as address,
    ):
        ada = registered(address)
        run = ada.ask(REQUEST, policy="llm")[1]
        asked = question_of(ada, run)
        assert (asked.asks, asked.host, broker.asked) == ("flow", broker.host, [])
        assert clinic.host in asked.reason
        assert [(one.parameter, one.kind, one.host) for one in asked.origins] == [("record", "field", clinic.host)]
        assert decided(ada, run, asked, "allow") == "answered"
        assert len(broker.asked) == 1
        assert ada.call("GET", "/me/host-transfers").json() == []  # it was for this run
        again = ada.ask(REQUEST, policy="llm")[1]
        assert decided(ada, again, question_of(ada, again), "allow", always=True) == "answered"
        assert len(broker.asked) == 2
        unasked = ada.ask(REQUEST, policy="llm")[1]
        assert outcome_of(ada, unasked) == "answered"
        assert len(broker.asked) == 3
        (kept,) = ada.call("GET", "/me/host-transfers").json()
        assert (kept["source"], kept["target"], kept["allowed"]) == (clinic.host, broker.host, True)
        assert ada.call("DELETE", f"/me/host-transfers/{clinic.host}/{broker.host}").status_code == 204


def test_a_refusal_is_for_one_run_unless_its_user_says_never(tmp_path: Path) -> None:
    with (
        two_hosts(tmp_path) as (clinic, broker, store, chosen),
        serving(store, tmp_path / "home", clinic, broker, **chosen) as address,
    ):
        ada = registered(address)
        run = ada.ask(REQUEST, policy="llm")[1]
        assert decided(ada, run, question_of(ada, run), "deny") == "gave_up"
        assert "the next run asks again" in _told(ada, run)
        second = ada.ask(REQUEST, policy="llm")[1]
        assert decided(ada, second, question_of(ada, second), "deny", always=True) == "gave_up"
        last = ada.ask(REQUEST, policy="llm")[1]
        assert outcome_of(ada, last) == "gave_up"  # it asked nothing
        assert "/?view=leave" in _told(ada, last)
        assert "DELETE" not in _told(ada, last)
        assert broker.asked == []


def _told(client: Client, run: str) -> str:
    """What the run's events tell of its calls."""
    return " ".join(one.event.result.note for one in client.follow(run) if one.event.kind == "call.finished")


@pytest.mark.parametrize("flows", ["ask", "allow"])
def test_a_command_sends_nothing_across_unless_it_is_told_to(tmp_path: Path, flows: str) -> None:
    with two_hosts(tmp_path) as (clinic, broker, store, chosen):
        hosts = {"FOOTPATH_ALLOW_HOSTS": f"{clinic.host},{broker.host}", "FOOTPATH_FLOWS": flows}
        script = [sys.executable, str(ROOT / "scripts" / "ask.py"), REQUEST, "--store", str(store), "--policy", "llm"]
        made = subprocess.run(
            script,
            env={**os.environ, **chosen, **hosts, "PYTHONPATH": str(ROOT)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        told = " ".join(made.stdout.split())
        if flows == "allow":
            assert (made.returncode, len(broker.asked)) == (0, 1)
        else:
            assert (made.returncode, broker.asked) == (1, [])
            assert clinic.host in told
            assert broker.host in told
            assert "FOOTPATH_FLOWS=allow" in told
