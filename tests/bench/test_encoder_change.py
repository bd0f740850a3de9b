"""Seconds of making another encoder's vectors beside those in use, and what searches take meanwhile, beside what they take before: a ratio of medians."""

import asyncio
import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from retriever.document_texts import build_lexical_text
from retriever.embedders.onnx_embedder import BUNDLED_FOLDER
from retriever.index import VectorPoint
from tests.bench.test_retrieval_latency import made_up, requests
from wiring.container import Container, open_container
from wiring.encoder_change import EncoderChange
from wiring.encoders import EncoderChoice
from wiring.links import ignore_progress
from wiring.settings import Settings

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]
TOOLS = int(os.environ.get("FOOTPATH_BENCH_TOOLS", "3000"))
BEFORE = 60


async def fill(container: Container) -> None:
    """Made-up tools; the vectors in use are drawn by chance, which costs a search the same."""
    tools = [made_up(n) for n in range(TOOLS)]
    embedder, index, lexical = await container.get_retrieval()
    drawn = np.random.default_rng(1).normal(size=(TOOLS, embedder.dimension)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    await container.graph.put_tools(tools)
    await index.put([VectorPoint(tool.id, drawn[n], "d", tool.category) for n, tool in enumerate(tools)])
    await lexical.put({tool.id: build_lexical_text(tool) for tool in tools})


async def seconds_of(container: Container, request: str) -> float:
    start = time.perf_counter()
    await (await container.open_search()).find_tools(request, 10)
    return time.perf_counter() - start


async def test_searches_while_another_encoder_is_prepared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "encoders" / "apart"
    await asyncio.to_thread(shutil.copytree, BUNDLED_FOLDER, own)
    tokens = own / "tokenizer.json"
    await asyncio.to_thread(lambda: tokens.write_text(tokens.read_text() + " "))
    settings = Settings(encoders=tmp_path / "encoders")
    async with open_container(settings, tmp_path / "store", create=True) as container:
        await fill(container)
        texts = requests()
        before = [await seconds_of(container, text) for text in texts[:BEFORE]]
        start, meanwhile = time.perf_counter(), list[float]()
        change = EncoderChange(container)
        task = asyncio.create_task(change.prepare(EncoderChoice(kind="folder", name="apart"), ignore_progress))
        while not task.done():
            meanwhile.append(await seconds_of(container, texts[BEFORE + len(meanwhile) % BEFORE]))
        brought, took = await task, time.perf_counter() - start
        after = [await seconds_of(container, text) for text in texts[:BEFORE]]
        start = time.perf_counter()
        await change.switch()
        switched = time.perf_counter() - start
        assert brought.embedded == TOOLS
        assert np.median(meanwhile) < 10 * np.median(before + after)
    around, while_made = np.median(before + after), np.median(meanwhile)
    with capsys.disabled():
        print(
            f"\n{TOOLS:,} tools: {took:.1f} s while searched without a pause, switch {switched:.2f} s; searches p50 "
            f"{1000 * around:.1f} ms before and after, {1000 * while_made:.1f} ms meanwhile ({while_made / around:.2f} times, "
            f"{len(meanwhile)} searches), p95 {1000 * np.quantile(before + after, 0.95):.1f} and {1000 * np.quantile(meanwhile, 0.95):.1f} ms"
        )
