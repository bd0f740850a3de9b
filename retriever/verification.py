"""Comparison of the indexes with the documents of the graph, and their repair."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from domain.tool import ToolDoc, ToolId
from retriever.documents import build_dense_text, build_lexical_text, hash_text
from retriever.index import Embedder, VectorIndex
from retriever.indexing import index_tools
from retriever.lexical import LexicalIndex

Documents = Callable[[], AsyncIterator[ToolDoc]]
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


async def compare_indexes(documents: Documents, index: VectorIndex, lexical: LexicalIndex) -> IndexComparison:
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
    documents: Documents,
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
