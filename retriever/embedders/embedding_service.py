"""Embedder that calls an embedding service, and checks its answers before use."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from domain.errors import ModelUnavailableError
from retriever.document_texts import TEMPLATE_VERSION
from retriever.embedders.sentence_embedder import BaseEmbedder
from retriever.index import Vectors

MAX_CHARS = 2_000
"""Characters after which a text is cut: about 500 tokens, the most that small encoders accept."""

_MAX_CONCURRENT_BATCHES = 4
"""Maximum of batches that are sent at the same time."""


class EmbeddingService(Protocol):
    """Client of an embedding service."""

    @property
    def name(self) -> str:
        """Name of the model."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        """Return a row for each text, in order. Raises ``ModelUnavailableError``."""
        ...


@dataclass(frozen=True, slots=True)
class TextPrefixes:
    """Prefixes that a model expects: E5 "query: " and "passage: ", BGE an instruction before requests."""

    query: str = ""
    """Text that is put before requests."""
    document: str = ""
    """Text that is put before documents."""


class ServiceEmbedder(BaseEmbedder):
    """Embeds texts by a service, ``batch`` texts a request.

    The identity names no host: the same model served elsewhere uses the same index.
    """

    def __init__(
        self, service: EmbeddingService, dimension: int, prefixes: TextPrefixes | None = None, *, batch: int = 64
    ) -> None:
        self._service = service
        self._dimension = dimension
        self._prefixes = prefixes or TextPrefixes()
        self._batch = batch
        self._semaphore = asyncio.Semaphore(_MAX_CONCURRENT_BATCHES)

    @property
    def identity(self) -> str:
        """Return the service's model, template version, prefixes and dimension."""
        joined_prefixes = f"{self._prefixes.query}\0{self._prefixes.document}"
        prefixes = (
            ""
            if joined_prefixes == "\0"
            else f":prefixes-{blake2b(joined_prefixes.encode(), digest_size=4).hexdigest()}"
        )
        return f"service:{self._service.name}:text{TEMPLATE_VERSION}{prefixes}:{self._dimension}"

    @property
    def dimension(self) -> int:
        """Return the numbers in a vector."""
        return self._dimension

    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        """Return vectors of shape (len(texts), dimension), in order.

        Raises:
            ModelUnavailableError: the service gave no usable answer, or vectors of another dimension.
        """
        prefix = self._prefixes.query if role == "query" else self._prefixes.document
        inputs = [prefix + _prepare_text(text) for text in texts]
        vectors = np.zeros((len(inputs), self._dimension), np.float32)

        async def embed_batch(start: int) -> None:
            async with self._semaphore:
                rows = await self._service.embed(inputs[start : start + self._batch])
            for place, row in enumerate(rows, start):
                vectors[place] = self._normalize(row)

        tasks = [asyncio.create_task(embed_batch(start)) for start in range(0, len(inputs), self._batch)]
        try:
            await asyncio.gather(*tasks)
        finally:
            # One failed batch fails all: the others are cancelled and awaited, so that none runs on unnoticed.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return vectors

    def _normalize(self, row: NDArray[np.float64]) -> NDArray[np.float64]:
        """Check a row and scale it to unit length. Raises ``ModelUnavailableError``."""
        if row.shape != (self._dimension,):
            raise self._build_error(
                f"sent a vector of {row.size} numbers where FOOTPATH_EMBEDDING_DIMENSION is {self._dimension}: set what "
                "scripts/check_model.py --embedding tells, or FOOTPATH_EMBEDDING_SHORTEN where the model can be shortened"
            )
        if not np.isfinite(row).all():
            raise self._build_error("sent a vector with numbers that are none (NaN or infinite): its model is damaged")
        largest = float(np.abs(row).max())
        if largest == 0.0:
            raise self._build_error("sent a vector of zeros only: FOOTPATH_EMBEDDING_NAME is no embedding model")
        scaled = row / largest  # squares of very small or large numbers would underflow or overflow
        return scaled / np.linalg.norm(scaled)

    def _build_error(self, reason: str) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"the embedding service of {self._service.name!r} {reason}", "protocol", lasting=True
        )


def _prepare_text(text: str) -> str:
    """Cut a text and replace lone surrogates; an empty text becomes a blank, since services refuse it."""
    return text[:MAX_CHARS].encode("utf-8", "replace").decode() or " "
