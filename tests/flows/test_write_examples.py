"""``scripts/write_examples.py`` as a user runs it: without a model, and with one that speaks the real protocol."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import orjson
import pytest

from tests.models.openai_replies import ChatRequest, Says
from tests.models.openai_server import model_server_in_thread
from tests.support import forked_commands

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "write_examples.py"
APIS = {"rain": "Get the rain forecast of a city", "wind": "Get the wind speed over a city", "moon": "Returns the moons of a planet"}  # fmt: skip


def lines(path: Path, *records: Mapping[str, object]) -> str:
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return str(path)


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    tools = [
        {"category": "c", "tool_name": "sky", "api_name": api, "function": f"{api}_for_sky", "description": about}
        for api, about in APIS.items()
    ]
    call = {"function": "rain_for_sky", "arguments": {"city": "Oslo"}, "observation": "{}", "ok": True}
    walked = {"id": "1", "source": "s", "query": "will it rain", "calls": [call], "finish": "give_answer"}
    relevant = [{"category": "c", "tool": "sky", "api": "wind"}]
    query = {"split": "G1", "query_id": "1", "query": "a measured request", "relevant": relevant}
    return [
        "--tools", lines(tmp_path / "tools.jsonl", *tools),
        "--trajectories", lines(tmp_path / "trajectories.jsonl", walked),
        "--measured", lines(tmp_path / "measured.jsonl", query),
        "--out", str(tmp_path / "out"),
        "--recipe", str(SCRIPT.parents[1] / "retriever" / "training" / "recipes" / "minilm.toml"),
    ]  # fmt: skip


def run(*arguments: str, url: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "FOOTPATH_MODEL_URL": url, "FOOTPATH_MODEL_NAME": "rules" if url else ""}
    return forked_commands.run(
        [sys.executable, str(SCRIPT), *arguments],
        env=environment,
        timeout=100,
    )


def held(folder: Path, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "out" / name).read_text().splitlines()]


def test_offline_it_writes_requests_for_apis_that_nobody_asked_for(given: list[str], tmp_path: Path) -> None:
    done = run(*given, "--offline")
    assert done.returncode == 0, done.stderr
    requests = held(tmp_path, "requests.jsonl")
    assert {one["tool"] for one in requests} == {"c/sky/wind", "c/sky/moon"}
    assert json.loads(done.stdout) == {
        "requests": {"written": len(requests), "dropped": {"not_found": 0, "near_measured": 0}}
    }
    assert not (tmp_path / "out" / "negatives.jsonl").exists()
    assert run(*given, "--offline", "--what", "requests").returncode == 0, "its own it may replace"


def test_offline_it_writes_no_negatives_and_replaces_nothing_that_a_model_wrote(
    given: list[str], tmp_path: Path
) -> None:
    for asked in (("--what", "negatives"), ("--what", "requests", "--what", "negatives")):
        refused = run(*given, "--offline", *asked)
        assert refused.returncode == 2
        assert refused.stderr == "--offline writes requests only: leave out --what negatives, or --offline\n"
    assert not (tmp_path / "out").exists()
    written = tmp_path / "out" / "requests.jsonl"
    written.parent.mkdir()
    for by in ("a model", ""):
        by_others = {"request": "tell me of the moon", "tool": "c/sky/moon", "by": by}
        lines(written, {**by_others, "by": "offline"}, by_others)
        kept = written.read_bytes()
        refused = run(*given, "--offline")
        assert refused.returncode == 2
        assert f"{written} holds requests by {by or 'others'}: name another --out" in refused.stderr
        assert written.read_bytes() == kept


def test_with_a_model_it_writes_both_and_asks_for_nothing_twice(given: list[str], tmp_path: Path) -> None:
    def writes(request: ChatRequest) -> Says:
        documents = [
            {"api": f"{one} gauge", "description": f"The {one} of a gauge", "parameters": ["id"]} for one in "abc"
        ]
        about = request.prompt.partition("\napi: ")[2].partition("\n")[0]
        requests = [f"tell me of the {about}", f"what about the {about} then"]
        return Says(json.dumps({"documents": documents} if "[[request]]" in request.prompt else {"requests": requests}))

    with model_server_in_thread(writes) as server:
        done = run(*given, url=server.url)
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == 3
        again = run(*given, url=server.url)
        assert len(server.requests) == 3
    assert len(held(tmp_path, "negatives.jsonl")) == 3
    assert {one["request"] for one in held(tmp_path, "requests.jsonl")} >= {"tell me of the moon"}
    assert json.loads(done.stdout)["negatives"]["usage"]["requests"] == 1
    assert json.loads(again.stdout)["requests"]["usage"]["kept"] == 2


def test_files_without_tools_or_trajectories_are_told(given: list[str], tmp_path: Path) -> None:
    places = {name: given.index(f"--{name}") + 1 for name in ("tools", "trajectories")}
    tools, trajectories = (given[place] for place in places.values())
    empty = lines(tmp_path / "empty.jsonl")
    for option, path, told in (
        ("tools", empty, f"{empty} holds no tool: it is empty"),
        ("tools", trajectories, f"{trajectories}:1: 'category' must be a text"),
        ("trajectories", empty, f"{empty} holds no trajectory: none of its 0 lines has both"),
        ("trajectories", tools, f"{tools} holds no trajectory: none of its 3 lines has both a 'query' and 'calls'"),
    ):
        done = run(*[*given[: places[option]], path, *given[places[option] + 1 :]], "--offline")
        assert done.returncode == 2
        assert done.stderr.startswith(told)
    assert not (tmp_path / "out").exists()


def test_without_a_model_it_says_what_to_do(given: list[str], tmp_path: Path) -> None:
    done = run(*given)
    assert done.returncode == 2
    assert "take --offline" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_model_that_is_not_there_ends_it_with_3(given: list[str]) -> None:
    done = run(*given, url="http://127.0.0.1:9/v1")
    assert done.returncode == 3
    assert "the same command goes on" in " ".join(done.stderr.split())
