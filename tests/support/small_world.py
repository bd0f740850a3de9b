"""A small world to run in: a few tools, their past walks, a deterministic encoder and an executor that needs no network."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal
from zlib import crc32

import numpy as np

from agent.execution.executor import CallResult
from agent.offer.tool_evidence import ToolFinder
from domain.model import JsonObject
from domain.tool import FINISH, Parameter, ToolDoc, ToolId, make_tool_id
from graph.backends.in_memory import InMemoryGraph
from graph.facts import GraphBatch
from retriever.backends.exact import ExactIndex
from retriever.calibration import REFERENCE_SCALE, CosineScale
from retriever.embedders.sentence_embedder import BaseEmbedder
from retriever.index import Vectors
from retriever.indexing import index_tools
from retriever.lexical import LexicalIndex
from retriever.search import ToolSearch
from retriever.words import split_identifier

Answer = Callable[[JsonObject], CallResult]


def tool(
    category: str,
    api: str,
    description: str,
    needs: Sequence[Parameter] = (),
    gives: object = None,
    method: str = "GET",
) -> ToolDoc:
    example = None if gives is None else json.dumps(gives)
    return ToolDoc(
        id=make_tool_id(category, f"{category} Set", api),
        category=category,
        toolset=f"{category} Set",
        api=api,
        function=api,
        method=method,
        url=f"http://127.0.0.1/{api}",
        description=description,
        parameters=tuple(needs),
        example_response=example,
    )


def need(name: str, type: Literal["string", "number"] = "string", description: str = "") -> Parameter:  # noqa: A002
    return Parameter(name=name, type=type, description=description, required=True)


POINT = (need("latitude", "number"), need("longitude", "number"))
GEOCODE = tool(
    "Places", "search_places", "Geocoding: find a city by its name and get its coordinates and its population.",
    [need("city", description="Name of the city.")],
    {"results": [{"city": "Paris", "latitude": 48.85, "longitude": 2.35, "population": 2100000}]},
)  # fmt: skip
OLD_WEATHER = tool(
    "Weather", "get_forecast", "Weather forecast: the temperature of the next days at the given coordinates.", POINT,
    {"days": [{"date": "2026-01-01", "temperature": 7.0}]},
)  # fmt: skip
NEW_WEATHER = tool(
    "Weather", "get_daily_forecast", "Daily weather forecast: temperature, day by day, at the given coordinates.", POINT,
    {"days": [{"date": "2026-01-01", "temperature": 7.0}]},
)  # fmt: skip
BOOKS = tool(
    "Books", "search_books", "Find books by their title: author, number of pages.", [need("title", description="Title of the book.")],
    {"books": [{"title": "Dune", "author": "Frank Herbert", "pages": 412}]},
)  # fmt: skip
REMOVE = tool(
    "Books", "delete_book", "Delete a book by its title.", [need("title", description="Title of the book.")], {}, method="DELETE"
)  # fmt: skip
TOOLS = (GEOCODE, OLD_WEATHER, NEW_WEATHER, BOOKS, REMOVE)


class WordEmbedder(BaseEmbedder):
    """A text is the sum of its words, each a fixed random direction: texts that share words are near. For tests only."""

    identity = "words:1"
    dimension = 256

    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        return np.stack([self._one(text) for text in texts])

    async def get_cosine_scale(self) -> CosineScale:
        return REFERENCE_SCALE

    def _one(self, text: str) -> Vectors:
        total = np.zeros(self.dimension, np.float32)
        for word in set(split_identifier(text.lower()).replace(".", " ").replace(",", " ").replace("?", " ").split()):
            total += np.random.default_rng(crc32(word.encode())).standard_normal(self.dimension).astype(np.float32)
        norm = float(np.linalg.norm(total))
        return total / norm if norm else total


async def finder(folder: Path, tools: Iterable[ToolDoc] = TOOLS) -> ToolFinder:
    """The real search over exact vectors and BM25."""
    store = InMemoryGraph()
    await store.put_tools(tuple(tools))
    embedder, index, lexical = WordEmbedder(), ExactIndex(), LexicalIndex(folder)
    await index.setup(embedder.identity, embedder.dimension)
    await index_tools(store.stream_documents(), embedder, index, lexical, lambda done: None)
    return ToolSearch(embedder, index, lexical)


async def graph(walks: Iterable[Sequence[ToolDoc]] = (), tools: Iterable[ToolDoc] = TOOLS) -> InMemoryGraph:
    """A store with these tools and past walks; every call in them succeeded."""
    store = InMemoryGraph()
    await store.setup()
    await store.put_tools(tuple(tools))
    pairs: Counter[tuple[ToolId, ToolId]] = Counter()
    calls: Counter[ToolId] = Counter()
    for walk in walks:
        ids = [step.id for step in walk]
        pairs.update(zip(ids, [*ids[1:], FINISH], strict=True))
        calls.update(ids)
    await store.apply(GraphBatch(key="walks", transitions=pairs, calls=calls, successes=calls.copy()))
    return store


WALKS = [(GEOCODE, OLD_WEATHER)] * 6 + [(GEOCODE, NEW_WEATHER)] * 2 + [(BOOKS,)] * 3


class ScriptedExecutor:
    """Answers from functions by tool; ``made`` is what was called."""

    name = "scripted"

    def __init__(self, **answers: Answer) -> None:
        self._answers = answers
        self.made: list[tuple[str, JsonObject]] = []

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        self.made.append((tool.api, arguments))
        return self._answers[tool.api](arguments)

    async def close(self) -> None:
        self.made.clear()


def ok(value: object) -> Answer:
    return lambda _: CallResult("ok", json.dumps(value), http_status=200)


def down(_: JsonObject) -> CallResult:
    return CallResult("transient", "", http_status=503, attempts=3, note="HTTP 503")


FOUND = ok({"results": [{"city": "Paris", "latitude": 48.85, "longitude": 2.35, "population": 2100000}]})
FORECAST = ok({"days": [{"date": "2026-01-02", "temperature": 4.5}, {"date": "2026-01-03", "temperature": 6.0}]})
