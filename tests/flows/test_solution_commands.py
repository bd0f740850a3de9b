"""``scripts/solutions.py`` as whoever keeps a store runs it, and ``ask.py``'s word on which run it was."""

import asyncio
import importlib
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from agent.learning.user_verdict import JudgedRun
from graph.backends.sqlite_graph import SqliteGraph
from tests.support import forked_commands
from tests.support.scholar_tools import COLLEAGUES, DOCS, PERSON
from wiring.run_history import RunHistoryEntry
from wiring.store_folder import StoreFolder

ROOT = Path(__file__).resolve().parents[2]
PATTERN = "Who are the colleagues of {name}?"
ASKED = "Who are the colleagues of Tom Riddle?"


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The script's modules are found as they are where it is run."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])


def run(*arguments: object) -> Result:
    """The command in this process, which has read its libraries already."""
    return CliRunner().invoke(importlib.import_module("solutions").app, list(map(str, arguments)))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = StoreFolder(tmp_path / "store")
    folder.open(create=True)
    _put(folder)
    (tmp_path / "colleagues.py").write_text(COLLEAGUES, encoding="utf-8")
    return folder.root


def _put(folder: StoreFolder, **changes: object) -> None:
    async def fill() -> None:
        graph = SqliteGraph(folder.graph)
        await graph.setup()
        await graph.put_tools([one.model_copy(update=changes if one.id == PERSON else {}) for one in DOCS.values()])
        await graph.close()

    asyncio.run(fill())


def test_a_persons_program_is_kept_found_judged_and_forgotten(store: Path) -> None:
    def say(*arguments: object) -> Any:
        done = run(*arguments, "--store", store, "--json")
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    given = ("--pattern", PATTERN, "--input", "name=string")
    name = say("add", store.parent / "colleagues.py", *given)["id"]
    listed = say("list", "--request", "who are the colleagues of Ann Lee?")["solutions"]
    assert [(one["id"], one["patterns"], one["origin"]) for one in listed] == [(name, [PATTERN], "person")]
    assert [one["id"] for one in say("list", "--tool", "searchPerson")["solutions"]] == [name]
    shown = say("show", name[:8])
    assert (shown["path"][0], shown["parameters"], shown["drift"]) == (PERSON, {"name": {"type": "string"}}, [])
    judged = JudgedRun(run="r-1", request=ASKED, answered=True, at=datetime.now(UTC), solutions=(name,))
    (store / "asked.jsonl").write_text(RunHistoryEntry(judged=judged).model_dump_json() + "\n", encoding="utf-8")
    say("judge", "r-1", "wrong")
    assert say("show", name)["wrong"] == [ASKED]
    assert say("list", "--request", ASKED)["solutions"] == []
    say("judge", "r-1", "clear")
    assert say("show", name)["wrong"] == []
    assert say("promote", name)["shared"] == name  # this store has no owner: all share it already
    _put(StoreFolder(store), method="POST")
    assert (say("list", "--request", ASKED)["solutions"], say("show", name)["drift"]) == ([], [PERSON])
    assert say("check", name)["checked"] == name
    assert [one["id"] for one in say("list", "--request", ASKED)["solutions"]] == [name]
    command = [sys.executable, "scripts/solutions.py", "forget", name, "--store", str(store)]
    assert forked_commands.run(command, cwd=ROOT, timeout=100).returncode == 0
    assert run("show", name, "--store", store).exit_code == 2


@pytest.mark.parametrize(
    ("text", "pattern", "said"),
    [
        ("await nothing()", PATTERN, "no tool is called 'nothing'"),
        ("people = await searchPerson(name=name)\npeople[0]['id']", "Who is that?", "where the value of name stands"),
        ("people = await searchPerson(name=name)\npeople[0]['id']", "Who is {person}?", "names person, which is no input"),
        ("await searchPerson(name=name)", PATTERN, "makes no answer of its own"),
        ("people = await searchPerson(title=name)\n'it'", PATTERN, "line 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_solution_is_told(store: Path, text: str, pattern: str, said: str) -> None:
    file = store.parent / "program.py"
    file.write_text(text, encoding="utf-8")
    done = run("add", file, "--pattern", pattern, "--input", "name=string", "--store", store)
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr


def test_an_unknown_run_is_told(store: Path) -> None:
    done = run("judge", "no-such-run", "wrong", "--store", store)
    assert (done.exit_code, "ask.py says a run's id" in done.stderr) == (2, True)


def test_an_empty_library_and_an_input_that_is_not_said_are_told(store: Path) -> None:
    done = run("list", "--store", store)
    assert (done.exit_code, done.stdout, "nothing is kept yet" in done.stderr) == (0, "", True), done.stderr
    done = run("add", store.parent / "colleagues.py", "--pattern", PATTERN, "--store", store)
    assert (done.exit_code, "add --input name=string" in done.stderr) == (2, True), done.stderr
