"""Base class of embedders: it embeds sentences separately and measures the scale of cosines."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal, cast

import numpy as np

from retriever.calibration import CosineScale, build_scale, get_calibration
from retriever.index import Embedder, Vectors
from retriever.words import split_sentences


class BaseEmbedder(ABC):
    """Implements :class:`retriever.index.Embedder` by :meth:`embed`, identity and dimension of a subclass."""

    _scale: CosineScale | None = None

    @abstractmethod
    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        """Return vectors of shape (len(texts), dimension), in order."""

    async def embed_requests(self, texts: Sequence[str]) -> list[Vectors]:
        """Return each text's vector followed by those of its sentences, all embedded in one batch."""
        text_groups = [[text, *split_sentences(text)] for text in texts]
        vectors = iter(await self.embed([part for group in text_groups for part in group], "query"))
        return [np.stack([next(vectors) for _ in group]) for group in text_groups]

    async def get_cosine_scale(self) -> CosineScale:
        """Return the scale of the encoder's cosines, measured at the first call. Raises ``UnavailableError``."""
        if self._scale is None:
            self._scale = build_scale(await get_calibration(cast("Embedder", self)))
        return self._scale
