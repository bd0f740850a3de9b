"""For an encoder that gives nothing but vectors of texts: the sentences of a request are encoded again, each apart, and its scale is measured."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal, cast

import numpy as np

from retriever.calibration import CosineScale, calibrate, scale_of
from retriever.index import Embedder, Vectors
from retriever.words import sentences


class ReadsApart(ABC):
    """Gives an encoder the methods ``read`` and ``scale`` of :class:`retriever.index.Embedder`."""

    _scale: CosineScale | None = None

    @abstractmethod
    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        """Vectors of shape (len(texts), dimension), in order."""

    async def read(self, texts: Sequence[str]) -> list[Vectors]:
        """Each text's vector, followed by those of its sentences: all texts and sentences in one batch."""
        parts = [[text, *sentences(text)] for text in texts]
        vectors = iter(await self.embed([part for group in parts for part in group], "query"))
        return [np.stack([next(vectors) for _ in group]) for group in parts]

    async def scale(self) -> CosineScale:
        """Measure how its cosines are read, once. Raises ``UnavailableError``."""
        if self._scale is None:
            self._scale = scale_of(await calibrate(cast("Embedder", self)))
        return self._scale
