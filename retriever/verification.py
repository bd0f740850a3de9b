"""Whether the indexes hold the documents of the graph, no others, and as they are now; and making it so."""

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
    """``missing``: documents that are not indexed. ``changed``: indexed with another text. ``orphans``: no documents."""

    indexed: int
    missing: list[ToolId] = field(default_factory=list[ToolId])
    changed: list[ToolId] = field(default_factory=list[ToolId])
    orphans: list[ToolId] = field(default_factory=list[ToolId])

    def __bool__(self) -> bool:
        return bool(self.missing or self.changed or self.orphans)


@dataclass(frozen=True, slots=True)
class Comparison:
    """``vectors`` and ``words`` (BM25) against ``documents``. ``points``: what the vector index counts."""

    documents: int
    points: int
    vectors: Differences
    words: Differences

    @property
    def equal(self) -> bool:
        """Whether nothing is to be done."""
        return not (self.vectors or self.words) and self.points == self.documents


async def compare(documents: Documents, index: VectorIndex, lexical: LexicalIndex) -> Comparison:
    """Compare ids and texts. The index must be set up, which compares encoders. Raises ``UnavailableError``."""
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
    """Mend what was found: embed what is missing or changed, remove what has no document. How many were embedded.

    Interrupted, it is run again, from a new comparison.
    """
    if found.vectors.orphans:
        await index.remove(found.vectors.orphans)
    embedded = (await index_tools(documents(), embedder, index, lexical, progress)).embedded
    if found.words:
        await lexical.replace({tool.id: lexical_text(tool) async for tool in documents()})
    return embedded
