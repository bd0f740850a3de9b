"""The protocols of the retriever: an embedder and a vector index."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from domain.tool import ToolId
from retriever.calibration import CosineScale

Vectors = NDArray[np.float32]
"""Shape (n, dimension), rows of unit length."""


class Embedder(Protocol):
    """Text to vectors. ``identity`` names model, dimension and document template: it is the collection's identity."""

    @property
    def identity(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        """Vectors of shape (len(texts), dimension), in order."""
        ...

    async def read(self, texts: Sequence[str]) -> list[Vectors]:
        """Each text as a request: row 0 is the text's vector, the others its sentences', as ``words.sentence_spans`` has them."""
        ...

    async def scale(self) -> CosineScale:
        """Return the maps by which cosines of these vectors are read wherever they are compared with a number. ``UnavailableError``."""
        ...


@dataclass(frozen=True, slots=True)
class Point:
    """A tool's vector. ``digest`` is the hash of the text it was made from; ``category`` can be filtered by."""

    id: ToolId
    vector: NDArray[np.float32]
    digest: str
    category: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result; ``score`` is the cosine similarity, in [-1, 1]."""

    id: ToolId
    score: float


def hit_score(hit: Hit) -> float:
    """Return the cosine, for :mod:`domain.ties`."""
    return hit.score


def hit_id(hit: Hit) -> ToolId:
    """Return the tool's id, for :mod:`domain.ties`."""
    return hit.id


class VectorIndex(Protocol):
    """Vectors of tools by id, for one embedder identity. All methods may raise ``UnavailableError``."""

    async def setup(self, identity: str, dimension: int) -> None:
        """Open or create the collection; ``StoreVersionError`` where it has vectors of another identity."""
        ...

    async def put(self, points: Sequence[Point]) -> None:
        """Insert or replace by id."""
        ...

    async def remove(self, ids: Iterable[ToolId]) -> None:
        """Delete by id; unknown ids are ignored."""
        ...

    async def search(
        self, vector: NDArray[np.float32], limit: int, where: Mapping[str, str] | None = None
    ) -> list[Hit]:
        """The nearest, best first, those of the same cosine by id (:mod:`domain.ties`). ``where`` holds equality filters on the payload (``category``)."""
        ...

    async def cosines(self, asked: Vectors, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        """Each tool's cosines with the rows of ``asked``, shape (len(asked),), in the order of ``ids``; unknown ids are left out.

        A server sends a number for each, not the vectors.
        """
        ...

    async def vectors(self, ids: Iterable[ToolId]) -> dict[ToolId, NDArray[np.float32]]:
        """Stored vectors by id; unknown ids are left out."""
        ...

    async def digests(self) -> dict[ToolId, str]:
        """All ids with the digest of their text: what a re-run need not embed again."""
        ...

    async def count(self) -> int:
        """How many points there are."""
        ...

    async def close(self) -> None:
        """Flush and release; idempotent."""
        ...
