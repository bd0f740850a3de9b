"""Documents → vectors and BM25. Interrupted anywhere, a second run goes on: texts whose digest is known are skipped."""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

from domain.tool import ToolDoc, ToolId
from retriever.documents import dense_text, digest, lexical_text
from retriever.index import Embedder, Point, VectorIndex, Vectors
from retriever.lexical import LexicalIndex

_BATCH = 512
"""Documents embedded between two writes: what an interrupted run does again, a few seconds of work."""

Portion = list[tuple[ToolDoc, str, str]]
"""Documents with their text for the encoder and its digest."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """``tools`` were looked at, ``embedded`` of them were new or changed. ``lexical``: BM25 was rebuilt."""

    tools: int
    embedded: int
    lexical: bool
    seconds: float


async def index_tools(
    documents: AsyncIterator[ToolDoc],
    embedder: Embedder,
    index: VectorIndex,
    lexical: LexicalIndex,
    progress: Callable[[int], None] | None = None,
) -> IndexReport:
    """Make every document searchable. Tools that are indexed but not among ``documents`` stay as they are.

    ``progress`` gets the number of documents done so far. The index must be set up. Raises ``UnavailableError``.
    """
    start = time.perf_counter()
    words: dict[ToolId, str] = {}
    embedded = 0

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
    """New and changed documents in portions. A vector depends a little on its portion, so all builds cut alike."""
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
    """Write the vectors of a portion, row by row. Raises ``UnavailableError``."""
    await index.put(
        [Point(tool.id, vector, name, tool.category) for (tool, _, name), vector in zip(portion, vectors, strict=True)]
    )
