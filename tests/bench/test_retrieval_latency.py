# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
"""What a request costs, from its text to start tools, over 45,000 tools; and the same with the encoder run by torch.

The tools are those of the store whose folder ``FOOTPATH_BENCH_STORE`` names (it is copied), else made up. The encoder's
weights for torch lie in the folder that ``FOOTPATH_BENCH_WEIGHTS`` names, else in an installed package.
"""

import asyncio
import os
import shutil
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from domain.tool import ToolDoc, make_tool_id
from evaluation.retrieval import RetrievalSearch
from retriever.document_texts import build_lexical_text
from retriever.embedders.sentence_embedder import BaseEmbedder
from retriever.index import VectorPoint, Vectors
from retriever.search import ToolSearch
from wiring.container import Container, open_container
from wiring.measured_searches import build_searches

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]
STORE = os.environ.get("FOOTPATH_BENCH_STORE", "")  # read here: no test sees FOOTPATH_ variables
WEIGHTS = os.environ.get("FOOTPATH_BENCH_WEIGHTS", "")
TOOLS, PORTION = 45_000, 1_000
REQUESTS, WARM, LIMIT = 200, 10, 10

THINGS = ("weather", "exchange rate", "flight", "recipe", "hotel", "film", "stock price", "translation", "address")
REQUEST = (
    "I am planning a trip to city {0} in week {1}. Could you find the {2} there? Then tell me about the {3} of {0}."
)


def requests() -> list[str]:
    """Three sentences each, as those of the benchmarks have; no two alike, so that none is remembered."""
    return [REQUEST.format(n, n % 50, THINGS[n % 9], THINGS[(n // 9) % 9]) for n in range(REQUESTS + WARM)]


def made_up(n: int) -> ToolDoc:
    toolset, api = f"{THINGS[n % 9]} service {n % 4_500}", f"find {THINGS[n % 7]} {n}"
    about = f"Finds the {THINGS[n % 8]} of a city in a week, word{n % 9_000} word{n % 777}."
    identity = make_tool_id("Travel", toolset, api)
    return ToolDoc(id=identity, category="Travel", toolset=toolset, api=api, function=f"f{n}", description=about)


async def fill(container: Container) -> None:
    """Made-up tools with vectors drawn by chance: what they cost does not depend on what they mean."""
    tools = [made_up(n) for n in range(TOOLS)]
    embedder, index, lexical = await container.get_retrieval()
    drawn = np.random.default_rng(1).normal(size=(TOOLS, embedder.dimension)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    for start in range(0, TOOLS, PORTION):
        part = tools[start : start + PORTION]
        await container.graph.put_tools(part)
        await index.put([VectorPoint(tool.id, drawn[start + n], "d", tool.category) for n, tool in enumerate(part)])
    await lexical.put({tool.id: build_lexical_text(tool) for tool in tools})


@asynccontextmanager
async def catalogue(folder: Path) -> AsyncGenerator[Container]:
    if STORE:
        await asyncio.to_thread(shutil.copytree, STORE, folder)
    async with open_container(store=folder, create=not STORE) as container:
        if not STORE:
            await fill(container)
        yield container


Work = Callable[[str], Awaitable[Any]]


async def times(works: Mapping[str, Work]) -> dict[str, list[float]]:
    """Seconds of each request, after a few that do not count: in turn, so that what else the machine does meets all alike."""
    spent: dict[str, list[float]] = {name: [] for name in works}
    for text in requests():
        for name, work in works.items():
            start = time.perf_counter()
            await work(text)
            spent[name].append(time.perf_counter() - start)
    return {name: seconds[WARM:] for name, seconds in spent.items()}


def whole(search: RetrievalSearch) -> Work:
    return lambda text: search.find_tools(text, LIMIT)


def told(name: str, seconds: Sequence[float]) -> str:
    p50, p99 = 1e3 * np.quantile(seconds, [0.5, 0.99])
    return f"{name:<26} p50 {p50:7.1f} ms   p99 {p99:7.1f} ms"


async def test_each_part_and_each_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with catalogue(tmp_path / "store") as container:
        searches = await build_searches(container)
        embedder, index, lexical = await container.get_retrieval()
        row = (await embedder.embed(["weather of a city"], "query"))[0]
        parts: dict[str, Work] = {
            "encode, with sentences": lambda text: embedder.embed_requests([text]),
            "nearest vectors": lambda _: index.search(row, 60),
            "BM25, whole request": lexical.match,
        }
        spent = await times(parts | {f"request to tools, {name}": whole(search) for name, search in searches.items()})
        tools = await index.count()
        assert len(await searches["fused"].find_tools(requests()[0], LIMIT)) == LIMIT
    with capsys.disabled():
        print(
            f"\n{tools} tools, {REQUESTS} requests of three sentences",
            *map(told, *zip(*spent.items(), strict=True)),
            sep="\n",
        )


async def test_against_torch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="torch is not installed: make test-neural installs it")
    async with catalogue(tmp_path / "store") as container:
        embedder, index, lexical = await container.get_retrieval()
        slow = TorchEmbedder(embedder.identity, threads=container.settings.encoder_threads)
        near = (await embedder.embed(requests(), "query") * await slow.embed(requests(), "query")).sum(axis=1)
        both = {"bundled": ToolSearch(embedder, index, lexical), "torch": ToolSearch(slow, index, lexical)}
        spent = await times({name: whole(search) for name, search in both.items()})
    ratio = np.quantile(spent["torch"], [0.5, 0.99]) / np.quantile(spent["bundled"], [0.5, 0.99])
    with capsys.disabled():
        print("\nrequest to tools, fused", *map(told, *zip(*spent.items(), strict=True)), sep="\n")
        print(f"ratio torch / bundled: p50 {ratio[0]:.2f}, p99 {ratio[1]:.2f}; mean cosine of both {near.mean():.3f}")


class TorchEmbedder(BaseEmbedder):
    """The float weights in torch, on as many threads: mean over the tokens, unit length."""

    dimension = 384

    def __init__(self, identity: str, threads: int) -> None:
        import torch
        from transformers import AutoModel, AutoTokenizer

        from retriever.training.export import find_bundled_source

        folder = WEIGHTS or str(find_bundled_source())
        self.identity = identity
        self._torch: Any = torch
        self._torch.set_num_threads(threads)
        self._tokens: Any = AutoTokenizer.from_pretrained(folder)
        self._model: Any = AutoModel.from_pretrained(folder).eval()

    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        return await asyncio.to_thread(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> Vectors:
        with self._torch.inference_mode():
            given = self._tokens(texts, padding=True, truncation=True, max_length=128, return_tensors="pt")
            mask = given["attention_mask"].unsqueeze(-1)
            states = self._model(**given).last_hidden_state * mask
            pooled = states.sum(dim=1) / mask.sum(dim=1)
            return self._torch.nn.functional.normalize(pooled, dim=1).numpy().astype(np.float32)
