"""The ask command before it changes something: what is asked at a terminal, what happens without one, and how many changes a run makes."""

import json
import os
import re
import sys
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import httpx
import pytest

from tests.support.playground_process import running_playground
from tests.support.server_process import ROOT, Place, built
from tests.support.terminal import alone, at_a_terminal

TASK = 'Add a task "Clean the greenhouse" with normal priority to my list, due on 2026-07-04.'
TWO = (
    'First add a task "Clean the greenhouse" with normal priority to my list, due on 2026-07-04, and then enter "Greenhouse party" '
    "in my calendar for 2026-07-05 at 16:00 in Porto Sereno. I want both ids."
)
BOTH = "How many inhabitants does Meghalpet have? Then cancel the order HM-48546."

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Generator[Place]:
    with running_playground() as address:
        yield built(tmp_path_factory.mktemp("changes"), address)


@pytest.fixture(autouse=True)
def _nothing_changed_yet(place: Place) -> None:
    httpx.post(f"{place.playground}/_reset", trust_env=False).raise_for_status()


@dataclass(frozen=True)
class Asked:
    """``told``: what was written, on one line. ``made``: the changes that the playground saw."""

    code: int
    told: str
    made: list[str]


def ask(place: Place, request: str, *options: str, answers: Sequence[str] | None = None, **variables: str) -> Asked:
    """``ask.py`` as a process. ``answers``: typed at a terminal, one after each question; without any there is no terminal."""
    command = [
        sys.executable,
        str(ROOT / "scripts" / "ask.py"),
        request,
        "--store",
        str(place.store),
        "--no-learn",
        "--planner",
        "dfs",
        *options,
    ]
    host = place.tools.removeprefix("http://")
    environment = {**os.environ, "FOOTPATH_ALLOW_HOSTS": host, "COLUMNS": "200", "NO_COLOR": "1", **variables}
    code, told = alone(command, environment) if answers is None else at_a_terminal(command, environment, answers)
    ledger = httpx.get(f"{place.playground}/_ledger", trust_env=False).raise_for_status().json()
    return Asked(code, " ".join(told.split()), [effect["tool"] for effect in ledger])


def test_a_change_is_asked_about_with_its_values_and_where_they_come_from(place: Place) -> None:
    asked = ask(place, TASK, answers=["y\n"])
    assert (asked.code, asked.made) == (0, ["create_task"])
    host = place.tools.removeprefix("http://")
    assert f"May this call be made? Doable/create_task of {host}" in asked.told
    assert "It changes something: it is called by POST." in asked.told
    assert 'title = "Clean the greenhouse" (you said it)' in asked.told
    assert 'due_date = "2026-07-04" (you said it)' in asked.told


@pytest.mark.parametrize("typed", ["n\n", "\x04"], ids=["no", "end of the input"])
def test_what_is_not_allowed_is_not_made(place: Place, typed: str) -> None:
    asked = ask(place, TASK, answers=[typed])
    assert (asked.code, asked.made) == (1, [])
    assert "Not done: create task" in asked.told
    assert "You did not allow this call" in asked.told


def test_an_answer_that_is_none_is_asked_for_again(place: Place) -> None:
    asked = ask(place, TASK, answers=["perhaps\n", "\n", "yes\n"])
    assert (asked.code, asked.made) == (0, ["create_task"])
    assert asked.told.count("May this call be made?") == 1


def test_a_denied_change_leaves_the_other_answers(place: Place) -> None:
    asked = ask(place, BOTH, answers=["n\n"])
    assert (asked.code, asked.made) == (1, [])
    assert re.search(r"population: [\d,. ]+", asked.told)
    assert "Not done: cancel order" in asked.told


def test_each_of_two_tools_is_asked_about(place: Place) -> None:
    asked = ask(place, TWO, answers=["a\n", "n\n"], FOOTPATH_SUBTASKS_AT_ONCE="1")
    assert (asked.code, asked.made) == (1, ["create_task"])
    assert "Done: create task" in asked.told
    assert "Not done: create event" in asked.told


def test_without_a_terminal_nothing_is_changed_and_it_is_said_how(place: Place) -> None:
    asked = ask(place, TASK)
    assert (asked.code, asked.made) == (1, [])
    assert "Not done: create task" in asked.told
    assert (
        "create_task was not called. It changes something: it is called by POST. Nobody could be asked." in asked.told
    )
    assert "--yes allows all changes of a run" in asked.told


def test_with_yes_nobody_is_asked(place: Place) -> None:
    asked = ask(place, TWO, "--yes")
    assert (asked.code, sorted(asked.made)) == (0, ["create_event", "create_task"])


def test_a_dry_run_reads_and_shows_its_changes(place: Place) -> None:
    asked = ask(place, BOTH, "--dry-run", "--json")
    assert (asked.code, asked.made) == (1, [])
    assert "Not made, since this is a dry run: Harbour Orders/cancel_order" in asked.told
    assert 'order_number = "HM-48546" (you said it)' in asked.told
    assert "population" in asked.told


def test_a_run_makes_no_more_changes_than_its_budget_whatever_is_allowed(place: Place) -> None:
    asked = ask(place, TWO, "--yes", "--json", FOOTPATH_MAX_CHANGES="1", FOOTPATH_SUBTASKS_AT_ONCE="1")
    assert (asked.code, asked.made) == (1, ["create_task"])
    told = json.loads(asked.told)
    assert told["outcome"] == "budget"
    assert "create_event was not called: a run may make 1 change (FOOTPATH_MAX_CHANGES)" in told["answer"]


def test_beyond_the_budget_nobody_is_asked(place: Place) -> None:
    asked = ask(place, TASK, answers=[], FOOTPATH_MAX_CHANGES="0")
    assert (asked.code, asked.made) == (1, [])
    assert "May this call be made?" not in asked.told


def test_yes_and_dry_run_do_not_go_together(place: Place) -> None:
    asked = ask(place, TASK, "--yes", "--dry-run")
    assert asked.code == 2
    assert "choose one" in asked.told
