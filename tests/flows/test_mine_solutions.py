"""The command that mines solutions, over a playground that runs: interrupted at any moment, it goes on, and keeps nothing twice."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from domain.solution import Solution
from synthesis.journal import MiningJournal
from synthesis.triplets import read_triplets
from tests.support import forked_commands
from tests.support.indexed_store import indexed_store
from tests.support.moved_playground import playground_tools
from tests.support.playground_process import running_playground
from tests.support.source_tree import ROOT
from wiring.container import open_container
from wiring.settings import Settings

BOOKS = ("search_books", "get_book_details", "get_book_reviews", "get_author_details")
JOBS = ("searchJobs", "getJob", "getEmployer")


@pytest.fixture(scope="module")
def playground() -> Iterator[str]:
    with running_playground() as address:
        yield address


@pytest.fixture(scope="module")
def environment(playground: str) -> dict[str, str]:
    return {**os.environ, "FOOTPATH_ALLOW_HOSTS": playground.partition("//")[2]}


def command(store: Path, *options: object) -> list[str]:
    return [sys.executable, str(ROOT / "scripts" / "mine_solutions.py"), "--store", str(store), *map(str, options)]


def mined(store: Path, environment: dict[str, str], *options: object) -> subprocess.CompletedProcess[str]:
    done = command(store, *options)
    return forked_commands.run(done, env=environment, timeout=180)


def kept(store: Path) -> dict[str, tuple[tuple[str, ...], str]]:
    """What is in the library: patterns and texts, by id."""

    async def read() -> list[Solution]:
        async with open_container(Settings(), store) as container:
            return [one async for one in (await container.solutions("")).iterate_all()]

    return {one.id: (one.patterns, one.plan.program.text) for one in asyncio.run(read())}


@pytest.fixture(scope="module")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, playground: str, environment: dict[str, str]
) -> dict[str, tuple[tuple[str, ...], str]]:
    """The library of a mining that nothing interrupted."""
    store = asyncio.run(indexed_store(tmp_path_factory.mktemp("whole") / "store", playground_tools(playground, *BOOKS)))
    done = mined(store, environment, "--live", "--json", "--triplets", store.parent / "triplets.jsonl")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    found = kept(store)
    assert figures["kept"] == len(found) > 10
    assert figures["executed"] == figures["kept"] + figures["dropped"].get("its program gives something else", 0)
    assert figures["triplets"] == len(read_triplets(store.parent / "triplets.jsonl")) >= len(found)
    return found


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("lines", [1, 7])
def test_interrupted_at_any_moment_the_same_command_completes(
    tmp_path: Path,
    playground: str,
    environment: dict[str, str],
    undisturbed: dict[str, tuple[tuple[str, ...], str]],
    sign: signal.Signals,
    lines: int,
) -> None:
    store = asyncio.run(indexed_store(tmp_path / "store", playground_tools(playground, *BOOKS)))
    process = subprocess.Popen(
        command(store, "--live"), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for_lines(store, lines)
    process.send_signal(sign)
    _, err = process.communicate(timeout=60)
    if sign == signal.SIGINT and process.returncode != 0:  # It may have been done already.
        assert process.returncode == 130
        assert "Run the same command again" in err
        assert "Traceback" not in err
    before = keys(store)
    done = mined(store, environment, "--live", "--json", "--triplets", tmp_path / "triplets.jsonl")
    assert done.returncode == 0, done.stderr
    assert kept(store) == undisturbed
    assert json.loads(done.stdout)["kept"] == len(undisturbed)
    assert keys(store)[: len(before)] == before
    assert len(keys(store)) == len(set(keys(store)))
    queries = [one.query for one in read_triplets(tmp_path / "triplets.jsonl")]
    assert len(queries) == len(set(queries)) >= len(undisturbed)


def keys(store: Path) -> Sequence[str]:
    return [one.key for one in MiningJournal(store / "mined.jsonl").read_records()]


def wait_for_lines(store: Path, number: int) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        if len(keys(store)) >= number:
            return
        time.sleep(0.01)
    raise AssertionError(f"{number} combinations were never worked on")


def test_mined_again_nothing_is_called_or_kept_anew(
    tmp_path: Path, playground: str, environment: dict[str, str]
) -> None:
    store = asyncio.run(indexed_store(tmp_path / "store", playground_tools(playground, *JOBS)))
    first = mined(store, environment, "--live", "--json", "--toolset", "WorkBoard")
    assert first.returncode == 0, first.stderr
    again = mined(store, environment, "--live", "--json")
    figures = json.loads(again.stdout)
    assert figures.pop("calls") == 0
    assert figures == {key: value for key, value in json.loads(first.stdout).items() if key != "calls"}
    asked = asyncio.run(near(store, "What is the contract type of the job Senior Data Engineer?"))
    assert asked[0].path[0].endswith("searchJobs")


async def near(store: Path, request: str) -> list[Solution]:
    async with open_container(Settings(), store) as container:
        return [one.solution for one in await (await container.solutions("")).find_near(request, 3)]


def test_without_leave_nothing_is_called_and_nothing_unproven_is_kept(
    tmp_path: Path, playground: str, environment: dict[str, str]
) -> None:
    store = asyncio.run(indexed_store(tmp_path / "store", playground_tools(playground, *BOOKS)))
    done = mined(store, environment, "--json")
    figures = json.loads(done.stdout)
    assert (figures["calls"], figures["executed"], figures["kept"]) == (0, 0, 0)
    assert figures["dropped"]["nothing may be called"] == figures["intents"]
    assert kept(store) == {}


def test_what_could_not_be_reached_is_told_and_mined_the_next_time(
    tmp_path: Path, playground: str, environment: dict[str, str]
) -> None:
    store = asyncio.run(indexed_store(tmp_path / "store", playground_tools(playground, *JOBS)))
    guarded = mined(store, {**environment, "FOOTPATH_ALLOW_HOSTS": ""}, "--live", "--json")
    figures = json.loads(guarded.stdout)
    assert (figures["calls"], figures["kept"]) == (0, 0)
    assert figures["dropped"] == {"its service could not be called": figures["intents"]}
    assert "FOOTPATH_ALLOW_HOSTS" in guarded.stderr
    assert json.loads(mined(store, environment, "--live", "--json").stdout)["kept"] > 10


def test_an_unknown_tool_set_is_told(tmp_path: Path, playground: str, environment: dict[str, str]) -> None:
    store = asyncio.run(indexed_store(tmp_path / "store", playground_tools(playground, *BOOKS)))
    done = mined(store, environment, "--toolset", "Nowhere")
    assert done.returncode == 2
    assert "no tool set called 'Nowhere'" in done.stderr
    assert mined(tmp_path / "none", environment).returncode == 3
