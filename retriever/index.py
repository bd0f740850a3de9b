"""Protocols of the retriever: an embedder, and an index of the vectors that it makes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from domain.tool import ToolId
from retriever.calibration import CosineScale

Vectors = NDArray[np.float32]
"""Vectors of unit length as rows, shape (n, dimension)."""


class Embedder(Protocol):
    """Encoder that turns texts into vectors."""

    @property
    def identity(self) -> str:
        """Name of model, dimension and document template, which identifies a collection of its vectors."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        """Return vectors of shape (len(texts), dimension), in order."""
        ...

    async def embed_requests(self, texts: Sequence[str]) -> list[Vectors]:
        """Embed texts as requests, each with its sentences.

        Row 0 of a result is the vector of the whole text, the others are those of its sentences, as
        :func:`retriever.words.find_sentence_spans` finds them.
        """
        ...

    async def get_cosine_scale(self) -> CosineScale:
        """Return the maps that bring cosines of these vectors to the scale of thresholds.

        Raises:
            UnavailableError: the encoder cannot be reached.
        """
        ...


@dataclass(frozen=True, slots=True)
class VectorPoint:
    """A tool's vector with its payload."""

    id: ToolId
    vector: NDArray[np.float32]
    digest: str
    """Hash of the text that the vector was made from (:func:`retriever.document_texts.hash_text`)."""
    category: str
    """The tool's category, by which a search can be filtered."""


@dataclass(frozen=True, slots=True)
class VectorHit:
    """A search result of a vector index."""

    id: ToolId
    score: float
    """Cosine similarity, in [-1, 1]."""


def get_hit_score(hit: VectorHit) -> float:
    """Return the hit's cosine, as a key for :mod:`domain.ranking`."""
    return hit.score


def get_hit_id(hit: VectorHit) -> ToolId:
    """Return the tool's id, as a key for :mod:`domain.ranking`."""
    return hit.id


class VectorIndex(Protocol):
    """Vectors of tools by id, for one embedder identity. All methods may raise ``UnavailableError``."""

    async def setup(self, identity: str, dimension: int) -> None:
        """Open or create the collection; raises ``StoreVersionError`` if it has vectors of another identity."""
        ...

    async def put(self, points: Sequence[VectorPoint]) -> None:
        """Insert or replace points by id."""
        ...

    async def remove(self, ids: Iterable[ToolId]) -> None:
        """Delete points by id; unknown ids are ignored."""
        ...

    async def search(
        self, vector: NDArray[np.float32], limit: int, filters: Mapping[str, str] | None = None
    ) -> list[VectorHit]:
        """Return the nearest points, best first; ties are ordered by id (:mod:`domain.ranking`).

        ``filters`` holds equality filters on the payload (``category``).
        """
        ...

    async def compute_cosines(self, queries: Vectors, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        """Return each tool's cosines with the rows of ``queries``, shape (queries,), in the order of ``ids``.

        Unknown ids are left out. A server computes the cosines itself and sends no vectors.
        """
        ...

    async def fetch_vectors(self, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        """Return stored vectors by id; unknown ids are left out."""
        ...

    async def fetch_digests(self) -> dict[ToolId, str]:
        """Return all ids with the digest of their text, so that a re-run embeds only what has changed."""
        ...

    async def count(self) -> int:
        """Return the number of points."""
        ...

    async def close(self) -> None:
        """Flush and release resources; idempotent."""
        ...
