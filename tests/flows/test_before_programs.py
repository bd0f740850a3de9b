"""A server, a store and an export of the version whose plans were steps, opened by this one: nothing is lost, what waits goes on."""

import asyncio
import gzip
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from domain.event import CallFinished, EventRecord, InputNeeded, RunFinished
from tests import forked
from tests.flows.before_programs import EXPORT, KEPT_FOR_EVER, RUNS, TEMPLATES, unpacked
from tests.flows.served import PASSWORD, ROOT, Client, Place, effects, serving
from tests.models.brain import Brain
from tests.models.openai_server import model_server_in_thread
from tests.playing import running_playground
from wiring.verify import verify

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class Opened:
    """The old rows and store behind the new server."""

    place: Place
    address: str

    def user(self, name: str) -> Client:
        """Logged in anew."""
        body = {"name": name, "password": PASSWORD}
        answer = httpx.post(f"{self.address}/api/v1/auth/login", json=body, trust_env=False, timeout=100)
        return Client(self.address, answer.raise_for_status().json()["access_token"])


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    with running_playground() as address, model_server_in_thread(Brain()) as model:
        old = unpacked(tmp_path_factory.mktemp("old"), address)
        assert asyncio.run(verify(old.store, lambda stage, done, total: None, mend=True)).equal
        place = Place(address, address, old.store)
        settings = {**KEPT_FOR_EVER, "FOOTPATH_MODEL_URL": model.url, "FOOTPATH_MODEL_NAME": "rules"}
        with serving(place, old.home, **settings) as (server, _):
            yield Opened(place, server)


@pytest.fixture(scope="module")
def ada(opened: Opened) -> Client:
    return opened.user("ada")


def ended(records: list[EventRecord]) -> RunFinished:
    end = records[-1].event
    assert isinstance(end, RunFinished)
    return end


def made(records: list[EventRecord]) -> list[str]:
    """The operations that were called and answered."""
    results = [one.event.result for one in records if isinstance(one.event, CallFinished)]
    return [one.tool.rpartition("/")[2] for one in results if one.status == "ok"]


def to_the_end(client: Client, run: str) -> list[EventRecord]:
    """All of a run, whatever it asks on the way allowed."""
    records = client.follow(run, until="input.needed")
    while records[-1].event.kind != "run.finished":
        asked = records[-1].event
        assert isinstance(asked, InputNeeded)
        client.call("POST", f"/runs/{run}/inputs/{asked.input}", {"decision": "allow"})
        records += client.follow(run, after=records[-1].seq, until="input.needed")
    return records


@pytest.mark.parametrize(
    ("name", "calls", "effect"),
    [
        ("waits with a plan", ["search_places", "get_current_weather"], 0),
        ("waits with an edited plan", ["search_places", "get_current_weather"], 0),
        ("waits with a plan of a change", ["create_task"], 1),
        ("waits with a call", ["create_task"], 1),
        ("waits with a batch", ["create_task"] * 3, 3),
        ("waits with a call of a template", ["create_task"], 1),
        ("queued", ["search_places", "get_current_weather"], 0),
    ],
)
def test_what_waited_goes_on_and_ends(opened: Opened, ada: Client, name: str, calls: list[str], effect: int) -> None:
    before = len(effects(opened.place))
    records = to_the_end(ada, RUNS[name])
    assert (ended(records).outcome, made(records)) == ("answered", calls)
    assert len(effects(opened.place)) == before + effect


def test_the_plan_that_waits_is_shown_as_it_was_edited(opened: Opened, ada: Client) -> None:
    del opened
    told = ada.follow(RUNS["waits with an edited plan"])
    first = next(one.event.result for one in told if isinstance(one.event, CallFinished))
    assert first.arguments == {"city": "Vishalpur"}


def test_templates_are_programs_in_all_their_versions(ada: Client) -> None:
    first, second = ada.call("GET", f"/templates/{TEMPLATES['Wind']}/versions").json()
    assert [(one["problem"], [*one["parameters"]]) for one in (first, second)] == [("", ["town"]), ("", ["place"])]
    assert first["program"]["inputs"] == first["parameters"] == first["document"]["parameters"]
    assert "search_places(city=town)" in first["program"]["program"]["text"]
    told = ada.call("GET", f"/templates/{TEMPLATES['Wind']}/versions/1/differences?to=2").json()["changes"]
    said = [one["said"] for one in told]
    assert said[0] == "Step 1 (search_places): city is the template's place instead of the template's town."
    assert said[-3:-1] == ["It asks for town no more.", "It asks for place as well."]
    (gone,) = ada.call("GET", f"/templates/{TEMPLATES['Gone']}/versions").json()
    assert gone["problem"] == "no such tool is indexed: Gone/Gone%20Set/gone"
    assert gone["document"]["steps"][0]["arguments"] == {"id": "7"}


def run_of(client: Client, template: str, **parameters: Any) -> httpx.Response:
    conversation = client.call("POST", "/conversations", {}).json()["id"]
    body = {"conversation_id": conversation, "parameters": parameters}
    return client.call("POST", f"/templates/{TEMPLATES[template]}/runs", body)


def test_templates_are_run_at_the_version_that_was_taken(opened: Opened, ada: Client) -> None:
    begun = run_of(opened.user("bob"), "Wind", town="Meghalpet")
    assert (begun.status_code, begun.json()["template_version"]) == (202, 1)
    records = opened.user("bob").follow(begun.json()["id"])
    assert (ended(records).outcome, "23" in ended(records).answer) == ("answered", True)
    task = to_the_end(ada, run_of(ada, "Task", title="Feed the dog").json()["id"])
    assert (ended(task).outcome, made(task)) == ("answered", ["create_task"])
    missing = ended(ada.follow(run_of(ada, "Gone").json()["id"]))
    assert (missing.outcome, "Gone/Gone%20Set/gone" in missing.error) == ("failed", True)


def test_runs_of_before_become_templates_and_are_run_again_with_other_values(ada: Client) -> None:
    """A program with a loop, and one that served a part."""
    told = ada.call("GET", f"/runs/{RUNS['loop']}/document").json()
    (cities,) = told["parameters"]
    assert (cities["value"], told["document"]) == (["Meghalpet", "Vishalpur"], None)
    changed = ada.call("POST", f"/runs/{RUNS['loop']}/rerun", {"values": {cities["input"]: ["Meghalpet"]}})
    assert changed.status_code == 202, changed.text
    end = ended(ada.follow(changed.json()["id"]))
    assert (end.outcome, "Meghalpet" in end.answer, "Vishalpur" in end.answer) == ("answered", True, False)
    body = {"name": "Inhabitants", "run_id": RUNS["loop"], "parameters": {"towns": {"input": cities["input"]}}}
    kept = ada.call("POST", "/templates", body)
    assert kept.status_code == 201, kept.text
    assert kept.json()["content"]["request"] == "How many inhabitants do {towns} have?"
    talk = ada.call("POST", "/conversations", {}).json()["id"]
    values = {"conversation_id": talk, "parameters": {"towns": ["Vishalpur"]}}
    begun = ada.call("POST", f"/templates/{kept.json()['id']}/runs", values).json()
    assert begun["request"] == "How many inhabitants do Vishalpur have?"
    assert ended(ada.follow(begun["id"])).outcome == "answered"
    partly = {"name": "Windy", "run_id": RUNS["partly"], "parameters": {"place": {"input": "city"}}}
    assert (
        ada.call("POST", "/templates", partly).json()["content"]["request"] == "How windy is {place}, and who owns it?"
    )


def test_the_export_of_before_is_imported_and_the_same_store(tmp_path: Path) -> None:
    for name, arguments in (
        ("import", (EXPORT, "--store", tmp_path / "new")),
        ("verify", ("--store", tmp_path / "new")),
        ("export", (tmp_path / "again.jsonl", "--store", tmp_path / "new")),
    ):
        command = [sys.executable, f"scripts/{name}_store.py", *map(str, arguments)]
        done = forked.run(command, cwd=ROOT, timeout=200)
        assert done.returncode == 0, done.stderr
    before = gzip.decompress(EXPORT.read_bytes()).splitlines()[1:-1]
    assert (tmp_path / "again.jsonl").read_bytes().splitlines()[1:-1] == before


def test_the_backup_of_before_is_restored(tmp_path: Path) -> None:
    old = unpacked(tmp_path / "old")
    places = {"FOOTPATH_SERVER_HOME": str(tmp_path / "home"), "FOOTPATH_STORE": str(tmp_path / "store")}
    command = [sys.executable, "scripts/restore.py", str(old.backup), "--unsigned"]  # it is older than signatures
    environment = {**os.environ, **KEPT_FOR_EVER, **places}
    done = forked.run(command, cwd=ROOT, timeout=200, env=environment)
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(tmp_path / "home" / "rows.db")) as rows:
        assert rows.execute("SELECT count(*) FROM template_versions").fetchone() == (4,)
        assert rows.execute("SELECT count(*) FROM runs WHERE status = 'finished'").fetchone() == (len(RUNS),)
