"""``evaluate.py answers`` as a user runs it."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from tests.support import forked_commands
from tests.support.playground_process import running_playground
from wiring.store_build import BuildOptions, build

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, str(ROOT / "scripts" / "evaluate.py"), "answers"]
WEATHER = {
    "id": "weather",
    "request": "What is the temperature in Tarnholm right now?",
    "calls": [{"operation": "search_places"}, {"operation": "get_current_weather"}],
    "expect": {"numbers": [99.9], "tolerance": 0.05},
}
CATALOGUE = {
    "openapi": "3.1.0",
    "info": {"title": "Chess", "version": "1"},
    "servers": [{"url": "http://127.0.0.1:9"}],
    "paths": {"/opening": {"get": {"operationId": "get_opening", "summary": "A chess opening of the day"}}},
}
HOPELESS = {"id": "hopeless", "request": "Iron my shirts, please.", "answerable": False, "why": "no tool irons"}


def evaluate(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return forked_commands.run(
        [*COMMAND, *arguments],
        cwd=ROOT, env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", **settings},
        timeout=80,
    )  # fmt: skip


def write(path: Path, *lines: object) -> str:
    path.write_bytes(b"\n".join(map(orjson.dumps, lines)) + b"\n")
    return str(path)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of one tool, which helps with nothing."""
    folder = tmp_path_factory.mktemp("stores")
    catalogue = folder / "openapi.json"
    catalogue.write_bytes(orjson.dumps(CATALOGUE))
    asyncio.run(build(BuildOptions(tools=(catalogue,), store=folder / "store"), lambda stage, done, total: None))
    return folder / "store"


@pytest.mark.timeout(120)
def test_with_a_playground_of_its_own(tmp_path: Path) -> None:
    """The value that is expected is wrong on purpose: the answer does not hold it, and is shown unless it is held out."""
    tuned, held_out = write(tmp_path / "two.jsonl", WEATHER, HOPELESS), tmp_path / "held_out.jsonl"
    write(held_out, {**WEATHER, "id": "kept"})
    done = evaluate("--playground", "--requests", tuned, "--requests", str(held_out), "--json")
    assert done.returncode == 0, done.stderr
    found = orjson.loads(done.stdout)
    assert found["groups"]["two"] == {"n": 1, "right": 0, "share": 0}
    assert found["groups"]["unanswerable"]["n"] == 1
    assert found["overall"]["n"] == 2
    (failure,) = found["failures"]
    assert failure["id"] == "weather"
    assert failure["path"] == ["search_places", "get_current_weather"]
    assert failure["cause"] == "wrong value"
    assert found["failures_withheld"] == 1
    assert "kept" not in done.stdout + done.stderr


def test_with_a_store_and_a_playground_that_runs(tmp_path: Path, store: Path) -> None:
    requests = write(tmp_path / "one.jsonl", WEATHER)
    with running_playground() as address:
        host = address.removeprefix("http://")
        arguments = ("--store", str(store), "--address", address, "--requests", requests)
        done = evaluate(*arguments, FOOTPATH_ALLOW_HOSTS=host)
        refused = evaluate(*arguments)
    assert done.returncode == 0, done.stderr
    assert "weather gave up" in done.stdout
    assert "What is the temperature in Tarnholm right now?" in done.stdout
    assert refused.returncode == 2
    assert f"FOOTPATH_ALLOW_HOSTS={host}" in refused.stderr


def test_no_playground_answers(tmp_path: Path, store: Path) -> None:
    requests = write(tmp_path / "one.jsonl", WEATHER)
    done = evaluate(
        "--store", str(store), "--address", "http://127.0.0.1:9", "--requests", requests,
        FOOTPATH_ALLOW_HOSTS="127.0.0.1:9",
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "")
    assert "no playground answers at http://127.0.0.1:9" in done.stderr


def test_wrong_use(tmp_path: Path, store: Path) -> None:
    requests = write(tmp_path / "one.jsonl", WEATHER)
    both = evaluate("--playground", "--store", str(store), "--requests", requests)
    assert both.returncode == 2
    assert "leave --store out" in both.stderr
    alone = (
        "--at-once",
        "2",
        "--patience",
        "9",
        "--no-schemas",
        "--offer-tokens",
        "900",
        "--slips",
        "0.2",
        "--results",
        "x",
    )
    apart = evaluate("--store", str(store), "--requests", requests, *alone)
    assert apart.returncode == 2
    assert (
        "--at-once, --patience, --no-schemas, --offer-tokens, --slips, --results: only with --playground"
        in apart.stderr
    )
    assert evaluate("--requests", str(tmp_path / "none.jsonl")).returncode == 2
    assert evaluate("--store", str(tmp_path / "none"), "--requests", requests).returncode == 3
    broken = tmp_path / "broken.jsonl"
    broken.write_text("{")
    done = evaluate("--requests", str(broken))
    assert done.returncode == 2
    assert "broken.jsonl:1" in done.stderr
    assert "Traceback" not in done.stderr
