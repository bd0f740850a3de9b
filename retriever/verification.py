"""Comparison of the indexes with the documents of the graph, and their repair."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from domain.tool import ToolDoc, ToolId
from retriever.documents import dense_text, digest, lexical_text
from retriever.index import Embedder, VectorIndex
from retriever.indexing import index_tools
from retriever.lexical import LexicalIndex

Documents = Callable[[], AsyncIterator[ToolDoc]]


@dataclass(slots=True)
class Differences:
    """Differences between one index and the documents; true if there are any."""

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
class Comparison:
    """Comparison of both indexes with the documents."""

    documents: int
    """Number of documents."""
    points: int
    """Number of points that the vector index counts."""
    vectors: Differences
    words: Differences
    """Differences of the BM25 index."""

    @property
    def equal(self) -> bool:
        """Return whether nothing has to be repaired."""
        return not (self.vectors or self.words) and self.points == self.documents


async def compare(documents: Documents, index: VectorIndex, lexical: LexicalIndex) -> Comparison:
    """Compare both indexes with the documents, by ids and texts.

    The vector index must be set up, which also compares encoders. Raises ``UnavailableError``.
    """
    digests, texts = await index.digests(), await lexical.texts()
    vectors, words, count = Differences(len(digests)), Differences(len(texts)), 0
    async for tool in documents():
        count += 1
        _note(vectors, tool.id, digests.pop(tool.id, None), digest(dense_text(tool)))
        _note(words, tool.id, texts.pop(tool.id, None), lexical_text(tool))
    vectors.orphans, words.orphans = sorted(digests), sorted(texts)
    return Comparison(count, await index.count(), vectors, words)


def _note(differences: Differences, tool: ToolId, found: str | None, wanted: str) -> None:
    if found is None:
        differences.missing.append(tool)
    elif found != wanted:
        differences.changed.append(tool)


async def repair(
    documents: Documents,
    embedder: Embedder,
    index: VectorIndex,
    lexical: LexicalIndex,
    found: Comparison,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Embed missing and changed documents, remove orphans, and return the number of documents embedded.

    After an interruption, run it again with a new comparison.
    """
    if found.vectors.orphans:
        await index.remove(found.vectors.orphans)
    embedded = (await index_tools(documents(), embedder, index, lexical, progress)).embedded
    if found.words:
        await lexical.replace({tool.id: lexical_text(tool) async for tool in documents()})
    return embedded
