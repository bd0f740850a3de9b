"""The ask command as a user runs it, on the playground's catalogue with recorded calls instead of a server."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import forked_commands

ROOT = Path(__file__).parents[2]
DATA = ROOT / "playground" / "data"
KEYS = {"run", "answer", "outcome", "subtasks", "considered", "backtracks", "model_calls", "tokens", "seconds"}
STEP = {"tool", "site", "arguments", "provenance", "status", "attempts", "response", "note"}
WEATHER = "What is the temperature in Tarnholm right now?"


def script(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(ROOT / "scripts" / name), *arguments]
    return forked_commands.run(command, timeout=60)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("ask") / "store")
    tools, walks = str(DATA / "openapi.json"), str(DATA / "answer")
    built = script("build_graph.py", "--tools", tools, "--trajectories", walks, "--store", folder, "--json")
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two recorded calls: the place, and the weather there."""
    place = {"count": 1, "results": [{"city": "Tarnholm", "latitude": 59.3, "longitude": 13.8}]}
    recorded = [
        ("Location", "atlas_places", "search_places", {"city": "Tarnholm"}, place),
        (
            "Weather",
            "skyline_weather",
            "get_current_weather",
            {"latitude": 59.3, "longitude": 13.8},
            {"temperature": 7.3},
        ),
    ]
    file = tmp_path_factory.mktemp("calls") / "calls.jsonl"
    file.write_text(
        "".join(
            json.dumps({"category": category, "tool_name": toolset, "api_name": api, "arguments": json.dumps(given),
                        "error": "", "response": json.dumps(response), "kind": "ok"}) + "\n"
            for category, toolset, api, given, response in recorded
        )
    )  # fmt: skip
    return str(file)


def test_json_is_one_object_with_the_keys_of_the_contract(store: str, calls: str) -> None:
    asked = script("ask.py", WEATHER, "--store", store, "--executor", "replay", "--calls", calls, "--json")
    assert asked.returncode == 0, asked.stderr
    told = json.loads(asked.stdout)
    assert set(told) == KEYS
    assert told["outcome"] == "answered"
    assert "7.3" in told["answer"]
    [subtask] = told["subtasks"]
    assert [path.rpartition("/")[2] for path in subtask["path"]] == ["search_places", "get_current_weather"]
    assert all(set(step) == STEP for step in subtask["steps"])
    fed = {binding["parameter"]: binding["origin"] for binding in subtask["steps"][1]["provenance"]}
    assert fed == {"latitude": "step", "longitude": "step"}
    assert (told["model_calls"], told["tokens"]) == (0, {"prompt": 0, "completion": 0})


def test_the_walk_the_calls_and_the_answer_are_shown(store: str, calls: str) -> None:
    asked = script("ask.py", WEATHER, "--store", store, "--executor", "replay", "--calls", calls, "--planner", "dfs")
    assert asked.returncode == 0, asked.stderr
    for words in (
        "candidates",
        "→ Atlas Places/search_places",
        "■ finished",
        "plan",
        "found = pick(search_places_2['results'], 'Tarnholm'",
        "line 5 Skyline Weather/get_current_weather(latitude=",
        "■ answered: yes",
        "7.3",
    ):
        assert words in asked.stdout


def test_what_cannot_be_answered_exits_with_1_and_says_why(store: str) -> None:
    asked = script("ask.py", "What is the meaning of life?", "--store", store, "--json")
    assert asked.returncode == 1
    told = json.loads(asked.stdout)
    assert told["outcome"] == "gave_up"
    assert "could not be answered" in told["answer"]


def test_without_a_terminal_what_the_request_leaves_open_is_told_and_nobody_is_waited_for(store: str) -> None:
    """Its input stays open, and nobody ever writes to it."""
    read, write = os.pipe()
    try:
        command = [sys.executable, str(ROOT / "scripts" / "ask.py"), "How many inhabitants does it have?"]
        asked = subprocess.run(
            [*command, "--store", store], stdin=read, capture_output=True, text=True, timeout=60, check=False
        )
    finally:
        os.close(read)
        os.close(write)
    assert asked.returncode == 1, asked.stderr
    assert "nothing here gives its city" in " ".join(asked.stdout.split())
    assert "empty line leaves it open" not in asked.stdout + asked.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["   "], 2, "the request is empty"),
        (["hello", "--planner", "magic"], 2, "no planner is called 'magic'"),
        (["hello", "--policy", "magic"], 2, "no policy is called 'magic'"),
        (["hello", "--executor", "magic"], 2, "no executor is called 'magic'"),
        (["hello", "--calls", "x.jsonl"], 2, "--calls needs --executor replay"),
        (["hello", "--executor", "replay", "--calls", "nowhere.jsonl"], 2, "nowhere.jsonl"),
    ],
)
def test_wrong_use_exits_with_2(store: str, arguments: list[str], code: int, words: str) -> None:
    asked = script("ask.py", *arguments, "--store", store)
    assert (asked.returncode, asked.stdout) == (code, "")
    assert words in asked.stderr
    assert "Traceback" not in asked.stderr


def test_a_missing_store_exits_with_3(tmp_path: Path) -> None:
    asked = script("ask.py", "hello", "--store", str(tmp_path / "none"))
    assert asked.returncode == 3
    assert "none" in asked.stderr
    assert "Traceback" not in asked.stderr


def test_a_request_that_is_not_utf8_is_wrong_use(store: str) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "ask.py"), b"weather in \xff", "--store", store, "--json"]
    asked = forked_commands.run(command, timeout=60)
    assert (asked.returncode, asked.stdout) == (2, "")
    assert "not UTF-8" in asked.stderr
    assert "Traceback" not in asked.stderr
