"""Computes the links of all tools, incrementally: only for tools that changed or that depend on a changed one.

Tools are first marked as pending in the store and then computed in batches, so that the next run continues an
interrupted one. The result equals that of a full computation, with one exception: similarity lists are not symmetric,
so a changed tool is missed as the substitute of an unchanged one that lists it among its similar tools but is not
listed among those of the changed tool.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from time import perf_counter
from typing import Protocol

from domain.tool import ToolDoc, ToolId
from graph.feed_index import FeedIndex, strip_document
from graph.links import LinkCounts, LinkedGraph, ToolLinks
from graph.substitution import SubstituteCandidate, find_substitutes

RULES_VERSION = 3
"""Version of the rules by which links are computed; raising it makes all links be computed again."""

_BATCH_SIZE = 250

SimilarityMap = Mapping[ToolId, Sequence[tuple[ToolId, float]]]
"""For each tool, other tools with similar documents and their similarity in [-1, 1]."""


class SimilarTools(Protocol):
    """Search for tools with similar documents."""

    @property
    def identity(self) -> str:
        """Name of the method. Links that another method found are computed again."""
        ...

    async def find_similar(self, tools: Sequence[ToolId]) -> SimilarityMap:
        """Return the tools that are similar to each of these."""
        ...


class LinkProgress(Protocol):
    """Callback that receives how many of the pending tools are linked."""

    def __call__(self, done: int, total: int) -> None: ...


@dataclass(frozen=True, slots=True)
class LinkingResult:
    """Result of a linking run."""

    computed: int
    """Tools whose links were computed."""
    counts: LinkCounts
    """Link counts of the whole store."""
    seconds: float


class _LinkCatalogue:
    """All documents, reduced to what links need."""

    def __init__(self) -> None:
        self.tools: dict[ToolId, SubstituteCandidate] = {}
        self._index = FeedIndex()

    def add(self, doc: ToolDoc) -> None:
        bare, fields = strip_document(doc)
        self.tools[doc.id] = SubstituteCandidate(bare, fields)
        self._index.add(bare, fields)

    def compute_links(self, tools: Sequence[ToolId], near: SimilarityMap) -> list[ToolLinks]:
        """Compute the feeds into these tools and their substitutes."""
        return [
            ToolLinks(
                tool,
                self._index.find_feeds(self.tools[tool].doc),
                find_substitutes(
                    self.tools[tool],
                    ((self.tools[other], score) for other, score in near.get(tool, ()) if other in self.tools),
                ),
            )
            for tool in tools
        ]

    def find_consumers(self, producers: Collection[ToolId]) -> set[ToolId]:
        """Return every tool that at least one of ``producers`` can feed."""
        index = FeedIndex()
        for tool in producers:
            index.add(self.tools[tool].doc, self.tools[tool].fields)
        return {tool for tool, known in self.tools.items() if index.find_feeds(known.doc)}


async def link_tools(graph: LinkedGraph, similar: SimilarTools | None, progress: LinkProgress) -> LinkingResult:
    """Bring the links of all documents up to date; without ``similar`` no substitutes are computed.

    Raises:
        UnavailableError: the store, or the search for similar documents.
    """
    start = perf_counter()
    states = await graph.get_link_states()
    identity = similar.identity if similar else ""
    digests = {document.id: compute_link_digest(document, identity) async for document in graph.stream_documents()}
    changed = {tool: digest for tool, digest in digests.items() if tool not in states or states[tool].digest != digest}
    pending = [tool for tool in digests if tool in changed or states[tool].pending]
    if pending:
        catalogue = await _read_catalogue(graph)
        if 0 < len(changed) < len(digests):
            pending = await _find_affected(graph, similar, catalogue, changed, pending)
        # Marked before anything is computed, so that an interrupted run leaves the rest for the next one.
        await graph.expect_links(changed, [tool for tool in pending if tool not in changed])
        await _compute_links(graph, similar, catalogue, pending, progress)
    return LinkingResult(len(pending), await graph.count_links(), perf_counter() - start)


async def link_among(
    graph: LinkedGraph, tools: Sequence[ToolId], others: Collection[ToolId], near: SimilarityMap
) -> int:
    """Link ``tools`` to each other and to ``others`` only, and return how many tools got links.

    Also adds the feeds from ``tools`` into ``others``. Meant for stores whose catalogue takes too long to read; the
    next :func:`link_tools` treats ``tools`` as changed and computes their full links.
    """
    docs = await graph.get_tools({*tools, *others})
    catalogue = _LinkCatalogue()
    new = [tool for tool in tools if tool in docs]

    def compute() -> tuple[list[ToolLinks], list[ToolLinks]]:
        for document in docs.values():
            catalogue.add(document)
        fed = sorted(catalogue.find_consumers(new) - set(new))
        return catalogue.compute_links(new, near), catalogue.compute_links(fed, {})

    own, fed = await asyncio.to_thread(compute)
    joined = [await _merge_existing_links(graph, one, frozenset(new)) for one in fed]
    await graph.put_links([*own, *joined])
    return len(own) + len(joined)


async def _merge_existing_links(graph: LinkedGraph, links: ToolLinks, new: frozenset[ToolId]) -> ToolLinks:
    """Return the stored links of a tool, with its feeds from the new tools added or replaced."""
    existing = [feed for feed in await graph.get_feeds_into(links.tool) if feed.source not in new]
    added = [feed for feed in links.feeds if feed.source in new]
    return ToolLinks(links.tool, [*existing, *added], await graph.get_substitutes(links.tool))


async def _read_catalogue(graph: LinkedGraph) -> _LinkCatalogue:
    """Read all documents, adding them in a thread: reducing and indexing a batch would block the event loop."""
    catalogue = _LinkCatalogue()
    batch: list[ToolDoc] = []

    def add() -> None:
        for document in batch:
            catalogue.add(document)

    async for document in graph.stream_documents():
        batch.append(document)
        if len(batch) == _BATCH_SIZE:
            await asyncio.to_thread(add)
            batch.clear()
    await asyncio.to_thread(add)
    return catalogue


async def _find_affected(
    graph: LinkedGraph,
    similar: SimilarTools | None,
    catalogue: _LinkCatalogue,
    changed: Collection[ToolId],
    pending: Sequence[ToolId],
) -> list[ToolId]:
    """Return the pending tools and all tools whose links depend on a changed one, or will from now on.

    This includes every tool of a changed tool's tool set, since the tools of one set determine each other's entities.
    """
    affected = {*pending, *await graph.find_linked_tools(changed)}
    sets = {catalogue.tools[tool].doc.toolset for tool in changed}
    affected |= {tool for tool, known in catalogue.tools.items() if known.doc.toolset in sets}
    affected |= await asyncio.to_thread(catalogue.find_consumers, changed)
    if similar is not None:
        affected |= {tool for near in (await similar.find_similar(sorted(changed))).values() for tool, _ in near}
    return sorted(affected & catalogue.tools.keys())


async def _compute_links(
    graph: LinkedGraph,
    similar: SimilarTools | None,
    catalogue: _LinkCatalogue,
    pending: Sequence[ToolId],
    progress: LinkProgress,
) -> None:
    """Compute and store the links of the pending tools in batches.

    Each batch is stored at once, so that an interrupted run keeps the finished ones.
    """
    done = 0
    near: SimilarityMap = await similar.find_similar(pending) if similar is not None else {}
    for start in range(0, len(pending), _BATCH_SIZE):
        batch = pending[start : start + _BATCH_SIZE]
        await graph.put_links(await asyncio.to_thread(catalogue.compute_links, batch, near))
        done += len(batch)
        progress(done, len(pending))


def compute_link_digest(document: ToolDoc, identity: str) -> str:
    """Return the digest that a tool's full links are stored under.

    ``identity`` names the search for similar documents.
    """
    text = f"{RULES_VERSION} {identity}\n{document.model_dump_json(exclude_defaults=True)}"
    return blake2b(text.encode(), digest_size=16).hexdigest()
