"""The Python library on the playground: what docs/python.md shows, both forms of it, and what it refuses."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from footpath import AsyncFootpath, Change, Footpath, UnavailableError, UsageError
from playground.record import DATA
from tests.support.playground_process import running_playground
from tests.support.server_process import catalogue_at
from wiring.run_history import RunHistoryEntry

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
WEATHER = "What is the temperature in Tarnholm right now?"


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    """Of a playground that runs."""
    with running_playground() as address:
        yield address


@pytest.fixture(scope="module")
def place(address: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the playground's document and recorded walks, and a store built of them."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "catalogue.json").write_text(catalogue_at(address), encoding="utf-8")
    (folder / "walks").symlink_to(DATA)
    Footpath.build(folder / "my-store", [folder / "catalogue.json"], [folder / "walks"])
    return folder


@pytest.fixture(scope="module")
def opened(address: str, place: Path) -> Generator[Footpath]:
    with Footpath.open(place / "my-store", allow_hosts={address.removeprefix("http://")}) as footpath:
        yield footpath


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) >= 7


def test_the_examples_run_as_they_stand(
    address: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In order, in one program: what a reader types."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("FOOTPATH_ALLOW_HOSTS", address.removeprefix("http://"))
    names: dict[str, object] = {}
    for text in EXAMPLES:
        exec(compile(text, str(PAGE), "exec"), names)
    said = capsys.readouterr().out
    for words in ("tools", "search_places", "answered 7.3", "14.2", "589835", "has no parameter `town`"):
        assert words in said


def test_an_answer_has_its_calls_its_program_and_what_the_command_prints(opened: Footpath) -> None:
    answer = opened.ask(WEATHER, policy="offline")
    assert (answer.ok, answer.error) == (True, "")
    assert [call.tool.rpartition("/")[2] for call in answer.calls] == ["search_places", "get_current_weather"]
    assert "await get_current_weather(" in answer.program
    assert answer.details["outcome"] == "answered"


def test_events_are_those_of_the_run_and_a_stream_that_is_left_cancels_it(opened: Footpath) -> None:
    records = list(opened.stream(WEATHER, policy="offline"))
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert records[-1].event.kind == "run.finished"
    events = opened.stream(WEATHER, policy="offline")
    assert next(events).event.kind == "run.started"
    events.close()
    assert opened.find("weather", 1)


async def test_within_a_running_loop_it_works_and_does_not_hold_the_loop_up(opened: Footpath) -> None:
    """As a cell of a notebook calls it: from within the loop's thread, and beside it from another."""
    assert opened.ask(WEATHER, policy="offline").ok
    beside = asyncio.create_task(asyncio.to_thread(opened.ask, WEATHER, policy="offline"))
    turns = 0
    while not beside.done():
        await asyncio.sleep(0)
        turns += 1
    assert (await beside).ok
    assert turns > 1


async def test_both_forms_have_the_same_methods() -> None:
    def public(of: type) -> set[str]:
        return {name for name in vars(of) if not name.startswith("_")}

    assert public(Footpath) - public(AsyncFootpath) == {"close"}
    assert public(AsyncFootpath) - public(Footpath) == set()


def test_changes_are_made_where_they_are_allowed_only(opened: Footpath) -> None:
    text = "await create_event(title=title, starts_at='2026-12-01T10:00')"
    refused = opened.run_program(text, {"title": "Tea"})
    assert (refused.outcome, [call.status for call in refused.calls]) == ("gave_up", ["skipped"])
    asked: list[Change] = []

    def approve(change: Change) -> bool:
        asked.append(change)
        return True

    made = opened.run_program(text, {"title": "Tea"}, changes=approve)
    assert [call.status for call in made.calls] == ["ok"]
    [change] = asked
    assert change.arguments["title"] == "Tea"
    assert "Tea" in change.summary


def test_a_run_is_approved_by_a_coroutine_too(opened: Footpath) -> None:
    async def approve(change: Change) -> bool:
        await asyncio.sleep(0)
        return change.arguments["title"] != "Tea"

    answer = opened.run_program("await create_event(title='Tea', starts_at='2026-12-01T10:00')", changes=approve)
    assert [call.status for call in answer.calls] == ["skipped"]


def test_what_is_wrong_is_said_before_anything_is_called(opened: Footpath) -> None:
    with pytest.raises(UsageError, match="line 1"):
        opened.run_program("1 +")
    with pytest.raises(UsageError, match="no tool is called"):
        opened.run_program("await no_such_tool()")
    with pytest.raises(UsageError, match="the request is empty"):
        opened.ask("  ")
    with pytest.raises(UsageError, match="no run of the latest"):
        opened.learn("nothing", "right")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"city": b"Tarnholm"}, "city is no JSON value"),
        ({"city": float("nan")}, "city holds a number or a character that cannot be sent"),
        ({"city": 10**25}, "city holds a whole number beyond 64 bits"),
        ({1: "Tarnholm"}, "arguments must be named by texts, not by 1"),
        ("Tarnholm", "arguments must be a mapping of names to values, not str"),
    ],
)
def test_arguments_that_cannot_be_sent_are_refused_in_words(opened: Footpath, arguments: Any, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        opened.call("get_current_weather", arguments)


@pytest.mark.parametrize("changes", [None, "yes", True, 5])
def test_a_word_for_changes_that_is_none_is_refused(opened: Footpath, changes: Any) -> None:
    with pytest.raises(UsageError, match='changes must be "allow", "deny" or a function'):
        opened.run_program("1", changes=changes)


def test_a_wrong_answer_is_not_given_again(opened: Footpath) -> None:
    request = "How many inhabitants does Tarnholm have?"
    first = opened.ask(request, policy="offline")
    assert first.ok
    opened.learn(first, "wrong")
    again = opened.ask(request, policy="offline")
    assert again.text != first.text or not again.ok


def test_where_there_is_no_store_opening_says_so_and_leaves_no_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with pytest.raises(UnavailableError, match="no Footpath store"):
        Footpath.open(tmp_path)
    with pytest.raises(UsageError, match="FOOTPATH_ALPHA"):
        Footpath.open(tmp_path, alpha="none")
    # Threads of other libraries, which come and go by themselves, are not counted.
    assert [thread for thread in set(threading.enumerate()) - before if thread.name == "footpath"] == []


def test_a_closed_store_says_so(place: Path) -> None:
    footpath = Footpath.open(place / "my-store")
    footpath.close()
    footpath.close()
    with pytest.raises(RuntimeError, match="closed"):
        footpath.find("weather")


def test_a_conversation_at_the_terminal_goes_on_from_what_was_found(address: str, place: Path, tmp_path: Path) -> None:
    """``footpath chat``, its input a file: each question is served with what came before, and answers are judged."""
    store = shutil.copytree(place / "my-store", tmp_path / "store", ignore=shutil.ignore_patterns("asked.jsonl"))
    done = subprocess.run(
        [sys.executable, "-m", "footpath", "chat", "--store", str(store), "--policy", "offline"],
        input=f"/right\n{WEATHER}\n/right\nAnd in Caldera?\n/quit\nnever asked\n",
        env={**os.environ, "FOOTPATH_ALLOW_HOSTS": address.removeprefix("http://")},
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "nothing was answered yet" in done.stderr
    first, then, second = done.stdout.partition("And in Caldera?")
    assert "get_current_weather" in first
    assert "7.3" in first
    assert then
    assert "14.2" in second
    assert "never asked" not in done.stdout
    lines = (store / "asked.jsonl").read_text(encoding="utf-8").splitlines()
    [judged] = [run for run in map(RunHistoryEntry.model_validate_json, lines) if run.verdict]
    assert (judged.judged.request, judged.verdict) == (WEATHER, "right")
