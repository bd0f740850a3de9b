"""How an encoder is made that needs no torch. Needs torch."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

import retriever.embedders.bundled as bundled
from retriever.embedders.bundled import BundledEmbedder
from retriever.training.export import bundled_source, export_encoder

TEXTS = ["weather forecast for a city", "convert an amount between two currencies", "list the books of an author " * 8]


@pytest.mark.neural
@pytest.mark.timeout(600)
async def test_what_is_exported_runs_without_torch(tmp_path: Path) -> None:
    report = await asyncio.to_thread(export_encoder, bundled_source(), tmp_path / "model", TEXTS)
    assert report.dimension == bundled.DIMENSION
    assert report.mean_cosine > 0.98
    assert report.size < 25_000_000
    made = BundledEmbedder(folder=tmp_path / "model")
    vectors = await made.embed([*TEXTS, "will it rain in Rome tomorrow"], "document")
    assert (vectors**2).sum(axis=1) == pytest.approx(np.ones(4), abs=1e-3)
    assert int((vectors[:3] @ vectors[3]).argmax()) == 0
