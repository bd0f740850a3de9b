"""The bundled encoder behind the local server, its cosines on another scale: every cosine ``c`` of two texts becomes ``slope * c + offset``.

``python -m tests.models.shifted_encoder --slope 0.3 --offset 0.7`` prints the settings that name it, and serves until it is stopped.
"""

import argparse
import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from retriever.embedders.onnx_embedder import OnnxEmbedder
from retriever.index import Vectors
from tests.models.openai_replies import ChatRequest, Reply, scripted
from tests.models.openai_server import ModelServer, model_server
from tests.models.word_vectors import embedding_body

QUERY, DOCUMENT = "query: ", "passage: "
MODEL = "shifted"


@dataclass
class ShiftedEncoder:
    """Answers embedding requests.

    A constant number appended to unit vectors adds the same to each cosine. What is left of the unit length goes into a number of the
    text's own, which adds nothing to the cosine of two texts.
    """

    slope: float
    offset: float
    texts: int = 512
    """Different texts that it can tell apart, where ``slope`` and ``offset`` leave something of the unit length."""
    _encoder: OnnxEmbedder = field(default_factory=OnnxEmbedder)
    _places: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def own(self) -> float:
        """What of a vector's squared length is the text's own."""
        return max(0.0, 1.0 - self.slope - self.offset)

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return self._encoder.dimension + 1 + (self.texts if self.own > 1e-9 else 0)

    def settings(self, server: ModelServer) -> dict[str, Any]:
        """Those that name this encoder as ``server`` serves it."""
        return {
            "embedder": "service",
            "embedding_url": server.url,
            "embedding_name": MODEL,
            "embedding_dimension": self.dimension,
            "embedding_query_prefix": QUERY,
            "embedding_document_prefix": DOCUMENT,
            "embedding_attempts": 1,
        }

    def __call__(self, request: ChatRequest) -> Reply:
        texts: list[str] = request.body["input"]
        found = np.zeros((len(texts), self.dimension), np.float32)
        for prefix in (QUERY, DOCUMENT):
            rows = [row for row, text in enumerate(texts) if text.startswith(prefix)]
            if rows:
                found[rows] = self._shifted([texts[row].removeprefix(prefix) for row in rows], prefix)
        return embedding_body(found.tolist())

    def _shifted(self, texts: list[str], prefix: str) -> Vectors:
        role = "query" if prefix == QUERY else "document"
        with ThreadPoolExecutor(1) as thread:  # the server's own event loop is running here
            plain = thread.submit(asyncio.run, self._encoder.embed(texts, role)).result()
        found = np.zeros((len(texts), self.dimension), np.float32)
        width = plain.shape[1]
        found[:, :width] = np.sqrt(self.slope) * plain
        found[:, width] = np.sqrt(self.offset)
        if self.own > 1e-9:
            for row, text in enumerate(texts):
                place = self._places.setdefault(prefix + text, len(self._places))
                if place >= self.texts:
                    raise ValueError(f"more than {self.texts} different texts: give ShiftedEncoder more")
                found[row, width + 1 + place] = np.sqrt(self.own)
        return found


async def _serve(encoder: ShiftedEncoder, port: int) -> None:
    async with model_server(scripted("no chat"), model=MODEL, embed=encoder, port=port) as server:
        for name, value in encoder.settings(server).items():
            print(f"FOOTPATH_{name.upper()}='{value}'", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Serve until it is stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slope", type=float, required=True)
    parser.add_argument("--offset", type=float, required=True)
    parser.add_argument("--texts", type=int, default=512, help="texts that can be told apart")
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args()
    asyncio.run(_serve(ShiftedEncoder(given.slope, given.offset, given.texts), given.port))


if __name__ == "__main__":
    main()
