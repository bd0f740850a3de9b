"""``scripts/show_tool.py`` as a person or a program runs it."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from domain.tool import FINISH, ToolDoc
from graph.backends.sqlite_graph import SqliteGraph
from graph.facts import LiveBatch
from tests.support import forked_commands
from tests.support.graph_samples import A, B, C, batch, document, walked
from wiring.store_folder import StoreFolder

ROOT = Path(__file__).resolve().parents[2]


def show(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "scripts/show_tool.py", *map(str, arguments)]
    return forked_commands.run(command, cwd=ROOT, timeout=60)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = StoreFolder(tmp_path_factory.mktemp("store"))
    folder.open(create=True)

    async def fill() -> None:
        graph = SqliteGraph(folder.graph)
        await graph.setup()
        hostile = document(A, "geocode_for_geo").model_copy(update={"description": "red \x1b[31m[bold]text[/nope]"})
        await graph.put_tools([hostile, document(B, "now"), document(C, "now")])
        await graph.apply(batch("k", {(A, B): 3, (A, FINISH): 1}, {A: 4}, {A: 3}))
        await graph.close()

    asyncio.run(fill())
    return folder.root


def test_json_is_one_object_on_stdout(store: Path) -> None:
    done = show(A, "--store", store, "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["id"] == A
    assert ToolDoc.model_validate(said["document"]).function == "geocode_for_geo"
    assert [(s["id"], s["weight"]) for s in said["successors"]] == [(B, 0.75), (FINISH, 0.25)]
    assert done.stderr == ""


def test_the_name_of_its_api_will_do_and_several_are_listed(tmp_path: Path) -> None:
    folder = StoreFolder(tmp_path)
    folder.open(create=True)

    async def fill() -> None:
        graph = SqliteGraph(folder.graph)
        await graph.setup()
        named = {A: "Remove All", B: "now", C: "now"}
        await graph.put_tools(
            [document(tool, str(tool)).model_copy(update={"api": api}) for tool, api in named.items()]
        )
        await graph.close()

    asyncio.run(fill())
    said = json.loads(show("remove_all", "--store", tmp_path, "--json").stdout)
    assert (said["id"], said["side_effect"]["kind"], said["side_effect"]["by"]) == (A, "unknown", "name")
    told = show("Remove All", "--store", tmp_path).stdout
    assert "its name begins with “remove”" in told
    several = show("now", "--store", tmp_path)
    assert (several.returncode, B in several.stderr, C in several.stderr) == (2, True, True)


def test_people_get_the_same_without_control_characters(store: Path) -> None:
    done = show("geocode_for_geo", "--store", store)
    assert done.returncode == 0, done.stderr
    assert "0.67 (3 of 4 recorded calls" in done.stdout
    assert "0.67 in the long run" in done.stdout
    assert "[bold]text[/nope]" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("now", "names 2 tools"),
        ("geocode_for_goe", "near names:\n  geocode_for_geo"),
        ("now\udcff", "the name is not UTF-8"),
    ],
)
def test_ambiguous_and_unknown_names_exit_with_2(store: Path, name: str, says: str) -> None:
    done = show(name, "--store", store, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_no_store_exits_with_3(tmp_path: Path) -> None:
    done = show(A, "--store", tmp_path / "none", "--json")
    assert (done.returncode, done.stdout) == (3, "")
    assert "build_graph.py" in done.stderr
    assert not (tmp_path / "none").exists()


def test_the_evidence_names_the_runs(tmp_path: Path) -> None:
    folder = StoreFolder(tmp_path)
    folder.open(create=True)

    async def learn() -> None:
        graph = SqliteGraph(folder.graph)
        await graph.setup()
        await graph.put_tools([document(A, "geocode_for_geo")])
        await graph.learn(walked("run:7", A, B, score=0.5))
        await graph.close()

    asyncio.run(learn())
    found = json.loads(show(A, "--store", tmp_path, "--json").stdout)
    at = "2026-05-04T12:00:00.000000+00:00"
    assert found["evidence"]["runs"] == [{"run": "run:7", "at": at, "score": 0.5, "outcomes": ["ok"]}]
    told = show("geocode_for_geo", "--store", tmp_path).stdout
    assert "learnt from runs" in told
    assert "run:7" in told


def test_availability_is_told_over_time_and_part_by_part_and_reset(tmp_path: Path) -> None:
    folder = StoreFolder(tmp_path)
    folder.open(create=True)

    async def learn() -> None:
        graph = SqliteGraph(folder.graph)
        await graph.setup()
        await graph.put_tools([document(A, "geocode_for_geo")])
        await graph.apply(batch("k", {}, {A: 209}, {A: 209}))
        for run, outcome in enumerate(("ok", "ok", "transient", "transient", "transient")):
            await graph.learn(LiveBatch(f"run:{run}", {}, (), ((A, outcome),)))
        await graph.close()

    asyncio.run(learn())
    found = json.loads(show(A, "--store", tmp_path, "--json").stdout)
    history = [one["availability"] for one in reversed(found["evidence"]["history"])]
    assert history[0] < history[1] > history[2] > history[3] > history[4] == pytest.approx(found["availability"])
    parts = found["evidence"]["parts"]
    assert parts["counted"] == 50
    assert parts["long_run"] * parts["of_late"] == pytest.approx(found["availability"])
    told = show(A, "--store", tmp_path).stdout
    assert all(words in told for words in ("over time", "█", "in the long run", "failures in a row"))

    command = [sys.executable, "scripts/reset_tool.py", A, "--store", str(tmp_path), "--json"]
    done = forked_commands.run(command, cwd=ROOT, timeout=60)
    said = json.loads(done.stdout)
    assert (said["tool"], said["forgotten"]) == (A, 5)
    assert said["availability"] == {"before": pytest.approx(found["availability"]), "after": 51 / 52}
    again = json.loads(show(A, "--store", tmp_path, "--json").stdout)
    assert (again["availability"], again["evidence"]["runs"], again["evidence"]["calls"]) == (51 / 52, [], 209)
