"""The links of a store's tools: coupling and substitutes, found with the vectors of the same store."""

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
"""Tools of a store whose links are brought up to date after a run: that takes less than a second."""
_BLOCK = 512
_LOOKED_AT = 300
"""Tools most like a new one that it is linked with at once, where the store is too large to look at all."""
NEAREST = 30
"""Similar tools that are looked at for each."""


class VectorNeighbours:
    """Finds similar documents by their stored vectors: all are read once, and compared by blocks. ``scale``: of cosines of documents."""

    def __init__(self, index: VectorIndex, identity: str, scale: LinearMap) -> None:
        self.identity = identity
        self._index = index
        self._scale = scale
        self._ids: list[ToolId] = []
        self._vectors: Vectors | None = None

    async def near(self, tools: Sequence[ToolId]) -> Near:
        """The :data:`NEAREST` of each tool that has a vector, of those that are similar at all, best first. Raises ``UnavailableError``."""
        if self._vectors is None:
            self._vectors = await self._read()
        return await asyncio.to_thread(self._near, set(tools), self._vectors)

    async def _read(self) -> Vectors:
        known = sorted(await self._index.digests())
        rows: list[Vectors] = []
        # In portions: on their way they take ten times the memory that they need in the end.
        for start in range(0, len(known), _PORTION):
            found = await self._index.vectors(known[start : start + _PORTION])
            self._ids += sorted(found)
            rows += [np.stack([found[tool] for tool in sorted(found)])] if found else []
        return np.concatenate(rows) if rows else np.empty((0, 0), np.float32)

    def _near(self, tools: set[ToolId], vectors: Vectors) -> Near:
        asked = [row for row, tool in enumerate(self._ids) if tool in tools]
        every = len(asked) == len(self._ids)  # then each pair is looked at once
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
    """Bring links up to date after a run whose answers told of responses nobody knew; in a large store they wait for the next build.

    The run was answered: what goes wrong here is logged.
    """
    try:
        async with container.changing:
            await link_pending(container)
    except FootpathError as error:
        _log.warning("links were not brought up to date: %s", error)
    except Exception:  # noqa: BLE001  # a defect of ours must not take the answer's run with it
        _log.exception("links could not be brought up to date")


async def link_pending(container: Container) -> None:
    """Compute the links that wait, where the store is not so large that they wait for the next build. Raises ``UnavailableError``."""
    graph = container.graph
    if (await graph.link_counts()).pending and (await graph.statistics()).documents <= LINKED_AT_ONCE:
        await link(container, unseen, embedded=True)


def unseen(done: int, total: int) -> None:
    """Nobody watches."""
    del done, total


@dataclass(frozen=True, slots=True)
class LinkedTools:
    """``computed``: tools whose links are up to date now; ``waiting``: those whose links the next build computes whole."""

    computed: int
    waiting: int = 0


async def link_changed(container: Container, tools: Sequence[ToolId]) -> LinkedTools:
    """Bring up to date the links of tools that came, changed or went, and of those that they touch."""
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
    """With what is most like them in a large store, rather than with everything."""
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
    """Bring the links of a store up to date. ``embedded``: its tools are indexed, so that substitutes can be found.

    Raises:
        UnavailableError: the store cannot be used.
    """
    similar = None
    if embedded:
        embedder, index, _ = await container.retrieval()
        similar = VectorNeighbours(index, embedder.identity, (await embedder.scale()).documents)
    return await link_tools(container.graph, similar, progress)


async def link_whole(container: Container) -> None:
    """Compute whatever links were computed in part, or wait, with all tools of the store. Raises ``UnavailableError``."""
    async with container.changing:
        await link(container, unseen, embedded=True)


async def partly_linked(container: Container, tools: Collection[ToolId]) -> frozenset[ToolId]:
    """Those of these that have a document, and whose links were not computed with all tools of the store in sight. Raises ``UnavailableError``."""
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
