"""Vectors on a server: what is found is what the embedded store finds, on the machine that indexed and on another one."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import orjson
import pytest

from agent.memory.request_patterns import build_pattern
from domain.errors import StoreVersionError
from domain.tool import ToolId, make_tool_id
from retriever.index import VectorPoint
from wiring.container import open_container
from wiring.reindex import reindex
from wiring.settings import Settings
from wiring.store_build import BuildOptions, build
from wiring.store_transfer import export_store_file, import_store_file

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "playground" / "data"
REQUESTS = ("weather in Paris tomorrow", "convert 20 euros to dollars", "books by an author", "the the", "xyzzy")

SOLVED = "Who directed 'Attack of the Zzyzx'?"
"""A request of the trajectories."""


def silent(stage: str, done: int, total: int | None) -> None:
    pass


async def built(folder: Path, server: dict[str, str] | None = None, *, embed: bool = True) -> Settings:
    made = Settings.model_validate({"store": folder, **(server or {})})
    await build(BuildOptions(tools=(DATA / "openapi.json",), embed=embed), silent, made)
    return made


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store that needs no server."""
    folder = tmp_path_factory.mktemp("indexed") / "store"
    asyncio.run(built(folder))
    return folder


def copy_of(indexed: Path, to: Path) -> Settings:
    """The same at another place."""
    return Settings(store=Path(shutil.copytree(indexed, to)))


async def all_there(ids: Iterable[ToolId]) -> set[ToolId]:
    return set(ids)


async def found(settings: Settings) -> list[list[tuple[str, float, float]]]:
    """The best tools of each request: id, fused score, BM25 score."""
    async with open_container(settings) as container:
        search = await container.open_search()
        hits = [await search.find_tools(request, 5) for request in REQUESTS]
    return [[(hit.id, round(hit.score, 4), round(hit.lexical, 6)) for hit in one] for one in hits]


async def test_a_server_finds_what_the_embedded_store_finds(
    indexed: Path, tmp_path: Path, qdrant_settings: dict[str, str]
) -> None:
    embedded, shared = copy_of(indexed, tmp_path / "embedded"), await built(tmp_path / "shared", qdrant_settings)
    expected = await found(embedded)
    assert all(expected[:3])
    assert await found(shared) == expected
    assert not (tmp_path / "shared" / "vectors").exists()


async def test_what_is_remembered_is_on_the_server_too(tmp_path: Path, qdrant_settings: dict[str, str]) -> None:
    first = Settings.model_validate({"store": tmp_path / "first", **qdrant_settings})
    solved = BuildOptions(tools=(DATA / "openapi.json",), trajectories=(DATA / "answer",))
    await build(solved, silent, first)
    second = await built(tmp_path / "second", qdrant_settings, embed=False)
    for settings in (first, second):
        async with open_container(settings) as container:
            recalled = await (await container.memory()).recall(SOLVED, 1, all_there)
            assert [one.memory.pattern for one in recalled] == [build_pattern(SOLVED)]
            assert not container.folder.memories.exists()


async def test_another_machine_makes_the_words_itself_and_follows_changes(
    tmp_path: Path, qdrant_settings: dict[str, str]
) -> None:
    first = await built(tmp_path / "first", qdrant_settings)
    second = await built(tmp_path / "second", qdrant_settings, embed=False)
    assert await found(second) == await found(first)
    for settings in (first, second):
        async with open_container(settings) as container:
            tool = await anext(container.graph.stream_documents())
            await container.graph.put_tools([tool.model_copy(update={"description": "xyzzy plugh"})])
    await build(BuildOptions(), silent, first)
    assert (await found(first))[-1][0][0] == tool.id
    assert await found(second) == await found(first)


async def test_a_machine_without_words_makes_them_and_says_so(
    indexed: Path, tmp_path: Path, qdrant_settings: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    for name, settings in (
        ("embedded", copy_of(indexed, tmp_path / "embedded")),
        ("on a server", await built(tmp_path / "on a server", qdrant_settings)),
    ):
        expected = await found(settings)
        shutil.rmtree(tmp_path / name / "lexical")
        caplog.clear()
        assert await found(settings) == expected
        assert "it is made anew" in caplog.text
        caplog.clear()
        assert await found(settings) == expected
        assert "made anew" not in caplog.text


async def test_after_an_import_another_machine_finds_the_same(
    indexed: Path, tmp_path: Path, qdrant_settings: dict[str, str]
) -> None:
    embedded, export = copy_of(indexed, tmp_path / "embedded"), tmp_path / "export.gz"
    await export_store_file(export, None, silent, embedded)
    first = Settings.model_validate({"store": tmp_path / "first", **qdrant_settings})
    second = Settings.model_validate({"store": tmp_path / "second", **qdrant_settings})
    await import_store_file(export, None, silent, first)
    await import_store_file(export, None, silent, second, embed=False)
    assert await found(second) == await found(first) == await found(embedded)


async def test_words_of_another_store_in_the_folder_are_left_out(
    indexed: Path, tmp_path: Path, qdrant_settings: dict[str, str]
) -> None:
    embedded, shared = copy_of(indexed, tmp_path / "embedded"), copy_of(indexed, tmp_path / "shared")
    async with open_container(shared) as container:
        _, _, lexical = await container.get_retrieval()
        await lexical.put({make_tool_id("elsewhere", "t", str(n)): "weather weather in Paris" for n in range(50)})
    moved = await built(tmp_path / "shared", qdrant_settings)
    assert await found(moved) == await found(embedded)


async def test_the_same_encoder_puts_its_vectors_in_the_place_of_the_older_ones(
    tmp_path: Path, qdrant_settings: dict[str, str]
) -> None:
    settings = await built(tmp_path / "store", qdrant_settings)
    before = await found(settings)
    done = await reindex(settings=settings)
    assert done.tools == done.embedded > 0
    assert [name.rpartition("-")[2] for name in done.dropped] == ["1"]
    assert await found(settings) == before
    assert [name.rpartition("-")[2] for name in (await reindex(settings=settings)).dropped] == ["2"]


async def test_vectors_of_another_encoder_are_refused_until_a_reindex(
    tmp_path: Path, qdrant_settings: dict[str, str]
) -> None:
    settings = await built(tmp_path / "store", qdrant_settings, embed=False)
    async with open_container(settings) as container:
        former = container.create_server_index()
        await former.setup("another encoder", 2)
        await former.put([VectorPoint(make_tool_id("c", "t", "a"), np.array([1, 0], np.float32), "d", "c")])
        await former.close()
        with pytest.raises(StoreVersionError, match=r"another encoder.*reindex"):
            await container.open_search()
    await reindex(settings=settings)
    assert (await found(settings))[0]


async def test_the_command_prints_one_object(tmp_path: Path, qdrant_settings: dict[str, str]) -> None:
    await built(tmp_path / "store", qdrant_settings, embed=False)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FOOTPATH_")}
    environment |= {f"FOOTPATH_{name.upper()}": value for name, value in qdrant_settings.items()}
    environment["FOOTPATH_STORE"] = str(tmp_path / "store")
    command = [sys.executable, str(ROOT / "scripts" / "reindex.py"), "--json"]
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, timeout=120, env=environment, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert orjson.loads(done.stdout)["embedded"] > 10
