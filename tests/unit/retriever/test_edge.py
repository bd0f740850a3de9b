"""What only the embedded index has: one owner, a folder that outlives crashes, and clear words when it is damaged."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
import qdrant_edge

from domain.errors import StoreBusyError, StoreVersionError, UnavailableError
from domain.tool import ToolId, make_tool_id
from retriever.backends.edge import EdgeIndex, build_point_uuid
from retriever.backends.edge_folder import EdgeFolder
from retriever.index import VectorPoint

DIMENSION = 4
VECTOR = np.array([1, 0, 0, 0], np.float32)
WRITER = """
import asyncio, os, sys, numpy as np
from pathlib import Path
from domain.tool import make_tool_id
from retriever.backends.edge import EdgeIndex
from retriever.index import VectorPoint

async def main():
    index = EdgeIndex(Path(sys.argv[1]))
    await index.setup("model", 4)
    for n in range(10_000):
        batch = [VectorPoint(make_tool_id("c", str(n), str(k)), np.array([1, n, k, 0], np.float32), "d", "c") for k in range(5)]
        await index.put(batch)
        print(n, flush=True)

asyncio.run(main())
"""


def points(count: int) -> list[VectorPoint]:
    return [VectorPoint(make_tool_id("c", "t", str(n)), VECTOR, "d", "c") for n in range(count)]


async def opened(folder: Path) -> EdgeIndex:
    index = EdgeIndex(folder)
    await index.setup("model", DIMENSION)
    return index


async def test_sixteen_bits_a_number(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path)
    await index.setup("model", 384)
    drawn = np.random.default_rng(1).normal(size=384).astype(np.float32)
    drawn /= np.linalg.norm(drawn)
    await index.put([VectorPoint(make_tool_id("c", "t", "0"), drawn, "d", "c")])
    (kept,) = (await index.fetch_vectors([make_tool_id("c", "t", "0")])).values()
    await index.close()
    assert not np.array_equal(kept, drawn), "32 bits would be looked at in twice the time"
    assert kept == pytest.approx(drawn, abs=1e-4)


async def test_an_index_of_thirty_two_bits_is_used_as_it_is(tmp_path: Path) -> None:
    await asyncio.to_thread(_thirty_two_bits, tmp_path)
    index = await opened(tmp_path)
    await index.put(points(3))
    assert (await index.fetch_vectors([points(1)[0].id]))[points(1)[0].id].tolist() == VECTOR.tolist()
    assert len(await index.search(VECTOR, 5)) == 3
    await index.close()


def _thirty_two_bits(directory: Path) -> None:
    folder = EdgeFolder(directory)
    folder.write_identity("model", DIMENSION)
    folder.shard.mkdir(parents=True)
    vectors = qdrant_edge.EdgeVectorParams(size=DIMENSION, distance=qdrant_edge.Distance.Cosine)
    qdrant_edge.EdgeShard.create(str(folder.shard), qdrant_edge.EdgeConfig(vectors=vectors)).close()


async def test_content_outlives_closing(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    await index.put(points(3))
    await index.close()
    index = await opened(tmp_path)
    assert await index.count() == 3
    await index.close()


async def test_of_what_was_read_only_so_much_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[ToolId] = []

    def counted(tool: ToolId) -> UUID:
        read.append(tool)
        return build_point_uuid(tool)

    index = await opened(tmp_path)
    await index.put(points(5))
    monkeypatch.setattr("retriever.backends.edge._MAX_CACHED_VECTORS", 2)
    monkeypatch.setattr("retriever.backends.edge.build_point_uuid", counted)
    asked = np.stack([VECTOR, -VECTOR])
    for ids, new in (([0, 1, 2, 3, 4], [0, 1, 2, 3, 4]), ([4, 0], [0]), ([1, 4], [1]), ([0], [0])):
        tools = [make_tool_id("c", "t", str(n)) for n in ids]
        found = await index.compute_cosines(asked, tools)
        assert {tool: row.tolist() for tool, row in found.items()} == {tool: [1, -1] for tool in tools}
        assert read == [make_tool_id("c", "t", str(n)) for n in new]
        read.clear()
    await index.close()


async def test_a_second_owner_is_told_the_way_out(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    with pytest.raises(StoreBusyError, match=rf"number {os.getpid()}\).*Qdrant server"):
        await opened(tmp_path)
    await index.close()
    await (await opened(tmp_path)).close()


async def test_another_encoder_is_refused_with_the_remedy(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    await index.put(points(1))
    await index.close()
    with pytest.raises(StoreVersionError, match=r"made by model .*scripts/reindex\.py"):
        await EdgeIndex(tmp_path).setup("other", DIMENSION)
    await (await opened(tmp_path)).close()


async def test_a_crash_while_an_empty_index_is_taken_over_is_made_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await (await opened(tmp_path)).close()
    index = EdgeIndex(tmp_path)
    for step in ("check_space", "write_identity"):
        with monkeypatch.context() as patched:
            patched.setattr(EdgeFolder, step, _fails)
            with pytest.raises(UnavailableError, match="cut short"):
                await index.setup("other", 7)
    await index.setup("other", 7)
    assert await index.count() == 0
    with pytest.raises(StoreBusyError):
        await opened(tmp_path)
    await index.close()


def _fails(*_: object) -> None:
    raise OSError("cut short")


async def cleared(folder: Path, identity: str) -> None:
    await asyncio.to_thread(EdgeFolder(folder).remove_vectors_of_other_encoder, identity, DIMENSION)


async def test_what_another_encoder_left_can_be_cleared_away(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    await index.put(points(3))
    with pytest.raises(StoreBusyError):
        await cleared(tmp_path, "other")
    await index.close()
    await cleared(tmp_path, "model")
    index = await opened(tmp_path)
    assert await index.count() == 3, "its own stays"
    await index.close()
    await cleared(tmp_path, "other")
    await cleared(tmp_path / "none", "other")
    index = EdgeIndex(tmp_path)
    await index.setup("other", DIMENSION)
    assert await index.count() == 0
    await index.close()


def killed_writer(folder: Path) -> int:
    """The last batch that a killed process was told is kept."""
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout
    acknowledged = [int(writer.stdout.readline()) for _ in range(4)][-1]
    writer.send_signal(signal.SIGKILL)
    acknowledged = max([acknowledged, *(int(line) for line in writer.stdout if line.endswith("\n"))])
    writer.wait()
    writer.stdout.close()
    return acknowledged


async def test_acknowledged_batches_survive_kill(tmp_path: Path) -> None:
    acknowledged = killed_writer(tmp_path)
    index = await opened(tmp_path)
    digests = await index.fetch_digests()
    await index.close()
    assert {make_tool_id("c", str(n), str(k)) for n in range(acknowledged + 1) for k in range(5)} <= digests.keys()


async def test_a_crash_while_creating_is_made_good(tmp_path: Path) -> None:
    (tmp_path / "shard.part" / "segments").mkdir(parents=True)
    (tmp_path / "identity.json").write_text('{"identity": "model", "dimension"')
    index = await opened(tmp_path)
    assert await index.count() == 0
    await index.close()


@pytest.mark.parametrize("damage", ["identity.json", "shard"])
async def test_damaged_files_are_named(tmp_path: Path, damage: str) -> None:
    index = await opened(tmp_path)
    await index.put(points(3))
    await index.close()
    if damage == "shard":
        shutil.rmtree(tmp_path / "shard" / "segments")
        (tmp_path / "shard" / "edge_config.json").write_text("{")
    else:
        (tmp_path / damage).write_bytes(b"\xff{")
    with pytest.raises(UnavailableError, match=r"index the tools again"):
        await opened(tmp_path)
    with pytest.raises(UnavailableError, match="not open"):
        await index.count()


async def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnavailableError, match="cannot open the vector index"):
        await opened(tmp_path / "file" / "vectors")


async def test_a_wrong_dimension_is_an_error_not_a_crash(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    with pytest.raises(UnavailableError, match="cannot write vectors"):
        await index.put([VectorPoint(make_tool_id("c", "t", "a"), np.ones(7, np.float32), "d", "c")])
    assert await index.count() == 0
    await index.close()


async def test_a_nearly_full_disk_is_refused_before_the_engine_meets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = await opened(tmp_path)
    await index.put(points(2))
    full = shutil.disk_usage(tmp_path)._replace(free=1 << 20)

    def usage(_: Path) -> object:
        return full

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", usage)
        with pytest.raises(UnavailableError, match="is full: 1 MiB free"):
            await index.put(points(3))
        assert len(await index.search(VECTOR, 5)) == 2
        with pytest.raises(UnavailableError, match="is full"):
            await opened(tmp_path / "new")
    await index.put(points(3))
    assert await index.count() == 3
    await index.close()
