"""A second document under the names of a first, as ``scripts/build_graph.py`` and ``import_store.py`` meet it."""

import asyncio
import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from domain.memory import Memory
from domain.tool import ToolId
from domain.trajectory import TakenValue
from graph.facts import LiveBatch
from tests.support import forked_commands
from tests.support.bank_documents import EVIL, KEY, OURS, PAY, other, written
from wiring.container import open_container

ROOT = Path(__file__).resolve().parents[2]
OTHER = ToolId("a/b/c")


def script(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, f"scripts/{name}.py", *map(str, arguments)]
    return forked_commands.run(command, cwd=ROOT, timeout=100)


def build(store: Path, *arguments: object, code: int = 0) -> tuple[dict[str, Any], str]:
    done = script("build_graph", "--store", store, "--no-embed", "--json", *arguments)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout), done.stderr


async def use(store: Path) -> None:
    """What runs leave behind of a tool."""
    async with open_container(store=store) as container:
        await container.graph.learn(LiveBatch("r", {}, ((PAY, 1.0),), ((PAY, "ok"),)))
        await (await container.flows()).add("k", [TakenValue(PAY, OTHER, "id", ("receipt",))])
        memories = await container.memories()
        await memories.add([Memory(id="m", request="pay", pattern="pay", path=(PAY,), at=datetime.now(UTC), good=3)])


async def left(store: Path) -> dict[str, Any]:
    """The tool's host, and how much of all that is known of it."""
    async with open_container(store=store) as container:
        graph = container.graph
        return {
            "host": (await graph.get_tools([PAY]))[PAY].host,
            "ok": (await graph.get_facts([PAY]))[PAY].ok,
            "recorded": len(await (await container.recordings()).list_calls(PAY)),
            "flows": len(await (await container.flows()).list_counts(("", "", ""), 9)),
            "good": (await anext((await container.memories()).stream_all())).good,
        }


def used(folder: Path) -> Path:
    """The store of the bank's own document, after recorded calls and a run."""
    call = {
        "category": "Bank",
        "tool_name": "Bank",
        "api_name": "pay",
        "arguments": "{}",
        "kind": "ok",
        "response": "1",
    }
    calls = folder / "calls.jsonl"
    calls.write_text(json.dumps(call) + "\n")
    build(folder / "store", "--tools", written(folder / "bank.json", keys={"key": KEY}), "--calls", calls)
    asyncio.run(use(folder / "store"))
    return folder / "store"


KNOWN = {"host": "bank.example", "ok": 1, "recorded": 1, "flows": 1, "good": 3}


def test_a_second_document_takes_nothing_over_and_says_so(tmp_path: Path) -> None:
    store, report = used(tmp_path), tmp_path / "report.json"
    second = written(tmp_path / "evil.json", EVIL, keys={"stolen": KEY})
    told, said = build(store, "--tools", second, "--report", report, code=1)
    (refused,) = told["take_overs"]
    assert refused["tool"] == PAY
    assert (refused["known"], refused["source"], refused["replaced"]) == ("openapi:bank.json", str(second), False)
    assert {one["what"]: (one["old"], one["new"]) for one in refused["changes"]} == {
        "host": (OURS, EVIL),
        "credentials": ("bank_key (header X-Key)", "bank_stolen (header X-Key)"),
    }
    assert json.loads(report.read_text())["summary"]["take_overs"] == [refused]
    assert all(word in said for word in ("refused", PAY, OURS, EVIL, "bank_stolen", "--replace"))
    assert asyncio.run(left(store)) == KNOWN
    assert script("show_tool", other(second), "--store", store).returncode == 0  # its own operation is there


def test_with_the_word_it_is_shown_and_begins_anew(tmp_path: Path) -> None:
    store, second = used(tmp_path), written(tmp_path / "moved.json", EVIL, keys={"key": KEY})
    told, said = build(store, "--tools", second, "--replace")
    assert [(one["tool"], one["replaced"]) for one in told["take_overs"]] == [(PAY, True)]
    assert f"host {OURS} -> {EVIL}" in said
    anew = {"host": "evil.example", "ok": 0, "recorded": 0, "flows": 0, "good": 0}
    assert asyncio.run(left(store)) == anew
    told, _ = build(store, "--tools", second, "--calls", tmp_path / "calls.jsonl")
    assert told["take_overs"] == []
    assert asyncio.run(left(store)) == anew  # what was recorded of the other host stays forgotten


def test_an_export_takes_nothing_over_in_a_store_that_has_the_tool(tmp_path: Path) -> None:
    store, other_store, export = used(tmp_path), tmp_path / "other", tmp_path / "export.jsonl"
    build(other_store, "--tools", written(tmp_path / "evil.json", EVIL))
    assert script("export_store", export, "--store", other_store).returncode == 0
    done = script("import_store", export, "--store", store, "--no-embed")
    assert (done.returncode, "holds otherwise" in done.stderr) == (2, True), done.stderr
    assert asyncio.run(left(store)) == KNOWN
    shutil.rmtree(other_store)
    assert script("import_store", export, "--store", other_store, "--no-embed").returncode == 0
