"""What finding start tools costs: the encoder on one thread and on two, and the index against one product of matrices."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from domain.tool import make_tool_id
from retriever.backends.edge import EdgeIndex
from retriever.embedders.onnx_embedder import OnnxEmbedder
from retriever.index import VectorPoint
from retriever.lexical import LexicalIndex

pytestmark = pytest.mark.bench
TOOLS = 20_000
TEXT = "Weather Station {}: get forecast. Weather forecast for the next days of a city. Category Weather. Parameters {}"
READY = """
import time; start = time.perf_counter()
from retriever.embedders.onnx_embedder import OnnxEmbedder
OnnxEmbedder().load()
print(time.perf_counter() - start)
"""


def median_ms(samples: list[float]) -> float:
    return 1e3 * float(np.median(samples))


def ready() -> float:
    """Seconds from the first import to a loaded model, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", READY], capture_output=True, text=True, check=True)
    return float(done.stdout)


def size(folder: Path) -> int:
    """Bytes on disk, as allocated."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


async def seconds(embedder: OnnxEmbedder, texts: list[str]) -> float:
    start = time.perf_counter()
    await embedder.embed(texts, "document")
    return time.perf_counter() - start


async def test_encoder(capsys: pytest.CaptureFixture[str]) -> None:
    texts = [TEXT.format(n, "city, days, units " * (n % 9)) for n in range(600)]
    one, two = OnnxEmbedder(threads=1), OnnxEmbedder(threads=2)
    for embedder in (one, two):
        embedder.load()
    single, double = await seconds(one, texts), await seconds(two, texts)
    queries: list[float] = []
    for text in texts[:60]:
        start = time.perf_counter()
        await two.embed([text], "query")
        queries.append(time.perf_counter() - start)
    with capsys.disabled():
        print(f"\nencoder: ready {ready():.2f} s after the start of imports; query p50 {median_ms(queries):.1f} ms")
        print(f"documents/s: {len(texts) / single:.0f} on one thread, {len(texts) / double:.0f} on two")
        print(f"ratio two threads / one: {single / double:.2f}")
    assert len(queries) == 60


async def test_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = np.random.default_rng(1).normal(size=(TOOLS, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    ids = [make_tool_id("c", f"t{n % 900}", f"api {n}") for n in range(TOOLS)]
    index = EdgeIndex(tmp_path / "vectors")
    await index.setup("model", 384)
    for start in range(0, TOOLS, 1000):
        chosen = range(start, start + 1000)
        await index.put([VectorPoint(ids[n], rows[n], "d", "c") for n in chosen])
    await index.close()
    start = time.perf_counter()
    await index.setup("model", 384)
    opened = time.perf_counter() - start
    lexical = LexicalIndex(tmp_path / "lexical")
    await lexical.put({tool: TEXT.format(n, f"word{n % 5000} city") for n, tool in enumerate(ids)})
    found: list[float] = []
    matched: list[float] = []
    for n in range(40):
        start = time.perf_counter()
        hits = await index.search(rows[n], 60)
        found.append(time.perf_counter() - start)
        assert hits[0].id == ids[n]
        start = time.perf_counter()
        await lexical.match(f"forecast for a city, word{n}")
        matched.append(time.perf_counter() - start)
    product = [timed(lambda n=n: rows @ rows[n]) for n in range(40)]
    await index.close()
    with capsys.disabled():
        print(f"\nsearch of {TOOLS} tools: open {1e3 * opened:.0f} ms, {size(tmp_path) / 1e6:.0f} MB on disk with BM25")
        print(f"p50: vectors {median_ms(found):.1f} ms, BM25 {median_ms(matched):.1f} ms")
        print(f"ratio vectors / one matrix product: {np.median(found) / np.median(product):.1f}")


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
