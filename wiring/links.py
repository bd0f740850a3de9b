"""Links between a store's tools: coupling and substitutes, computed with the vectors of the same store."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from domain.errors import FootpathError
from domain.tool import ToolId
from graph.linking import LinkingResult, LinkProgress, SimilarityMap, compute_link_digest, link_among, link_tools
from graph.substitution import MIN_SIMILARITY
from retriever.calibration import LinearMap
from retriever.index import VectorIndex, Vectors
from wiring.container import Container

_log = logging.getLogger(__name__)

_PORTION = 2_000
MAX_LINKED_TOOLS = 2_000
"""Largest number of tools in a store whose links are updated after a run: that takes less than a second."""
_BLOCK_ROWS = 512
_NEAREST_SEARCHED = 300
"""Number of most similar tools that a new one is linked with at once, where the store is too large for all."""
MAX_NEIGHBOURS = 30
"""Number of similar tools that are kept for each tool."""


class VectorNeighbours:
    """Finds similar documents by their stored vectors, which are read once and compared by blocks.

    ``scale`` calibrates the cosines of documents.
    """

    def __init__(self, index: VectorIndex, identity: str, scale: LinearMap) -> None:
        self.identity = identity
        self._index = index
        self._scale = scale
        self._ids: list[ToolId] = []
        self._vectors: Vectors | None = None

    async def find_similar(self, tools: Sequence[ToolId]) -> SimilarityMap:
        """Return the :data:`MAX_NEIGHBOURS` similar tools of each tool that has a vector, best first.

        Raises ``UnavailableError``.
        """
        if self._vectors is None:
            self._vectors = await self._read_vectors()
        return await asyncio.to_thread(self._find_near, set(tools), self._vectors)

    async def _read_vectors(self) -> Vectors:
        ids = sorted(await self._index.fetch_digests())
        rows: list[Vectors] = []
        # In portions: while they are read, vectors take ten times the memory that they need in the end.
        for start in range(0, len(ids), _PORTION):
            vectors = await self._index.fetch_vectors(ids[start : start + _PORTION])
            self._ids += sorted(vectors)
            rows += [np.stack([vectors[tool] for tool in sorted(vectors)])] if vectors else []
        return np.concatenate(rows) if rows else np.empty((0, 0), np.float32)

    def _find_near(self, tools: set[ToolId], vectors: Vectors) -> SimilarityMap:
        wanted_rows = [row for row, tool in enumerate(self._ids) if tool in tools]
        compares_all = len(wanted_rows) == len(self._ids)  # each pair of rows is compared once then
        hits: dict[int, list[tuple[float, int]]] = {row: [] for row in wanted_rows}
        for start in range(0, len(wanted_rows), _BLOCK_ROWS):
            rows = wanted_rows[start : start + _BLOCK_ROWS]
            first = start if compares_all else 0
            scores = self._scale.map(vectors[rows] @ vectors[first:].T)
            ours, theirs = np.nonzero(scores >= MIN_SIMILARITY)
            score_list: list[float] = scores[ours, theirs].tolist()
            for row_offset, other, score in zip(ours.tolist(), theirs.tolist(), score_list, strict=True):
                row, column = rows[row_offset], first + other
                if row < column or (row > column and not compares_all):
                    hits[row].append((-score, column))
                    if compares_all:
                        hits[column].append((-score, row))
        return {
            self._ids[row]: [(self._ids[other], -score) for score, other in sorted(neighbours)[:MAX_NEIGHBOURS]]
            for row, neighbours in hits.items()
        }


async def link_after_run(container: Container) -> None:
    """Update the links after a run whose responses had a new shape; in a large store they wait for the next build.

    The run was answered already: errors here are only logged.
    """
    try:
        async with container.change_lock:
            await link_pending(container)
    except FootpathError as error:
        _log.warning("links were not brought up to date: %s", error)
    except Exception:  # noqa: BLE001  # a defect of ours must not take the answer's run with it
        _log.exception("links could not be brought up to date")


async def link_pending(container: Container) -> None:
    """Compute pending links, unless the store is so large that they wait for the next build.

    Raises ``UnavailableError``.
    """
    graph = container.graph
    if (await graph.count_links()).pending and (await graph.compute_statistics()).documents <= MAX_LINKED_TOOLS:
        await link(container, ignore_progress, embedded=True)


def ignore_progress(done: int, total: int) -> None:
    """Ignore the progress."""
    del done, total


@dataclass(frozen=True, slots=True)
class LinkedTools:
    """Numbers of linked tools."""

    computed: int
    """Tools whose links are up to date now."""
    waiting: int = 0
    """Tools whose links the next build computes fully."""


async def link_changed(container: Container, tools: Sequence[ToolId]) -> LinkedTools:
    """Update the links of tools that came, changed or went, and of the tools that they touch."""
    if not tools:
        return LinkedTools(0)
    toolsets = {tool.rpartition("/")[0] for tool in tools}
    states = await container.graph.get_link_states()
    toolset_mates = [tool for tool in states if tool.rpartition("/")[0] in toolsets]
    if (await container.graph.compute_statistics()).documents > MAX_LINKED_TOOLS:
        return await _link_with_nearest(container, tools, toolset_mates)
    await container.graph.expect_links({}, toolset_mates)
    return LinkedTools((await link(container, ignore_progress, embedded=True)).computed)


async def _link_with_nearest(
    container: Container, tools: Sequence[ToolId], toolset_mates: Sequence[ToolId]
) -> LinkedTools:
    """Link tools with the most similar ones of a large store, rather than with all."""
    embedder, index, _ = await container.get_retrieval()
    scale = (await embedder.get_cosine_scale()).documents
    neighbours: dict[ToolId, list[tuple[ToolId, float]]] = {}
    others = set(toolset_mates)
    for tool, vector in (await index.fetch_vectors(tools)).items():
        hits = [hit for hit in await index.search(vector, _NEAREST_SEARCHED) if hit.id != tool]
        scored = [(hit.id, scale.map(hit.score)) for hit in hits]
        neighbours[tool] = [(other, score) for other, score in scored if score >= MIN_SIMILARITY][:MAX_NEIGHBOURS]
        others.update(hit.id for hit in hits)
    return LinkedTools(await link_among(container.graph, tools, others, neighbours), waiting=len(neighbours))


async def link(container: Container, progress: LinkProgress, *, embedded: bool) -> LinkingResult:
    """Update the links of a store. ``embedded``: its tools are indexed, so that substitutes can be found.

    Raises:
        UnavailableError: the store cannot be used.
    """
    similar = None
    if embedded:
        embedder, index, _ = await container.get_retrieval()
        similar = VectorNeighbours(index, embedder.identity, (await embedder.get_cosine_scale()).documents)
    return await link_tools(container.graph, similar, progress)


async def link_fully(container: Container) -> None:
    """Compute all partial and pending links with all tools of the store, by the vectors in use.

    This takes a minute at 45,000 tools, so a switch of the encoder does not wait for it.

    Raises:
        UnavailableError: the store cannot be used.
    """
    async with container.change_lock:
        await link(container, ignore_progress, embedded=True)


async def find_partly_linked(container: Container, tools: Collection[ToolId]) -> frozenset[ToolId]:
    """Return the tools that have a document and whose links were not computed with all tools.

    Raises ``UnavailableError``.
    """
    if not tools:
        return frozenset()
    docs, states = await container.graph.get_tools(tools), await container.graph.get_link_states()
    identity = (await container.embedder()).identity
    fully_linked = {
        tool
        for tool, doc in docs.items()
        if (state := states.get(tool)) and not state.pending and state.digest == compute_link_digest(doc, identity)
    }
    return frozenset(docs.keys() - fully_linked)
