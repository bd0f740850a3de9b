"""Indexing of documents into vectors and BM25; an interrupted run is continued by the next one.

Texts whose digest is already stored are skipped.
"""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

from domain.tool import ToolDoc, ToolId
from retriever.documents import dense_text, digest, lexical_text
from retriever.index import Embedder, Point, VectorIndex, Vectors
from retriever.lexical import LexicalIndex

_BATCH = 512
"""Documents embedded between two writes, a few seconds of work that an interrupted run repeats."""

Portion = list[tuple[ToolDoc, str, str]]
"""Documents with their text for the encoder and its digest."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """Result of one indexing run."""

    tools: int
    """Documents that were read."""
    embedded: int
    """New or changed documents that were embedded."""
    lexical: bool
    """True if the BM25 index was rewritten."""
    seconds: float


async def index_tools(
    documents: AsyncIterator[ToolDoc],
    embedder: Embedder,
    index: VectorIndex,
    lexical: LexicalIndex,
    progress: Callable[[int], None] | None = None,
) -> IndexReport:
    """Add every document to both indexes; indexed tools that are not among ``documents`` are kept.

    ``progress`` gets the number of documents done so far. The index must be set up. Raises ``UnavailableError``.
    """
    start = time.perf_counter()
    words: dict[ToolId, str] = {}
    embedded = 0

    # Documents are read once: the texts for BM25 are collected while the vectors are made.
    async def told() -> AsyncIterator[ToolDoc]:
        async for tool in documents:
            words[tool.id] = lexical_text(tool)
            yield tool

    async for portion in unindexed(told(), await index.digests()):
        await put_portion(portion, await embedder.embed([text for _, text, _ in portion], "document"), index)
        embedded += len(portion)
        if progress:
            progress(len(words))
    rebuilt = bool(words) and await lexical.put(words)
    if progress:
        progress(len(words))
    return IndexReport(len(words), embedded, rebuilt, time.perf_counter() - start)


async def unindexed(documents: AsyncIterator[ToolDoc], known: Mapping[ToolId, str]) -> AsyncIterator[Portion]:
    """Yield new and changed documents in portions.

    Vectors of some encoders depend a little on the batch, so all builds cut portions alike.
    """
    waiting: dict[ToolId, tuple[ToolDoc, str, str]] = {}
    async for tool in documents:
        text = dense_text(tool)
        if known.get(tool.id) != (name := digest(text)):
            waiting[tool.id] = (tool, text, name)
        if len(waiting) >= _BATCH:
            yield list(waiting.values())
            waiting.clear()
    if waiting:
        yield list(waiting.values())


async def put_portion(portion: Portion, vectors: Vectors, index: VectorIndex) -> None:
    """Store the vectors of a portion; row n belongs to document n. Raises ``UnavailableError``."""
    await index.put(
        [Point(tool.id, vector, name, tool.category) for (tool, _, name), vector in zip(portion, vectors, strict=True)]
    )
