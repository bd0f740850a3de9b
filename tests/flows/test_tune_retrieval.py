"""``scripts/tune_retrieval.py``: a line for each combination on stdout, and nothing else there."""

import asyncio
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from domain.tool import ToolDoc, make_tool_id
from tests.support import forked_commands
from tests.support.indexed_store import indexed_store

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "tune_retrieval.py"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tool = ToolDoc(
        id=make_tool_id("Weather", "Sky", "rain"),
        category="Weather",
        toolset="Sky",
        api="rain",
        function="rain_for_sky",
        description="Will it rain in a city?",
    )
    return asyncio.run(indexed_store(tmp_path_factory.mktemp("tune") / "store", [tool]))


def tune(
    store: Path, folder: Path, function: str, measured: str = "something else", source: str = "mine"
) -> subprocess.CompletedProcess[str]:
    call = {"category": "Weather", "tool_name": "Sky", "function": function, "ok": True}
    walked = {"id": "t", "source": source, "query": "rain in Rome", "finish": "give_answer", "calls": [call]}
    asked = {"split": "s", "query": measured, "relevant": [{"tool": "Sky", "api": "rain"}]}
    for name, line in (("trajectories", walked), ("measured", asked)):
        (folder / name).write_bytes(orjson.dumps(line) + b"\n")
    files = ["--trajectories", folder / "trajectories", "--measured", folder / "measured"]
    chosen = ["--k1", "1.5", "--b", "0.9", "--weight", "0.4", "--weight", "0.5"]
    command = [sys.executable, SCRIPT, "--store", store, *files, *chosen]
    return forked_commands.run([*map(str, command)], timeout=60)


def test_a_line_for_each(store: Path, tmp_path: Path) -> None:
    done = tune(store, tmp_path, "rain_for_sky")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("k1 1.5 b 0.9 weight 0.4: 1.0000  one tool set: 1.000")
    assert second.startswith("k1 1.5 b 0.9 weight 0.5: ")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"function": "another"}, "none of the 1 trajectories"),
        ({"function": "rain_for_sky", "measured": "rain in Rome"}, "which --measured leaves out"),
        ({"function": "rain_for_sky", "source": "rotbench"}, "which --without leaves out"),
    ],
)
def test_why_no_request_is_left(store: Path, tmp_path: Path, given: dict[str, str], told: str) -> None:
    done = tune(store, tmp_path, **given)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
