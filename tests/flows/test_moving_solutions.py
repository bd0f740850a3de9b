"""Solutions move with their store, as a person runs the scripts: by export and import, and by backup and restore, with all that became of them."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from domain.solution import Solution
from graph.backends.sqlite_graph import SqliteGraph
from server.storage.storage import open_storage
from tests.support import forked_commands
from tests.support.scholar_tools import COLLEAGUES, COUNT, DOCS, solution
from wiring.container import open_container
from wiring.settings import read_settings
from wiring.store_folder import StoreFolder

ROOT = Path(__file__).resolve().parents[2]
WHO, MANY = "Who are the colleagues of {name}?", "How many papers has {name} written?"
RIDDLE, LEE = "Who are the colleagues of Tom Riddle?", "Who are the colleagues of Ann Lee?"
FURTHER = "With whom does {name} write?"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of three users' words: a shared solution that served, and that ann alone says is wrong of one request; one of ben's own; one that is suspended."""
    folder = StoreFolder(tmp_path_factory.mktemp("made") / "store")
    folder.open(create=True)
    asyncio.run(_make(folder))
    return folder.root


async def _make(folder: StoreFolder) -> None:
    graph = SqliteGraph(folder.graph)
    await graph.setup()
    await graph.put_tools(list(DOCS.values()))
    await graph.close()
    async with open_container(store=folder.root) as container:
        all_share, ann, ben = [await container.solutions(one) for one in ("", "ann", "ben")]
        (shared,) = await all_share.add([solution(COLLEAGUES, WHO, FURTHER)])
        await ben.record_outcome(shared, good=True, run="r-ben", right=LEE)
        await ann.record_outcome(shared, good=False, run="r-ann", wrong=RIDDLE)
        (own, gone) = await ben.add(
            [solution(COUNT, MANY), solution(COUNT.replace('"])', '"], year=2020)'), "Papers of {name} in 2020?")]
        )
        await ben.record_outcome(own, good=True, run="r-own")
        await ben.suspend(gone, "its author said so")


def script(name: str, *arguments: object, code: int = 0, **variables: object) -> Any:
    """What a script says as JSON."""
    done = forked_commands.run(
        [sys.executable, str(ROOT / "scripts" / f"{name}.py"), *map(str, arguments), "--json"], cwd=ROOT,
        timeout=100,
        env={**os.environ, **{name: str(value) for name, value in variables.items()}},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


async def kept(store: Path) -> list[Solution]:
    """All that lies there, whole."""
    async with open_container(store=store) as container:
        return [one async for one in (await container.solution_store()).stream_all()]


async def found(store: Path) -> dict[str, list[str]]:
    """By owner and request: the patterns that are near, as runs are told them."""
    asked = [
        (owner, request)
        for owner in ("ann", "ben")
        for request in (RIDDLE, LEE, "How many papers has Ann Lee written?")
    ]
    async with open_container(store=store) as container:
        return {
            f"{owner}: {request}": [one.pattern for one in await (await container.solutions(owner)).find_near(request, 3)]
            for owner, request in asked
        }  # fmt: skip


def the_same(store: Path, moved: Path) -> None:
    """Its solutions with their patterns, verdicts and marks; and what is found of them, for whom."""
    there = asyncio.run(kept(moved))
    assert there == asyncio.run(kept(store))
    assert sorted((one.owner, one.good, one.bad, one.wrong, bool(one.suspended)) for one in there) == [
        ("", 1, 0, (), False),
        ("ann", 0, 1, (RIDDLE,), False),
        ("ben", 0, 0, (), True),
        ("ben", 1, 0, (), False),
    ]
    near = asyncio.run(found(moved))
    assert near == asyncio.run(found(store))
    assert WHO not in near[f"ann: {RIDDLE}"]
    assert near[f"ben: {RIDDLE}"][0] == WHO
    assert near["ben: How many papers has Ann Lee written?"][0] == MANY
    assert MANY not in near["ann: How many papers has Ann Lee written?"]


def test_by_export_and_import(store: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    said = script("export_store", tmp_path / "one.gz", "--store", store)
    assert said["solutions"] == 4
    assert script("import_store", tmp_path / "one.gz", "--store", new)["solutions"] == 4
    the_same(store, new)
    assert script("verify_store", "--store", new)["solutions"] == {"count": 4, "unseen": {"count": 0, "first": []}}
    assert script("export_store", tmp_path / "two.gz", "--store", new)["digest"] == said["digest"]
    assert script("import_store", tmp_path / "one.gz", "--store", new)["written"] == 0
    listed = script("solutions", "list", "--request", LEE, "--store", new)["solutions"]
    assert [WHO in one["patterns"] for one in listed] == [True]


def test_patterns_that_were_not_embedded_are_told_and_embedded_by_a_repair(store: Path, tmp_path: Path) -> None:
    script("export_store", tmp_path / "e.gz", "--store", store)
    script("import_store", tmp_path / "e.gz", "--store", tmp_path / "new", "--no-embed")
    told = script("verify_store", "--store", tmp_path / "new", code=1)
    assert told["solutions"]["unseen"]["count"] == 4
    assert script("verify_store", "--store", tmp_path / "new", "--repair")["equal"]
    the_same(store, tmp_path / "new")


def test_by_backup_and_restore(store: Path, tmp_path: Path) -> None:
    home, other, new = tmp_path / "home", tmp_path / "other", tmp_path / "new"
    asyncio.run(_rows(home))
    backup, keys = tmp_path / "backup", tmp_path / "vault.keys"
    script("backup", backup, "--keys-to", keys, FOOTPATH_SERVER_HOME=home, FOOTPATH_STORE=store)
    script("restore", backup, "--keys", keys, FOOTPATH_SERVER_HOME=other, FOOTPATH_STORE=new)
    the_same(store, new)


async def _rows(home: Path) -> None:
    async with open_storage(read_settings(server_home=home)) as storage:
        assert not await storage.users.list_page()
