"""Indexing of tool documents into vectors and BM25, and comparison and repair of both indexes.

Texts whose digest is stored already are skipped, so that the next run continues an interrupted one.
"""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

from domain.tool import ToolDoc, ToolId
from retriever.documents import build_dense_text, build_lexical_text, hash_text
from retriever.index import Embedder, VectorIndex, VectorPoint, Vectors
from retriever.lexical import LexicalIndex

_BATCH = 512
"""Documents embedded between two writes, a few seconds of work that an interrupted run repeats."""

Portion = list[tuple[ToolDoc, str, str]]
"""A batch of documents, each with its text for the encoder and the digest of that text."""


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
    lexical_texts: dict[ToolId, str] = {}
    embedded = 0

    # Documents are read once: the texts for BM25 are collected while the vectors are made.
    async def record_texts() -> AsyncIterator[ToolDoc]:
        async for tool in documents:
            lexical_texts[tool.id] = build_lexical_text(tool)
            yield tool

    async for portion in select_unindexed(record_texts(), await index.fetch_digests()):
        await put_portion(portion, await embedder.embed([text for _, text, _ in portion], "document"), index)
        embedded += len(portion)
        if progress:
            progress(len(lexical_texts))
    rebuilt = bool(lexical_texts) and await lexical.put(lexical_texts)
    if progress:
        progress(len(lexical_texts))
    return IndexReport(len(lexical_texts), embedded, rebuilt, time.perf_counter() - start)


async def select_unindexed(
    documents: AsyncIterator[ToolDoc], stored_digests: Mapping[ToolId, str]
) -> AsyncIterator[Portion]:
    """Yield batches of the documents that are new or whose text has changed.

    The vectors of some encoders depend a little on the batch, so all builds cut batches alike.
    """
    portion: dict[ToolId, tuple[ToolDoc, str, str]] = {}
    async for tool in documents:
        text = build_dense_text(tool)
        if stored_digests.get(tool.id) != (text_digest := hash_text(text)):
            portion[tool.id] = (tool, text, text_digest)
        if len(portion) >= _BATCH:
            yield list(portion.values())
            portion.clear()
    if portion:
        yield list(portion.values())


async def put_portion(portion: Portion, vectors: Vectors, index: VectorIndex) -> None:
    """Store the vectors of a batch; row n is the vector of document n. Raises ``UnavailableError``."""
    await index.put(
        [
            VectorPoint(tool.id, vector, name, tool.category)
            for (tool, _, name), vector in zip(portion, vectors, strict=True)
        ]
    )
