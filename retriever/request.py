"""Requests encoded for scoring: vectors and BM25 scores of the whole text and of each sentence."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.tool import ToolId
from retriever.calibration import LinearMap
from retriever.index import Embedder, Vectors
from retriever.lexical import LexicalMatch, Words
from retriever.words import sentences

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ReadyRequest:
    """Vectors and BM25 matches of a request."""

    vectors: Vectors
    """Row 0 is the whole text's, the others are its sentences'."""
    matches: Sequence[LexicalMatch]
    """BM25 matches, in the same order."""
    scale: LinearMap
    """Map of cosines with tools to the scale of thresholds and re-ranking."""

    @property
    def whole(self) -> NDArray[np.float32]:
        """Return the vector of the whole text."""
        return self.vectors[0]

    def scores(self, cosines: Mapping[ToolId, NDArray[np.float32]]) -> tuple[Scores, Scores]:
        """Return calibrated cosines and BM25 scores of each tool, in order, each of shape (tools, texts), in [0, 1].

        ``cosines``: each tool's cosines with ``vectors``, as an index returns them.
        """
        if not cosines:
            return np.zeros((0, len(self.matches)), np.float32), np.zeros((0, len(self.matches)), np.float32)
        scaled = np.clip(self.scale.map(np.stack(list(cosines.values()))), 0.0, 1.0)
        return scaled, np.stack([match.of(list(cosines)) for match in self.matches], axis=1)


class RequestReader:
    """Encodes requests and caches the latest ``remembered``: a walk needs the same request at every node."""

    def __init__(self, embedder: Embedder, lexical: Words, remembered: int = 64) -> None:
        self._embedder = embedder
        self._lexical = lexical
        self._limit = remembered
        self._remembered: OrderedDict[str, ReadyRequest] = OrderedDict()

    async def read(self, texts: Sequence[str]) -> list[ReadyRequest]:
        """Encode texts, in order; new ones are embedded in one batch."""
        new = [text for text in dict.fromkeys(texts) if text not in self._remembered]
        found = {text: self._remembered[text] for text in texts if text in self._remembered}
        if new:
            found |= await self._make(new)
        for text, request in found.items():
            self._remembered[text] = request
            self._remembered.move_to_end(text)
        while len(self._remembered) > self._limit:
            self._remembered.popitem(last=False)
        return [found[text] for text in texts]

    async def _make(self, texts: Sequence[str]) -> dict[str, ReadyRequest]:
        matching = asyncio.gather(*(self._matches(text) for text in texts))
        vectors, matches, scale = await asyncio.gather(self._embedder.read(texts), matching, self._embedder.scale())
        return {
            text: ReadyRequest(*made, scale.tools)
            for text, made in zip(texts, zip(vectors, matches, strict=True), strict=True)
        }

    async def _matches(self, text: str) -> Sequence[LexicalMatch]:
        return await asyncio.gather(*(self._lexical.match(part) for part in [text, *sentences(text)]))
