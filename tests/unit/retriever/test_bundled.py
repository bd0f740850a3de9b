# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnxruntime import InferenceSession
from tokenizers import Tokenizer

from domain.errors import UnavailableError
from retriever.embedders.onnx_embedder import BUNDLED_FOLDER, MODEL_NAME, MODEL_SHA256, OnnxEmbedder
from retriever.encoder_folder import hash_encoder


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder()


def test_the_committed_files_are_those_of_the_identity(embedder: OnnxEmbedder) -> None:
    assert hash_encoder(BUNDLED_FOLDER) == MODEL_SHA256
    assert MODEL_NAME in embedder.identity
    assert MODEL_SHA256[:16] in embedder.identity
    assert embedder.identity.endswith(":384")


def test_its_runtime_reports_nothing_to_its_maker(tmp_path: Path) -> None:
    """It would keep what it has to send in a folder of its own in the home."""
    program = "from retriever.embedders.onnx_embedder import OnnxEmbedder as B; B().load()"
    told = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": str(Path.cwd()),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    subprocess.run([sys.executable, "-c", program], check=True, env=told, timeout=200)
    assert list(tmp_path.iterdir()) == []


async def test_meaning(embedder: OnnxEmbedder) -> None:
    rain, weather, money = await embedder.embed(
        ["will it rain tomorrow", "weather forecast for the next day", "convert dollars to euros"], "query"
    )
    assert rain @ weather > rain @ money + 0.2


RAIN, MONEY = "Will it rain in Rome tomorrow?", "Please convert 20 dollars to euros."


async def test_a_sentence_is_the_mean_of_its_tokens_in_the_whole_request(embedder: OnnxEmbedder) -> None:
    (found,) = await embedder.embed_requests([f"{RAIN} {MONEY}"])
    session: Any = InferenceSession(BUNDLED_FOLDER / "model.onnx")
    tokenizer = Tokenizer.from_file(str(BUNDLED_FOLDER / "tokenizer.json"))
    tokenizer.no_padding()
    row = tokenizer.encode(f"{RAIN} {MONEY}")
    states = session.run(None, {"input_ids": [row.ids], "attention_mask": [[1] * len(row.ids)]})[0][0]
    cut = row.tokens.index("?") + 1
    for vector, part in zip(found, (states, states[1:cut], states[cut:-1]), strict=True):
        assert vector == pytest.approx(part.mean(axis=0) / np.linalg.norm(part.mean(axis=0)), abs=1e-5)


async def test_row_0_is_what_the_request_has_alone(embedder: OnnxEmbedder) -> None:
    (found,) = await embedder.embed_requests([f"{RAIN} {MONEY}"])
    assert found[0] == pytest.approx((await embedder.embed([f"{RAIN} {MONEY}"], "query"))[0], abs=1e-6)


async def test_requests_of_any_length_in_order(embedder: OnnxEmbedder) -> None:
    asked = [f"Number {n} is what I ask. " * (n % 4 + 1) for n in range(40)]
    found = await embedder.embed_requests(asked)
    assert [len(vectors) for vectors in found] == [1 if n % 4 == 0 else n % 4 + 2 for n in range(40)]
    for place in (0, 1, 22, 39):
        (alone,) = await embedder.embed_requests([asked[place]])
        assert alone == pytest.approx(found[place], abs=1e-5)


async def test_a_sentence_beyond_the_last_token_has_the_vector_of_the_whole(embedder: OnnxEmbedder) -> None:
    (found,) = await embedder.embed_requests([f"{RAIN} {'very ' * 200}long words follow. {MONEY}"])
    whole, rain, cut, money = found
    assert money == pytest.approx(whole)
    assert rain @ whole < 0.99
    assert 0.9 < cut @ whole < 0.9999


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
async def test_a_damaged_file_is_reported(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(BUNDLED_FOLDER, folder)
    (folder / name).write_bytes((folder / name).read_bytes()[:1000])
    with pytest.raises(UnavailableError, match="install Footpath anew"):
        await OnnxEmbedder(folder=folder).embed(["a"], "query")
