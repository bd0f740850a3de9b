"""Indexing of tool documents into vectors and BM25, and comparison and repair of both indexes.

Texts whose digest is stored already are skipped, so that the next run continues an interrupted one.
"""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field

from domain.tool import ToolDoc, ToolId
from retriever.document_texts import build_dense_text, build_lexical_text, hash_text
from retriever.index import Embedder, VectorIndex, VectorPoint, Vectors
from retriever.lexical import LexicalIndex

_BATCH_SIZE = 512
"""Documents embedded between two writes, a few seconds of work that an interrupted run repeats."""

DocumentBatch = list[tuple[ToolDoc, str, str]]
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

    async for batch in select_unindexed(record_texts(), await index.fetch_digests()):
        await store_batch(batch, await embedder.embed([text for _, text, _ in batch], "document"), index)
        embedded += len(batch)
        if progress:
            progress(len(lexical_texts))
    rebuilt = bool(lexical_texts) and await lexical.put(lexical_texts)
    if progress:
        progress(len(lexical_texts))
    return IndexReport(len(lexical_texts), embedded, rebuilt, time.perf_counter() - start)


async def select_unindexed(
    documents: AsyncIterator[ToolDoc], stored_digests: Mapping[ToolId, str]
) -> AsyncIterator[DocumentBatch]:
    """Yield batches of the documents that are new or whose text has changed.

    The vectors of some encoders depend a little on the batch, so all builds cut batches alike.
    """
    batch_by_id: dict[ToolId, tuple[ToolDoc, str, str]] = {}
    async for tool in documents:
        text = build_dense_text(tool)
        if stored_digests.get(tool.id) != (text_digest := hash_text(text)):
            batch_by_id[tool.id] = (tool, text, text_digest)
        if len(batch_by_id) >= _BATCH_SIZE:
            yield list(batch_by_id.values())
            batch_by_id.clear()
    if batch_by_id:
        yield list(batch_by_id.values())


async def store_batch(batch: DocumentBatch, vectors: Vectors, index: VectorIndex) -> None:
    """Store the vectors of a batch; row n is the vector of document n. Raises ``UnavailableError``."""
    await index.put(
        [
            VectorPoint(tool.id, vector, text_digest, tool.category)
            for (tool, _, text_digest), vector in zip(batch, vectors, strict=True)
        ]
    )


DocumentStream = Callable[[], AsyncIterator[ToolDoc]]
"""Begins to read all documents from the start; called once for each pass over them."""


@dataclass(slots=True)
class IndexDifferences:
    """Differences between one index and the documents; its truth value is whether there are any."""

    indexed: int
    """Number of indexed tools."""
    missing: list[ToolId] = field(default_factory=list[ToolId])
    """Documents that are not indexed."""
    changed: list[ToolId] = field(default_factory=list[ToolId])
    """Documents that are indexed with another text."""
    orphans: list[ToolId] = field(default_factory=list[ToolId])
    """Indexed tools that have no document."""

    def __bool__(self) -> bool:
        return bool(self.missing or self.changed or self.orphans)


@dataclass(frozen=True, slots=True)
class IndexComparison:
    """Comparison of both indexes with the documents."""

    documents: int
    """Number of documents."""
    points: int
    """Number of points that the vector index counts."""
    vectors: IndexDifferences
    """Differences of the vector index."""
    words: IndexDifferences
    """Differences of the BM25 index."""

    @property
    def is_equal(self) -> bool:
        """Return whether nothing has to be repaired."""
        return not (self.vectors or self.words) and self.points == self.documents


async def compare_indexes(documents: DocumentStream, index: VectorIndex, lexical: LexicalIndex) -> IndexComparison:
    """Compare both indexes with the documents, by ids and texts.

    The vector index must be set up, which also compares encoders. Raises ``UnavailableError``.
    """
    digests, texts = await index.fetch_digests(), await lexical.read_texts()
    vectors, words, count = IndexDifferences(len(digests)), IndexDifferences(len(texts)), 0
    async for tool in documents():
        count += 1
        _record_difference(vectors, tool.id, digests.pop(tool.id, None), hash_text(build_dense_text(tool)))
        _record_difference(words, tool.id, texts.pop(tool.id, None), build_lexical_text(tool))
    vectors.orphans, words.orphans = sorted(digests), sorted(texts)
    return IndexComparison(count, await index.count(), vectors, words)


def _record_difference(differences: IndexDifferences, tool: ToolId, stored: str | None, expected: str) -> None:
    if stored is None:
        differences.missing.append(tool)
    elif stored != expected:
        differences.changed.append(tool)


async def repair_indexes(
    documents: DocumentStream,
    embedder: Embedder,
    index: VectorIndex,
    lexical: LexicalIndex,
    comparison: IndexComparison,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Embed missing and changed documents, remove orphans, and return the number of documents embedded.

    After an interruption, run it again with a new comparison.
    """
    if comparison.vectors.orphans:
        await index.remove(comparison.vectors.orphans)
    embedded = (await index_tools(documents(), embedder, index, lexical, progress)).embedded
    if comparison.words:
        await lexical.replace({tool.id: build_lexical_text(tool) async for tool in documents()})
    return embedded
