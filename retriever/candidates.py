"""Candidates of a request: by vector, by words, from the strongest tool sets, by transitions and by precedents."""

import asyncio
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.tool import FINISH, ToolId, tool_id, tool_id_parts
from retriever.experience import Experience, Precedent, Walked
from retriever.features import STRONG, Candidates, best_first
from retriever.index import Embedder, VectorIndex
from retriever.lexical import Words
from retriever.request import ReadyRequest, RequestReader

_LINKED = 20
"""Maximum of tools that are added because they were walked next to strong candidates."""
_ALIKE, _FOLLOWED = 32, 5
"""Similar requests that are read, and how many of them contribute their tools."""
_SETS, _OF_A_SET = 3, 20
"""Strongest tool sets whose other tools are added, and the maximum of each."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates of one request with the evidence for the re-ranker."""

    candidates: Candidates
    walked: Sequence[Walked] = ()
    """Transitions out of or into the candidates."""
    precedents: Sequence[Precedent] = ()
    """Similar past requests with the tools that served them, best first."""


class Gathering:
    """Finds and scores the candidates of requests. Safe for concurrent use."""

    def __init__(
        self,
        embedder: Embedder,
        index: VectorIndex,
        lexical: Words,
        dense_weight: float,
        experience: Experience | None = None,
    ) -> None:
        self._reader = RequestReader(embedder, lexical)
        self._lexical = lexical
        self._index = index
        self._dense_weight = dense_weight
        self._experience = experience

    async def gather(
        self, requests: Sequence[str], size: int, category: str | None, *, widen: bool = True
    ) -> list[Pool]:
        """Return the candidates of each request, ``size`` from the vectors and ``size`` from the words.

        With ``widen``, tools of the strongest tool sets, tools walked next to strong candidates and tools that served similar requests
        are added. Reads of the graph are shared by all requests.
        """
        # One text in each call: an embedding service's vector may depend on the texts that are sent with it.
        asked = [one for (one,) in await asyncio.gather(*(self._reader.read([request]) for request in requests))]
        found = await asyncio.gather(*(self._nearest(one, size, category) for one in asked))
        if not widen:
            judged = await self._all_judged(requests, asked, found)
            return [Pool(one) for one in judged]
        judged, walked, alike = await asyncio.gather(
            self._all_judged(requests, asked, found),
            self._beside(found),
            asyncio.gather(*(self._precedents(one, _ALIKE) for one in asked)),
        )
        others = [_others(*known, category) for known in zip(judged, walked, alike, asked, strict=True)]
        more, further = await asyncio.gather(self._all_judged(requests, asked, others), self._beside(others))
        return [_pool(*parts) for parts in zip(judged, walked, alike, more, further, strict=True)]

    async def size(self) -> int:
        """Return the number of indexed tools."""
        return await self._lexical.count()

    async def like(self, request: str, limit: int) -> Sequence[Precedent]:
        """Return the past requests most similar to this one, best first."""
        (asked,) = await self._reader.read([request])
        return await self._precedents(asked, limit)

    async def relevance(self, texts: Sequence[str], ids: Sequence[ToolId]) -> list[Candidates]:
        """Score each text against those of the given tools that are indexed."""
        asked = await self._reader.read(texts)
        cosines = await self._index.cosines(np.concatenate([one.vectors for one in asked]), ids)
        found: list[Candidates] = []
        begin = 0
        for text, one in zip(texts, asked, strict=True):
            own = slice(begin, begin := begin + len(one.vectors))
            found.append(self._judged(text, one, {tool: row[own] for tool, row in cosines.items()}))
        return found

    async def _nearest(self, asked: ReadyRequest, size: int, category: str | None) -> list[ToolId]:
        """Return the ``size`` nearest tools by vector, followed by those by words."""
        where = None if category is None else {"category": category}
        near, worded = await asyncio.gather(
            self._near(asked, size, where), asyncio.to_thread(_worded, asked, size, category)
        )
        return list(dict.fromkeys(near + worded))

    async def _all_judged(
        self, requests: Sequence[str], asked: Sequence[ReadyRequest], ids: Sequence[Sequence[ToolId]]
    ) -> list[Candidates]:
        """Score each request's tools."""
        cosines = await asyncio.gather(
            *(self._index.cosines(one.vectors, own) for one, own in zip(asked, ids, strict=True))
        )
        return [self._judged(*known) for known in zip(requests, asked, cosines, strict=True)]

    async def _beside(self, tools: Sequence[Sequence[ToolId]]) -> list[list[Walked]]:
        """Return the transitions out of or into each of these sets of tools, in one read of the graph."""
        everything = list(dict.fromkeys(tool for own in tools for tool in own))
        walked = await self._experience.beside(everything) if self._experience and everything else ()
        sets = [frozenset(own) for own in tools]
        return [[one for one in walked if one.source in own or one.target in own] for own in sets]

    async def _precedents(self, asked: ReadyRequest, limit: int) -> Sequence[Precedent]:
        return await self._experience.precedents(asked.whole, limit) if self._experience and limit else ()

    async def _near(self, asked: ReadyRequest, size: int, where: Mapping[str, str] | None) -> list[ToolId]:
        return [hit.id for hit in await self._index.search(asked.whole, size, where)]

    def _judged(self, request: str, asked: ReadyRequest, cosines: Mapping[ToolId, NDArray[np.float32]]) -> Candidates:
        """Score the tools that have these cosines with the request."""
        dense, worded = asked.scores(cosines)
        share = self._dense_weight
        fused = (share * halves(dense) + (1 - share) * halves(worded)).astype(np.float32)
        return Candidates(request, tuple(cosines), dense, worded, fused)


def _others(
    found: Candidates, walked: Sequence[Walked], alike: Sequence[Precedent], asked: ReadyRequest, category: str | None
) -> list[ToolId]:
    """Return tools to add to the candidates by tool set, transitions and precedents; none without candidates."""
    if not found.ids:
        return []
    siblings = _siblings(found, asked.matches[0].ids)
    return list(dict.fromkeys([*siblings, *_linked(found, walked, category), *_followed(found, alike, category)]))


def _pool(
    found: Candidates,
    walked: Sequence[Walked],
    alike: Sequence[Precedent],
    more: Candidates,
    further: Sequence[Walked],
) -> Pool:
    """Join the first candidates with those added later (``more``) and their transitions (``further``)."""
    if not found.ids:
        return Pool(found)
    if not more.ids:
        return Pool(found, walked, alike)
    return Pool(_joined(found, more), tuple(dict.fromkeys([*walked, *further])), alike)


def halves(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean of column 0, the whole text's, and the best other column.

    A request may ask for several things, and each tool serves one of them.
    """
    return scores[:, 0] if scores.shape[1] == 1 else (scores[:, 0] + scores[:, 1:].max(axis=1)) / 2


def _worded(asked: ReadyRequest, limit: int, category: str | None) -> list[ToolId]:
    """Return candidates by BM25, from the whole request and from each sentence."""
    first = asked.matches[0]
    allowed = None
    if category is not None:
        allowed = np.zeros(len(first.ids), np.bool_)
        allowed[_beginning_with(tool_id(category, "", "").removesuffix("//"), first.ids)] = True
    share = limit // len(asked.matches) + 1
    found = first.best(limit, allowed)
    # If the index was swapped between two matches, their rows differ: then only the whole request's count.
    for match in asked.matches[1:]:
        if match.ids is first.ids:
            found += match.best(share, allowed)
    return found


def _linked(found: Candidates, walked: Sequence[Walked], category: str | None) -> list[ToolId]:
    """Return tools outside ``found`` that have transitions from or to its strongest, best linked first."""
    strong = {found.ids[place]: float(found.fused[place]) for place in best_first(found.fused)[:STRONG]}
    known, weight = set(found.ids), dict[ToolId, float]()
    for one in walked:
        for here, there in ((one.source, one.target), (one.target, one.source)):
            if here not in strong or there in known or there == FINISH:
                continue
            if category in (None, tool_id_parts(there)[0]):
                weight[there] = weight.get(there, 0.0) + strong[here] * one.count
    return sorted(weight, key=lambda tool: (-weight[tool], tool))[:_LINKED]


def _followed(found: Candidates, precedents: Sequence[Precedent], category: str | None) -> list[ToolId]:
    """Return tools outside ``found`` that served the most similar requests."""
    tools = dict.fromkeys(tool for one in precedents[:_FOLLOWED] for tool in one.tools)
    known = set(found.ids)
    return [tool for tool in tools if tool not in known and category in (None, tool_id_parts(tool)[0])]


def _siblings(found: Candidates, ids: Sequence[ToolId]) -> list[ToolId]:
    """Return tools outside ``found`` from the tool sets of its strongest. ``ids``: all indexed tools, sorted."""
    order = best_first(found.fused)
    sets = list(dict.fromkeys(found.ids[place].rpartition("/")[0] for place in order[: 4 * _SETS]))[:_SETS]
    taken: list[ToolId] = []
    for name in sets:
        taken += ids[_beginning_with(name, ids)][:_OF_A_SET]
    known = set(found.ids)
    return [tool for tool in taken if tool not in known]


def _beginning_with(name: str, ids: Sequence[ToolId]) -> slice:
    """Return the slice of sorted ids that lie in a category or tool set; "0" is the character right after "/"."""
    return slice(bisect_left(ids, f"{name}/"), bisect_left(ids, f"{name}0"))


def _joined(one: Candidates, other: Candidates) -> Candidates:
    return Candidates(
        one.request,
        (*one.ids, *other.ids),
        np.concatenate([one.cosines, other.cosines]),
        np.concatenate([one.worded, other.worded]),
        np.concatenate([one.fused, other.fused]),
    )
