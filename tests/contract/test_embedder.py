"""The contract of the encoder: the bundled one, and a service behind a socket."""

from collections.abc import AsyncIterator

import pytest

from retriever.index import Embedder
from tests.contract.embedder import EmbedderContract
from tests.models.openai_replies import scripted
from tests.models.openai_server import model_server
from tests.models.word_vectors import DIMENSION
from wiring.encoders import create_embedder
from wiring.settings import Settings


class TestEmbedder(EmbedderContract):
    @pytest.fixture(params=["bundled", "service"])
    async def embedder(self, request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
        async with model_server(scripted("no chat"), model="words") as server:
            asked = {"embedding_url": server.url, "embedding_name": "words", "embedding_dimension": DIMENSION}
            settings = Settings.model_validate({"embedder": request.param, "embedding_batch": 16, **asked})
            embedder, close = create_embedder(settings)
            yield embedder
            await close()
