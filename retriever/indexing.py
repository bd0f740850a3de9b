"""Documents → vectors and BM25. Interrupted anywhere, a second run goes on: texts whose digest is known are skipped."""

import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from domain.tool import ToolDoc, ToolId
from retriever.documents import dense_text, digest, lexical_text
from retriever.index import Embedder, Point, VectorIndex
from retriever.lexical import LexicalIndex

_BATCH = 512
"""Documents embedded between two writes: what an interrupted run does again, a few seconds of work."""


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
    known = await index.digests()
    words: dict[ToolId, str] = {}
    waiting: dict[ToolId, tuple[ToolDoc, str, str]] = {}
    embedded = 0
    async for tool in documents:
        words[tool.id] = lexical_text(tool)
        text = dense_text(tool)
        if known.get(tool.id) != (name := digest(text)):
            waiting[tool.id] = (tool, text, name)
        if len(waiting) >= _BATCH:
            embedded += await _embed(waiting, embedder, index)
            waiting.clear()
        if progress and not waiting:
            progress(len(words))
    embedded += await _embed(waiting, embedder, index)
    rebuilt = bool(words) and await lexical.put(words)
    if progress:
        progress(len(words))
    return IndexReport(len(words), embedded, rebuilt, time.perf_counter() - start)


async def _embed(waiting: dict[ToolId, tuple[ToolDoc, str, str]], embedder: Embedder, index: VectorIndex) -> int:
    if not waiting:
        return 0
    rows = list(waiting.values())
    vectors = await embedder.embed([text for _, text, _ in rows], "document")
    points = [
        Point(tool.id, vector, name, tool.category) for (tool, _, name), vector in zip(rows, vectors, strict=True)
    ]
    await index.put(points)
    return len(points)
