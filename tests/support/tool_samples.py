"""Small documents, and an embedder without a model."""

import hashlib
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Literal

import numpy as np

from domain.tool import Parameter, ToolDoc, make_tool_id
from retriever.calibration import REFERENCE_SCALE, CosineScale
from retriever.embedders.sentence_embedder import BaseEmbedder
from retriever.index import Vectors
from retriever.words import split_terms


def document(api: str, description: str = "", toolset: str = "Weather Station", category: str = "Weather") -> ToolDoc:
    return ToolDoc(
        id=make_tool_id(category, toolset, api),
        category=category,
        toolset=toolset,
        api=api,
        function=api,
        description=description,
        parameters=(Parameter(name="cityName"),),
    )


async def stream(documents: Iterable[ToolDoc]) -> AsyncIterator[ToolDoc]:
    for one in documents:
        yield one


class BagEmbedder(BaseEmbedder):
    """Words hashed to a few directions: like texts are near, nothing is loaded. Counts what it embeds."""

    identity = "bag:1"
    dimension = 64

    def __init__(self) -> None:
        self.embedded: list[str] = []

    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        self.embedded += texts
        rows = np.full((len(texts), self.dimension), 1e-3, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in split_terms(text):
                row[hashlib.blake2b(word.encode()).digest()[0] % self.dimension] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    async def get_cosine_scale(self) -> CosineScale:
        return REFERENCE_SCALE
