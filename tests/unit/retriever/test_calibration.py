"""The scale of an encoder's cosines: measured, mapped to the bundled encoder's, and left alone where nothing can be said."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from retriever.backends.exact import ExactIndex
from retriever.calibration import (
    REFERENCE_CALIBRATION,
    REFERENCE_ENCODER,
    REFERENCE_SCALE,
    EncoderCalibration,
    LinearMap,
    PairCosines,
    build_scale,
    get_calibration,
    measure_calibration,
)
from retriever.embedders.onnx_embedder import OnnxEmbedder
from retriever.embedders.sentence_embedder import BaseEmbedder
from retriever.index import Embedder, Vectors
from retriever.indexing import index_tools
from retriever.lexical import LexicalIndex
from retriever.search import ToolSearch
from tests.support.small_world import TOOLS
from tests.support.tool_samples import BagEmbedder, stream


class Shifted(BaseEmbedder):
    """The bundled encoder with other cosines: a constant number is appended."""

    def __init__(self, slope: float, offset: float) -> None:
        self.identity = f"shifted {slope} {offset}"
        self.dimension = 385
        self._parts = np.sqrt(np.array([slope, offset], np.float32))
        self._bundled = OnnxEmbedder()

    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        plain = await self._bundled.embed(texts, role)
        constant = np.ones((len(texts), 1), np.float32)
        return np.concatenate([self._parts[0] * plain, self._parts[1] * constant], axis=1)


class Constant(BaseEmbedder):
    """Gives every text the same vector."""

    identity = "constant:2"
    dimension = 2

    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        return np.full((len(texts), 2), np.sqrt(0.5), np.float32)


class Chance(BaseEmbedder):
    """Gives every text a direction that says nothing of it."""

    identity = "chance:64"
    dimension = 64

    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        rows = np.random.default_rng(len(texts) + (role == "query")).standard_normal((len(texts), 64))
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


async def test_the_reference_is_the_bundled_encoders() -> None:
    bundled = OnnxEmbedder()
    assert bundled.identity == REFERENCE_ENCODER
    measured = await measure_calibration(bundled)
    for kind in ("tools", "requests", "documents"):
        # int8 products differ a little from processor to processor
        assert getattr(measured, kind).model_dump() == pytest.approx(
            getattr(REFERENCE_CALIBRATION, kind).model_dump(), abs=0.02
        )


async def test_the_bundled_encoders_cosines_stay_as_they_are_to_the_bit() -> None:
    assert await get_calibration(OnnxEmbedder()) is REFERENCE_CALIBRATION
    scale = await OnnxEmbedder().get_cosine_scale()
    assert scale is REFERENCE_SCALE
    cosines = np.array([[0.1234567, -0.5], [1.0000001, 0.0]], np.float32)
    assert scale.tools.map(cosines) is cosines
    assert scale.requests.map(1.0000001) == 1.0000001


@pytest.mark.parametrize(("slope", "offset"), [(0.3, 0.7), (0.02, 0.98)])
async def test_shifted_cosines_come_back(slope: float, offset: float) -> None:
    scale = build_scale(await measure_calibration(Shifted(slope, offset)))
    assert scale.comparable
    cosines = np.linspace(-0.2, 1.0, 25, dtype=np.float32)
    for kind in (scale.tools, scale.requests, scale.documents):
        assert kind.map(cosines * slope + offset) == pytest.approx(cosines, abs=0.03)
        assert kind.map(slope + offset) == pytest.approx(1.0, abs=0.03)
        assert kind.map(1.5) == 1.0
        assert kind.map(-1.5) == -1.0


async def test_a_search_by_shifted_cosines_gives_the_same_scores(tmp_path: Path) -> None:
    async def scores(embedder: Embedder, name: str) -> dict[str, float]:
        index, lexical = ExactIndex(), LexicalIndex(tmp_path / name)
        await index.setup(embedder.identity, embedder.dimension)
        await index_tools(stream(TOOLS), embedder, index, lexical)
        hits = await ToolSearch(embedder, index, lexical).find_tools("Will it be warm in Paris tomorrow?", 5)
        return {hit.id: hit.score for hit in hits}

    wanted = await scores(OnnxEmbedder(), "bundled")
    assert await scores(Shifted(0.3, 0.7), "shifted") == pytest.approx(wanted, abs=0.03)


@pytest.mark.parametrize("encoder", [Constant(), Chance()])
async def test_an_encoder_that_tells_no_texts_apart_is_left_as_it_is_with_a_warning(
    encoder: Embedder, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        scale = build_scale(found := await measure_calibration(encoder))
    assert found.is_flat == isinstance(encoder, Constant)
    assert not scale.comparable
    assert scale.tools == LinearMap()
    assert encoder.identity in caplog.text
    assert "hardly tells texts apart" in caplog.text


async def test_kinds_of_pairs_have_scales_of_their_own() -> None:
    """An instruction before requests makes them alike, and moves nothing else."""
    found = EncoderCalibration(
        identity="e",
        tools=REFERENCE_CALIBRATION.tools,
        requests=PairCosines(unrelated=0.6, upper=0.65, related=0.9),
        documents=REFERENCE_CALIBRATION.documents,
    )
    scale = build_scale(found)
    assert scale.tools.map(0.5) == pytest.approx(0.5)
    assert scale.requests.map(0.6) == pytest.approx(REFERENCE_CALIBRATION.requests.unrelated)
    assert scale.requests.map(0.9) == pytest.approx(REFERENCE_CALIBRATION.requests.related)


async def test_words_alone_can_be_calibrated() -> None:
    assert build_scale(await measure_calibration(BagEmbedder())).comparable
