"""``scripts/mark_edge.py``, ``mark_tool.py`` and ``mark_feed.py`` as an administrator runs them."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from domain.tool import FeedMark, Parameter, ToolDoc
from domain.tool_source import make_source_mark
from graph.backends.sqlite_graph import SqliteGraph
from graph.links import FeedLink
from tests.support import forked_commands
from tests.support.graph_samples import A, B, C, batch, document
from wiring.store_folder import StoreFolder

TAKES = document(B, "now").model_copy(update={"parameters": (Parameter(name="place"),)})
ROOT = Path(__file__).resolve().parents[2]


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, f"scripts/{script}.py", *map(str, arguments)]
    return forked_commands.run(command, cwd=ROOT, timeout=60)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = StoreFolder(tmp_path / "store")
    folder.open(create=True)

    async def fill() -> None:
        graph = SqliteGraph(folder.graph)
        await graph.setup()
        await graph.put_tools([document(A, "geocode"), TAKES, document(C, "now")])
        await graph.apply(batch("k", {(A, B): 3, (A, C): 1}))
        await graph.close()

    asyncio.run(fill())
    return folder.root


def successors(store: Path) -> list[dict[str, object]]:
    return json.loads(run("show_tool", A, "--store", store, "--json").stdout)["successors"]


def test_an_edge_is_banned_and_cleared(store: Path) -> None:
    done = run("mark_edge", "geocode", B, "ban", "--store", store, "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"source": A, "target": B, "mark": "ban"})
    banned = {"id": B, "weight": 0.0, "imported": 3, "live": 0, "mark": "ban"}
    assert successors(store) == [{"id": C, "weight": 1.0, "imported": 1, "live": 0}, banned]
    assert "[ban]" in run("show_tool", A, "--store", store).stdout
    assert run("mark_edge", A, B, "clear", "--store", store).returncode == 0
    assert [link["weight"] for link in successors(store)] == [0.75, 0.25]


def test_what_cannot_be_marked_is_told(store: Path, tmp_path: Path) -> None:
    ambiguous = run("mark_edge", A, "now", "pin", "--store", store)
    assert (ambiguous.returncode, ambiguous.stdout) == (2, "")
    assert B in ambiguous.stderr
    assert run("mark_edge", A, B, "hide", "--store", store).returncode == 2
    assert run("mark_edge", "nobody", B, "pin", "--store", store).returncode == 2
    assert run("mark_edge", A, B, "pin", "--store", tmp_path / "none").returncode == 3


def effect(store: Path) -> tuple[str, str]:
    found = json.loads(run("show_tool", A, "--store", store, "--json").stdout)["side_effect"]
    return found["kind"], found["by"]


def test_a_tool_is_marked_both_ways_and_cleared(store: Path) -> None:
    assert effect(store) == ("reads", "method")
    done = run("mark_tool", "geocode", "changes", "--store", store, "--json")
    told = {"tool": A, "side_effect": {"kind": "changes", "by": "administrator"}}
    assert (done.returncode, json.loads(done.stdout)) == (0, told)
    assert effect(store) == ("changes", "administrator")
    assert "reads (an administrator said so)" in run("mark_tool", A, "reads", "--store", store).stderr
    assert effect(store) == ("reads", "administrator")
    assert run("mark_tool", A, "clear", "--store", store).returncode == 0
    assert effect(store) == ("reads", "method")


def test_a_tool_that_cannot_be_marked_is_told(store: Path, tmp_path: Path) -> None:
    assert run("mark_tool", "now", "reads", "--store", store).returncode == 2
    assert run("mark_tool", A, "deletes", "--store", store).returncode == 2
    unknown = run("mark_tool", "nobody", "reads", "--store", store)
    assert (unknown.returncode, "no tool is called" in unknown.stderr) == (2, True)
    assert run("mark_tool", A, "reads", "--store", tmp_path / "none").returncode == 3


def test_what_a_sources_tool_does_is_said_with_its_source(store: Path) -> None:
    """The rows of the server would overwrite it."""
    source = "01980f6e-5f43-7c11-9d4e-2f1f6a1b0c01"

    async def put() -> ToolDoc:
        graph = SqliteGraph(StoreFolder(store).graph)
        await graph.setup()
        (doc,) = (await graph.get_tools([A])).values()
        if not doc.source:
            await graph.put_tools([doc.model_copy(update={"source": make_source_mark(source)})])
        await graph.close()
        return doc

    asyncio.run(put())
    refused = run("mark_tool", A, "changes", "--store", store)
    assert (refused.returncode, f"/sources/{source}/tools/{A}" in refused.stderr) == (2, True)
    assert asyncio.run(put()).marked == ""


def test_a_mark_moves_with_its_store(store: Path, tmp_path: Path) -> None:
    run("mark_tool", A, "changes", "--store", store)
    export, moved = tmp_path / "export.jsonl", tmp_path / "moved"
    assert run("export_store", export, "--store", store).returncode == 0
    assert run("import_store", export, "--store", moved, "--no-embed").returncode == 0
    assert effect(moved) == ("changes", "administrator")


def read_feeds(store: Path) -> tuple[list[FeedLink], tuple[FeedMark, ...]]:
    async def read() -> tuple[list[FeedLink], tuple[FeedMark, ...]]:
        graph = SqliteGraph(StoreFolder(store).graph)
        await graph.setup()
        found = await graph.get_feeds_into(B), (await graph.get_tools([B]))[B].feed_marks
        await graph.close()
        return found

    return asyncio.run(read())


def test_a_feed_is_added_forbidden_and_moves_with_its_store(store: Path, tmp_path: Path) -> None:
    done = run("mark_feed", "geocode", "items[].id", B, "place", "add", "--store", store, "--json")
    told = {"source": A, "field": "items[].id", "target": B, "parameter": "place", "mark": "add"}
    assert (done.returncode, json.loads(done.stdout)) == (0, told)
    added = FeedMark(source=A, field="items[].id", parameter="place")
    assert read_feeds(store) == ([FeedLink(A, B, "items[].id", "place", 1.0)], (added,))
    assert run("mark_feed", A, "items[].id", B, "place", "forbid", "--store", store).returncode == 0
    export, moved = tmp_path / "export.jsonl", tmp_path / "moved"
    assert run("export_store", export, "--store", store).returncode == 0
    assert run("import_store", export, "--store", moved, "--no-embed").returncode == 0
    assert read_feeds(moved) == ([], (added.model_copy(update={"fills": False}),))
    assert run("mark_feed", A, "items[].id", B, "place", "clear", "--store", moved).returncode == 0
    assert read_feeds(moved) == ([], ())


def test_a_feed_that_cannot_be_marked_is_told(store: Path, tmp_path: Path) -> None:
    unknown = run("mark_feed", A, "id", B, "colour", "add", "--store", store)
    assert (unknown.returncode, "it has place" in unknown.stderr) == (2, True)
    assert run("mark_feed", "nobody", "id", B, "place", "add", "--store", store).returncode == 2
    assert run("mark_feed", A, "id", B, "place", "pin", "--store", store).returncode == 2
    assert run("mark_feed", A, "id", B, "place", "add", "--store", tmp_path / "none").returncode == 3
