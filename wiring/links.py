"""Links between a store's tools: coupling and substitutes, computed with the vectors of the same store."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from domain.errors import FootpathError
from domain.tool import ToolId
from graph.linking import Linked, Near, Progress, link_among, link_digest, link_tools
from graph.substitution import SIMILAR
from retriever.calibration import LinearMap
from retriever.index import VectorIndex, Vectors
from wiring.container import Container

_log = logging.getLogger(__name__)

_PORTION = 2_000
LINKED_AT_ONCE = 2_000
"""Largest number of tools in a store whose links are updated after a run: that takes less than a second."""
_BLOCK = 512
_LOOKED_AT = 300
"""Number of most similar tools that a new one is linked with at once, where the store is too large for all."""
NEAREST = 30
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

    async def near(self, tools: Sequence[ToolId]) -> Near:
        """Return the :data:`NEAREST` similar tools of each tool that has a vector, best first.

        Raises ``UnavailableError``.
        """
        if self._vectors is None:
            self._vectors = await self._read()
        return await asyncio.to_thread(self._near, set(tools), self._vectors)

    async def _read(self) -> Vectors:
        known = sorted(await self._index.digests())
        rows: list[Vectors] = []
        # In portions: while they are read, vectors take ten times the memory that they need in the end.
        for start in range(0, len(known), _PORTION):
            found = await self._index.vectors(known[start : start + _PORTION])
            self._ids += sorted(found)
            rows += [np.stack([found[tool] for tool in sorted(found)])] if found else []
        return np.concatenate(rows) if rows else np.empty((0, 0), np.float32)

    def _near(self, tools: set[ToolId], vectors: Vectors) -> Near:
        asked = [row for row, tool in enumerate(self._ids) if tool in tools]
        every = len(asked) == len(self._ids)  # each pair of rows is compared once then
        hits: dict[int, list[tuple[float, int]]] = {row: [] for row in asked}
        for start in range(0, len(asked), _BLOCK):
            rows = asked[start : start + _BLOCK]
            first = start if every else 0
            scores = self._scale.map(vectors[rows] @ vectors[first:].T)
            ours, theirs = np.nonzero(scores >= SIMILAR)
            found: list[float] = scores[ours, theirs].tolist()
            for one, other, score in zip(ours.tolist(), theirs.tolist(), found, strict=True):
                row, column = rows[one], first + other
                if row < column or (row > column and not every):
                    hits[row].append((-score, column))
                    if every:
                        hits[column].append((-score, row))
        return {
            self._ids[row]: [(self._ids[other], -score) for score, other in sorted(near)[:NEAREST]]
            for row, near in hits.items()
        }


async def link_news(container: Container) -> None:
    """Update links after a run whose responses were new; in a large store, links wait for the next build.

    The run was answered already: errors here are only logged.
    """
    try:
        async with container.changing:
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
    if (await graph.link_counts()).pending and (await graph.statistics()).documents <= LINKED_AT_ONCE:
        await link(container, unseen, embedded=True)


def unseen(done: int, total: int) -> None:
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
    mates = {tool.rpartition("/")[0] for tool in tools}
    states = await container.graph.link_states()
    beside = [tool for tool in states if tool.rpartition("/")[0] in mates]
    if (await container.graph.statistics()).documents > LINKED_AT_ONCE:
        return await _link_among_near(container, tools, beside)
    await container.graph.expect_links({}, beside)
    return LinkedTools((await link(container, unseen, embedded=True)).computed)


async def _link_among_near(container: Container, tools: Sequence[ToolId], beside: Sequence[ToolId]) -> LinkedTools:
    """Link tools with the most similar ones of a large store, rather than with all."""
    embedder, index, _ = await container.retrieval()
    scale = (await embedder.scale()).documents
    near: dict[ToolId, list[tuple[ToolId, float]]] = {}
    others = set(beside)
    for tool, vector in (await index.vectors(tools)).items():
        hits = [hit for hit in await index.search(vector, _LOOKED_AT) if hit.id != tool]
        scored = [(hit.id, scale.map(hit.score)) for hit in hits]
        near[tool] = [(other, score) for other, score in scored if score >= SIMILAR][:NEAREST]
        others.update(hit.id for hit in hits)
    return LinkedTools(await link_among(container.graph, tools, others, near), waiting=len(near))


async def link(container: Container, progress: Progress, *, embedded: bool) -> Linked:
    """Update the links of a store. ``embedded``: its tools are indexed, so that substitutes can be found.

    Raises:
        UnavailableError: the store cannot be used.
    """
    similar = None
    if embedded:
        embedder, index, _ = await container.retrieval()
        similar = VectorNeighbours(index, embedder.identity, (await embedder.scale()).documents)
    return await link_tools(container.graph, similar, progress)


async def link_whole(container: Container) -> None:
    """Compute all partial and pending links with all tools of the store. Raises ``UnavailableError``."""
    async with container.changing:
        await link(container, unseen, embedded=True)


async def partly_linked(container: Container, tools: Collection[ToolId]) -> frozenset[ToolId]:
    """Return the tools that have a document and whose links were not computed with all tools.

    Raises ``UnavailableError``.
    """
    if not tools:
        return frozenset()
    docs, states = await container.graph.get_tools(tools), await container.graph.link_states()
    identity = (await container.embedder()).identity
    wholly = {
        tool
        for tool, doc in docs.items()
        if (state := states.get(tool)) and not state.pending and state.digest == link_digest(doc, identity)
    }
    return frozenset(docs.keys() - wholly)
