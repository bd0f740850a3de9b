import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest

import retriever.embedders.bundled as bundled
from domain.errors import UnavailableError
from retriever.embedders.bundled import DIMENSION, MODEL, SHA256, BundledEmbedder

FOLDER = Path(bundled.__file__).parent / "minilm_int8"


@pytest.fixture(scope="module")
def embedder() -> BundledEmbedder:
    return BundledEmbedder()


def test_the_committed_files_are_those_of_the_identity(embedder: BundledEmbedder) -> None:
    blob = (FOLDER / "model.onnx").read_bytes() + (FOLDER / "tokenizer.json").read_bytes()
    assert hashlib.sha256(blob).hexdigest() == SHA256
    assert MODEL in embedder.identity
    assert SHA256[:16] in embedder.identity
    assert embedder.identity.endswith(f":{DIMENSION}")


async def test_unit_vectors_in_order(embedder: BundledEmbedder) -> None:
    texts = [f"{'long text ' * (n % 7)} number {n}" for n in range(70)]
    vectors = await embedder.embed(texts, "document")
    assert vectors.shape == (70, DIMENSION)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(70), abs=1e-5)
    for row in (0, 33, 69):
        alone = (await embedder.embed([texts[row]], "document"))[0]
        assert float(alone @ vectors[row]) > 0.97  # int8 scales depend on the batch


async def test_meaning(embedder: BundledEmbedder) -> None:
    rain, weather, money = await embedder.embed(
        ["will it rain tomorrow", "weather forecast for the next day", "convert dollars to euros"], "query"
    )
    assert rain @ weather > rain @ money + 0.2


async def test_odd_texts(embedder: BundledEmbedder) -> None:
    vectors = await embedder.embed(["", " ", "\ud800", "天气", "x" * 1_000_000, "a b " * 100_000, "\0"], "query")
    assert np.isfinite(vectors).all()
    assert (await embedder.embed([], "query")).shape == (0, DIMENSION)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
async def test_a_damaged_file_is_reported(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(FOLDER, folder)
    (folder / name).write_bytes((folder / name).read_bytes()[:1000])
    with pytest.raises(UnavailableError, match="install Footpath anew"):
        await BundledEmbedder(folder=folder).embed(["a"], "query")
