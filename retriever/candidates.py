"""Which tools a request is ranked over: near by vector, alike by words, of the strongest tool sets, walked beside the strongest, and what served requests alike."""

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
"""Tools that are taken because they were walked beside strong candidates, at most."""
_ALIKE, _FOLLOWED = 32, 5
"""Requests alike that are looked at, and how many of them have their tools taken."""
_SETS, _OF_A_SET = 3, 20
"""Strongest tool sets whose other tools are taken too, and how many of each at most."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates with the transitions beside them, and requests alike with what served them, best first."""

    candidates: Candidates
    walked: Sequence[Walked] = ()
    precedents: Sequence[Precedent] = ()


class Gathering:
    """Gathers candidates. Safe for concurrent use."""

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
        """For each request ``size`` from each side; ``widen``: with those of their tool sets, those walked beside strong ones and those that
        served requests alike. What several requests want of the graph is asked for together.
        """
        # Each by itself: a vector of an embedding service may depend on what is sent with its text.
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
        """How many tools are indexed."""
        return await self._lexical.count()

    async def like(self, request: str, limit: int) -> Sequence[Precedent]:
        """The requests most like this one."""
        (asked,) = await self._reader.read([request])
        return await self._precedents(asked, limit)

    async def relevance(self, texts: Sequence[str], ids: Sequence[ToolId]) -> list[Candidates]:
        """Each text's scores against those of the tools that are indexed."""
        asked = await self._reader.read(texts)
        cosines = await self._index.cosines(np.concatenate([one.vectors for one in asked]), ids)
        found: list[Candidates] = []
        begin = 0
        for text, one in zip(texts, asked, strict=True):
            own = slice(begin, begin := begin + len(one.vectors))
            found.append(self._judged(text, one, {tool: row[own] for tool, row in cosines.items()}))
        return found

    async def _nearest(self, asked: ReadyRequest, size: int, category: str | None) -> list[ToolId]:
        where = None if category is None else {"category": category}
        near, worded = await asyncio.gather(
            self._near(asked, size, where), asyncio.to_thread(_worded, asked, size, category)
        )
        return list(dict.fromkeys(near + worded))

    async def _all_judged(
        self, requests: Sequence[str], asked: Sequence[ReadyRequest], ids: Sequence[Sequence[ToolId]]
    ) -> list[Candidates]:
        """The scores of each request's tools."""
        cosines = await asyncio.gather(
            *(self._index.cosines(one.vectors, own) for one, own in zip(asked, ids, strict=True))
        )
        return [self._judged(*known) for known in zip(requests, asked, cosines, strict=True)]

    async def _beside(self, tools: Sequence[Sequence[ToolId]]) -> list[list[Walked]]:
        """The transitions beside each of these sets of tools, in one read of the graph."""
        everything = list(dict.fromkeys(tool for own in tools for tool in own))
        walked = await self._experience.beside(everything) if self._experience and everything else ()
        sets = [frozenset(own) for own in tools]
        return [[one for one in walked if one.source in own or one.target in own] for own in sets]

    async def _precedents(self, asked: ReadyRequest, limit: int) -> Sequence[Precedent]:
        return await self._experience.precedents(asked.whole, limit) if self._experience and limit else ()

    async def _near(self, asked: ReadyRequest, size: int, where: Mapping[str, str] | None) -> list[ToolId]:
        return [hit.id for hit in await self._index.search(asked.whole, size, where)]

    def _judged(self, request: str, asked: ReadyRequest, cosines: Mapping[ToolId, NDArray[np.float32]]) -> Candidates:
        """The scores of tools with these cosines."""
        dense, worded = asked.scores(cosines)
        share = self._dense_weight
        fused = (share * halves(dense) + (1 - share) * halves(worded)).astype(np.float32)
        return Candidates(request, tuple(cosines), dense, worded, fused)


def _others(
    found: Candidates, walked: Sequence[Walked], alike: Sequence[Precedent], asked: ReadyRequest, category: str | None
) -> list[ToolId]:
    """What else there is to look at beside what was found; nothing beside nothing."""
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
    if not found.ids:
        return Pool(found)
    if not more.ids:
        return Pool(found, walked, alike)
    return Pool(_joined(found, more), tuple(dict.fromkeys([*walked, *further])), alike)


def halves(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Column 0 is the whole text's; the mean of it and the best other column.

    A request asks for several things, and each tool serves one.
    """
    return scores[:, 0] if scores.shape[1] == 1 else (scores[:, 0] + scores[:, 1:].max(axis=1)) / 2


def _worded(asked: ReadyRequest, limit: int, category: str | None) -> list[ToolId]:
    """Candidates by words, from the whole request and from each sentence."""
    first = asked.matches[0]
    allowed = None
    if category is not None:
        allowed = np.zeros(len(first.ids), np.bool_)
        allowed[_beginning_with(tool_id(category, "", "").removesuffix("//"), first.ids)] = True
    share = limit // len(asked.matches) + 1
    found = first.best(limit, allowed)
    # Where the index was swapped between two sentences, their rows differ: those of the whole request count.
    for match in asked.matches[1:]:
        if match.ids is first.ids:
            found += match.best(share, allowed)
    return found


def _linked(found: Candidates, walked: Sequence[Walked], category: str | None) -> list[ToolId]:
    """Tools outside ``found`` that stand beside its strongest, those with the most and the strongest links first."""
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
    """Tools outside ``found`` that served the requests most alike."""
    tools = dict.fromkeys(tool for one in precedents[:_FOLLOWED] for tool in one.tools)
    known = set(found.ids)
    return [tool for tool in tools if tool not in known and category in (None, tool_id_parts(tool)[0])]


def _siblings(found: Candidates, ids: Sequence[ToolId]) -> list[ToolId]:
    """Tools outside ``found`` of the tool sets that its strongest are of. ``ids``: all that are indexed, ordered."""
    order = best_first(found.fused)
    sets = list(dict.fromkeys(found.ids[place].rpartition("/")[0] for place in order[: 4 * _SETS]))[:_SETS]
    taken: list[ToolId] = []
    for name in sets:
        taken += ids[_beginning_with(name, ids)][:_OF_A_SET]
    known = set(found.ids)
    return [tool for tool in taken if tool not in known]


def _beginning_with(name: str, ids: Sequence[ToolId]) -> slice:
    """Where those of a category or a tool set are among ordered ids: "0" comes right after "/"."""
    return slice(bisect_left(ids, f"{name}/"), bisect_left(ids, f"{name}0"))


def _joined(one: Candidates, other: Candidates) -> Candidates:
    return Candidates(
        one.request,
        (*one.ids, *other.ids),
        np.concatenate([one.cosines, other.cosines]),
        np.concatenate([one.worded, other.worded]),
        np.concatenate([one.fused, other.fused]),
    )
