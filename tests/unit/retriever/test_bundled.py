import hashlib
import shutil
from pathlib import Path

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


async def test_meaning(embedder: BundledEmbedder) -> None:
    rain, weather, money = await embedder.embed(
        ["will it rain tomorrow", "weather forecast for the next day", "convert dollars to euros"], "query"
    )
    assert rain @ weather > rain @ money + 0.2


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
async def test_a_damaged_file_is_reported(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(FOLDER, folder)
    (folder / name).write_bytes((folder / name).read_bytes()[:1000])
    with pytest.raises(UnavailableError, match="install Footpath anew"):
        await BundledEmbedder(folder=folder).embed(["a"], "query")
