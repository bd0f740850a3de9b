"""Candidates of a request, with their scores and the evidence for the re-ranker.

They are found by vector and by words; a search with a re-ranker adds other tools of the strongest tool sets, tools that
were called next to strong candidates, and tools that served similar requests.
"""

import asyncio
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.tool import FINISH, ToolId, make_tool_id, split_tool_id
from retriever.calibration import LinearMap
from retriever.experience import Precedent, ToolExperience, TransitionCount
from retriever.features import MAX_STRONG_CANDIDATES, ScoredCandidates, argsort_descending
from retriever.index import Embedder, VectorIndex, Vectors
from retriever.lexical import LexicalMatch, LexicalReader
from retriever.words import split_sentences

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EncodedRequest:
    """Vectors and BM25 matches of a request."""

    vectors: Vectors
    """Row 0 is the vector of the whole text, the others are those of its sentences."""
    matches: Sequence[LexicalMatch]
    """BM25 matches of the same texts, in order."""
    scale: LinearMap
    """Map of cosines with tools to the scale of thresholds and re-ranking."""

    @property
    def text_vector(self) -> NDArray[np.float32]:
        """Return the vector of the whole text."""
        return self.vectors[0]

    def compute_scores(self, cosines: Mapping[ToolId, NDArray[np.float32]]) -> tuple[Scores, Scores]:
        """Return calibrated cosines and BM25 scores, each of shape (tools, texts) and in [0, 1].

        ``cosines``: each tool's cosines with ``vectors``, as an index returns them. Rows are in its order.
        """
        if not cosines:
            return np.zeros((0, len(self.matches)), np.float32), np.zeros((0, len(self.matches)), np.float32)
        scaled = np.clip(self.scale.map(np.stack(list(cosines.values()))), 0.0, 1.0)
        return scaled, np.stack([match.select_scores(list(cosines)) for match in self.matches], axis=1)


class RequestEncoder:
    """Encodes requests, and caches the latest ``cache_size``: a search needs its request at every node."""

    def __init__(self, embedder: Embedder, lexical: LexicalReader, cache_size: int = 64) -> None:
        self._embedder = embedder
        self._lexical = lexical
        self._limit = cache_size
        self._cache: OrderedDict[str, EncodedRequest] = OrderedDict()

    async def encode(self, texts: Sequence[str]) -> list[EncodedRequest]:
        """Encode texts, in order; new ones are embedded in one batch."""
        new = [text for text in dict.fromkeys(texts) if text not in self._cache]
        encoded = {text: self._cache[text] for text in texts if text in self._cache}
        if new:
            encoded |= await self._encode(new)
        for text, request in encoded.items():
            self._cache[text] = request
            self._cache.move_to_end(text)
        while len(self._cache) > self._limit:
            self._cache.popitem(last=False)
        return [encoded[text] for text in texts]

    async def _encode(self, texts: Sequence[str]) -> dict[str, EncodedRequest]:
        matching = asyncio.gather(*(self._match_parts(text) for text in texts))
        vectors, matches, scale = await asyncio.gather(
            self._embedder.embed_requests(texts), matching, self._embedder.get_cosine_scale()
        )
        return {
            text: EncodedRequest(*request_parts, scale.tools)
            for text, request_parts in zip(texts, zip(vectors, matches, strict=True), strict=True)
        }

    async def _match_parts(self, text: str) -> Sequence[LexicalMatch]:
        return await asyncio.gather(*(self._lexical.match(part) for part in [text, *split_sentences(text)]))


_MAX_LINKED = 20
"""Maximum of tools that are added because they were called next to strong candidates."""
_MAX_PRECEDENTS, _MAX_USED_PRECEDENTS = 32, 5
"""Maximum of similar requests that are read, and of those whose tools are added."""
_MAX_TOOLSETS, _MAX_PER_TOOLSET = 3, 20
"""Maximum of tool sets whose other tools are added, and of candidates from each."""


@dataclass(frozen=True, slots=True)
class GatheredCandidates:
    """Candidates of one request with the evidence for the re-ranker."""

    candidates: ScoredCandidates
    transitions: Sequence[TransitionCount] = ()
    """Transitions out of or into the candidates."""
    precedents: Sequence[Precedent] = ()
    """Similar past requests with the tools that served them, best first."""


class CandidateGatherer:
    """Finds and scores the candidates of requests. Safe for concurrent use."""

    def __init__(
        self,
        embedder: Embedder,
        index: VectorIndex,
        lexical: LexicalReader,
        dense_weight: float,
        experience: ToolExperience | None = None,
    ) -> None:
        self._encoder = RequestEncoder(embedder, lexical)
        self._lexical = lexical
        self._index = index
        self._dense_weight = dense_weight
        self._experience = experience

    async def gather(
        self, requests: Sequence[str], size: int, category: str | None, *, widen: bool = True
    ) -> list[GatheredCandidates]:
        """Return the candidates of each request, in order; all requests share the reads of the graph.

        Args:
            requests: the requests.
            size: number of candidates from the vectors, and as many from the words.
            category: category that tools must have; None for any.
            widen: add tools by tool set, transitions and precedents, which need a second round of scoring.
        """
        # One text in each call: an embedding service's vector may depend on the texts that are sent with it.
        encoded = [item for (item,) in await asyncio.gather(*(self._encoder.encode([request]) for request in requests))]
        nearest_ids = await asyncio.gather(*(self._find_nearest(item, size, category) for item in encoded))
        if not widen:
            scored = await self._score_all(requests, encoded, nearest_ids)
            return [GatheredCandidates(item) for item in scored]
        scored, transitions, precedents = await asyncio.gather(
            self._score_all(requests, encoded, nearest_ids),
            self._find_transitions(nearest_ids),
            asyncio.gather(*(self._search_precedents(item, _MAX_PRECEDENTS) for item in encoded)),
        )
        added_ids = [
            _find_additional_tools(*evidence, category)
            for evidence in zip(scored, transitions, precedents, encoded, strict=True)
        ]
        added, added_transitions = await asyncio.gather(
            self._score_all(requests, encoded, added_ids), self._find_transitions(added_ids)
        )
        return [
            _build_pool(*parts) for parts in zip(scored, transitions, precedents, added, added_transitions, strict=True)
        ]

    async def count_tools(self) -> int:
        """Return the number of indexed tools."""
        return await self._lexical.count()

    async def find_precedents(self, request: str, limit: int) -> Sequence[Precedent]:
        """Return the past requests most similar to this one, best first."""
        (encoded,) = await self._encoder.encode([request])
        return await self._search_precedents(encoded, limit)

    async def score_tools(self, texts: Sequence[str], ids: Sequence[ToolId]) -> list[ScoredCandidates]:
        """Score each text against those of the given tools that are indexed."""
        encoded = await self._encoder.encode(texts)
        cosines = await self._index.compute_cosines(
            np.concatenate([encoded_request.vectors for encoded_request in encoded]), ids
        )
        scored: list[ScoredCandidates] = []
        start = 0
        for text, encoded_request in zip(texts, encoded, strict=True):
            own_rows = slice(start, start := start + len(encoded_request.vectors))
            scored.append(self._score(text, encoded_request, {tool: row[own_rows] for tool, row in cosines.items()}))
        return scored

    async def _find_nearest(self, encoded: EncodedRequest, size: int, category: str | None) -> list[ToolId]:
        """Return the ``size`` nearest tools by vector, followed by those by words."""
        filters = None if category is None else {"category": category}
        nearest, matched = await asyncio.gather(
            self._search_vectors(encoded, size, filters), asyncio.to_thread(_match_words, encoded, size, category)
        )
        return list(dict.fromkeys(nearest + matched))

    async def _score_all(
        self, requests: Sequence[str], encoded: Sequence[EncodedRequest], ids: Sequence[Sequence[ToolId]]
    ) -> list[ScoredCandidates]:
        """Score each request's tools."""
        cosines = await asyncio.gather(
            *(
                self._index.compute_cosines(encoded_request.vectors, tool_ids)
                for encoded_request, tool_ids in zip(encoded, ids, strict=True)
            )
        )
        return [self._score(*scoring_inputs) for scoring_inputs in zip(requests, encoded, cosines, strict=True)]

    async def _find_transitions(self, tool_groups: Sequence[Sequence[ToolId]]) -> list[list[TransitionCount]]:
        """Return the transitions out of or into each of these sets of tools, in one read of the graph."""
        all_tools = list(dict.fromkeys(tool for group in tool_groups for tool in group))
        transitions = await self._experience.find_transitions(all_tools) if self._experience and all_tools else ()
        tool_sets = [frozenset(group) for group in tool_groups]
        return [
            [transition for transition in transitions if transition.source in group or transition.target in group]
            for group in tool_sets
        ]

    async def _search_precedents(self, encoded: EncodedRequest, limit: int) -> Sequence[Precedent]:
        return await self._experience.find_precedents(encoded.text_vector, limit) if self._experience and limit else ()

    async def _search_vectors(
        self, encoded: EncodedRequest, size: int, filters: Mapping[str, str] | None
    ) -> list[ToolId]:
        return [hit.id for hit in await self._index.search(encoded.text_vector, size, filters)]

    def _score(
        self, request: str, encoded: EncodedRequest, cosines: Mapping[ToolId, NDArray[np.float32]]
    ) -> ScoredCandidates:
        """Score the tools that have these cosines with the request."""
        dense, bm25 = encoded.compute_scores(cosines)
        dense_weight = self._dense_weight
        fused = (dense_weight * combine_part_scores(dense) + (1 - dense_weight) * combine_part_scores(bm25)).astype(
            np.float32
        )
        return ScoredCandidates(request, tuple(cosines), dense, bm25, fused)


def _find_additional_tools(
    candidates: ScoredCandidates,
    transitions: Sequence[TransitionCount],
    precedents: Sequence[Precedent],
    encoded: EncodedRequest,
    category: str | None,
) -> list[ToolId]:
    """Return tools to add to the candidates, by tool set, transitions and precedents."""
    if not candidates.ids:
        return []
    same_toolset = _find_same_toolset(candidates, encoded.matches[0].ids)
    return list(
        dict.fromkeys(
            [
                *same_toolset,
                *_find_linked_tools(candidates, transitions, category),
                *_find_precedent_tools(candidates, precedents, category),
            ]
        )
    )


def _build_pool(
    candidates: ScoredCandidates,
    transitions: Sequence[TransitionCount],
    precedents: Sequence[Precedent],
    added: ScoredCandidates,
    added_transitions: Sequence[TransitionCount],
) -> GatheredCandidates:
    """Join the first candidates and those that were added, with the transitions of both."""
    if not candidates.ids:
        return GatheredCandidates(candidates)
    if not added.ids:
        return GatheredCandidates(candidates, transitions, precedents)
    return GatheredCandidates(
        _concatenate_candidates(candidates, added), tuple(dict.fromkeys([*transitions, *added_transitions])), precedents
    )


def combine_part_scores(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return one score for each tool: the mean of column 0, the whole text's, and the best column of a sentence.

    A request may ask for several things, and each tool serves one of them. ``scores``: shape (tools, texts).
    """
    return scores[:, 0] if scores.shape[1] == 1 else (scores[:, 0] + scores[:, 1:].max(axis=1)) / 2


def _match_words(encoded: EncodedRequest, limit: int, category: str | None) -> list[ToolId]:
    """Return candidates by BM25, from the whole request and from each sentence."""
    first = encoded.matches[0]
    allowed = None  # a mask of the rows in the category, whose ids are a slice of the sorted ids
    if category is not None:
        allowed = np.zeros(len(first.ids), np.bool_)
        allowed[_slice_prefix(make_tool_id(category, "", "").removesuffix("//"), first.ids)] = True
    sentence_limit = limit // len(encoded.matches) + 1
    matched = first.select_best(limit, allowed)
    # If the index was swapped between two matches, their rows differ: then only the whole request's count.
    for match in encoded.matches[1:]:
        if match.ids is first.ids:
            matched += match.select_best(sentence_limit, allowed)
    return matched


def _find_linked_tools(
    candidates: ScoredCandidates, transitions: Sequence[TransitionCount], category: str | None
) -> list[ToolId]:
    """Return other tools with transitions from or to the strongest candidates, best linked first."""
    strong_scores = {
        candidates.ids[row]: float(candidates.fused[row])
        for row in argsort_descending(candidates.fused)[:MAX_STRONG_CANDIDATES]
    }
    known_ids, link_weights = set(candidates.ids), dict[ToolId, float]()
    for transition in transitions:
        for end, neighbour in ((transition.source, transition.target), (transition.target, transition.source)):
            if end not in strong_scores or neighbour in known_ids or neighbour == FINISH:
                continue
            if category in (None, split_tool_id(neighbour)[0]):
                link_weights[neighbour] = link_weights.get(neighbour, 0.0) + strong_scores[end] * transition.count
    return sorted(link_weights, key=lambda tool: (-link_weights[tool], tool))[:_MAX_LINKED]


def _find_precedent_tools(
    candidates: ScoredCandidates, precedents: Sequence[Precedent], category: str | None
) -> list[ToolId]:
    """Return other tools that served the most similar requests."""
    tools = dict.fromkeys(tool for precedent in precedents[:_MAX_USED_PRECEDENTS] for tool in precedent.tools)
    known_ids = set(candidates.ids)
    return [tool for tool in tools if tool not in known_ids and category in (None, split_tool_id(tool)[0])]


def _find_same_toolset(candidates: ScoredCandidates, ids: Sequence[ToolId]) -> list[ToolId]:
    """Return other tools of the strongest candidates' tool sets.

    ``ids``: all indexed tools, sorted.
    """
    order = argsort_descending(candidates.fused)
    toolset_prefixes = list(
        dict.fromkeys(candidates.ids[row].rpartition("/")[0] for row in order[: 4 * _MAX_TOOLSETS])
    )[:_MAX_TOOLSETS]
    same_toolset: list[ToolId] = []
    for prefix in toolset_prefixes:
        same_toolset += ids[_slice_prefix(prefix, ids)][:_MAX_PER_TOOLSET]
    known_ids = set(candidates.ids)
    return [tool for tool in same_toolset if tool not in known_ids]


def _slice_prefix(prefix: str, ids: Sequence[ToolId]) -> slice:
    """Return the slice of sorted ids that lie in a category or tool set, given as the beginning of an id."""
    # "0" is the character right after "/", so that the second bound is behind all ids with the prefix.
    return slice(bisect_left(ids, f"{prefix}/"), bisect_left(ids, f"{prefix}0"))


def _concatenate_candidates(first: ScoredCandidates, second: ScoredCandidates) -> ScoredCandidates:
    return ScoredCandidates(
        first.request,
        (*first.ids, *second.ids),
        np.concatenate([first.cosines, second.cosines]),
        np.concatenate([first.bm25, second.bm25]),
        np.concatenate([first.fused, second.fused]),
    )
