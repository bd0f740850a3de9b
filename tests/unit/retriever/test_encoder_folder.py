"""Encoders of one's own that are not read as the bundled one is."""

# pyright: reportMissingTypeStubs=false

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnxruntime import InferenceSession
from tokenizers import Tokenizer

from domain.errors import UnavailableError, UsageError
from retriever.document_texts import TEMPLATE_VERSION
from retriever.embedders.onnx_embedder import BUNDLED_FOLDER, OnnxEmbedder
from retriever.encoder_folder import CONFIG_FILE, EncoderConfig, hash_encoder, read_encoder_config, write_encoder_config
from retriever.index import Vectors
from retriever.training.export import infer_encoder_config

RAIN, MONEY = "Will it rain in Rome tomorrow?", "Please convert 20 dollars to euros."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "encoder"
    shutil.copytree(BUNDLED_FOLDER, found)
    return found


def states(text: str) -> tuple[Vectors, list[tuple[int, int]]]:
    """Of the text's tokens, and where they begin and end."""
    session: Any = InferenceSession(BUNDLED_FOLDER / "model.onnx")
    tokenizer = Tokenizer.from_file(str(BUNDLED_FOLDER / "tokenizer.json"))
    tokenizer.no_padding()
    row = tokenizer.encode(text)
    found = session.run(None, {"input_ids": [row.ids], "attention_mask": [[1] * len(row.ids)]})[0][0]
    return found, list(row.offsets)


def unit(vector: Vectors) -> Vectors:
    return (vector / np.linalg.norm(vector)).astype(np.float32)


async def test_a_vector_may_be_of_the_first_token() -> None:
    embedder = OnnxEmbedder(config=EncoderConfig(pooling="cls", query_prefix="find: "))
    (asked,) = await embedder.embed([RAIN], "query")
    (document,) = await embedder.embed([RAIN], "document")
    assert asked == pytest.approx(unit(states(f"find: {RAIN}")[0][0]), abs=1e-5)
    assert document == pytest.approx(unit(states(RAIN)[0][0]), abs=1e-5)


async def test_sentences_are_then_read_apart() -> None:
    embedder = OnnxEmbedder(config=EncoderConfig(pooling="cls"))
    one, (whole,) = await embedder.embed_requests([f"{RAIN} {MONEY}", RAIN])
    assert one[1] == pytest.approx(whole, abs=1e-5)
    assert one[2] == pytest.approx(unit(states(MONEY)[0][0]), abs=1e-5)


async def test_what_stands_before_a_request_belongs_to_none_of_its_sentences() -> None:
    embedder = OnnxEmbedder(config=EncoderConfig(query_prefix="find: "))
    (found,) = await embedder.embed_requests([f"{RAIN} {MONEY}"])
    tokens, offsets = states(f"find: {RAIN} {MONEY}")
    begin, cut = len("find: "), len(f"find: {RAIN}")
    first = [row for row, (start, end) in enumerate(offsets) if begin <= start < end <= cut]
    second = [row for row, (start, end) in enumerate(offsets) if cut < start < end]
    for vector, rows in zip(found, (range(len(tokens)), first, second), strict=True):
        assert vector == pytest.approx(unit(tokens[list(rows)].mean(axis=0)), abs=1e-5)


async def test_texts_are_cut_where_the_form_says() -> None:
    embedder = OnnxEmbedder(config=EncoderConfig(query_tokens=12, document_tokens=8))
    (asked,) = await embedder.embed([f"{RAIN} {MONEY}"], "query")
    (document,) = await embedder.embed([f"{RAIN} {MONEY}"], "document")
    tokens = [f"{RAIN} please convert 20", "will it rain in rome tomorrow"]  # and the two around a text
    for vector, text in zip((asked, document), tokens, strict=True):
        assert vector == pytest.approx(unit(states(text)[0].mean(axis=0)), abs=1e-5)


@pytest.mark.parametrize(
    ("form", "told"),
    [
        (EncoderConfig(document_tokens=600), r"encoder\.json: the model does not read 600 tokens"),
        (EncoderConfig(query_tokens=10, query_prefix="represent this: "), "'query_prefix' takes 3 of the 10"),
    ],
)
async def test_lengths_that_cannot_be_are_told_at_once(form: EncoderConfig, told: str) -> None:
    with pytest.raises(UnavailableError, match=told):
        await OnnxEmbedder(config=form).embed([RAIN], "query")


def test_an_encoder_of_ones_own_is_not_named_like_the_bundled_one(folder: Path) -> None:
    write_encoder_config(EncoderConfig(query_tokens=64), folder)
    own = OnnxEmbedder(1, folder, hash_encoder(folder), read_encoder_config(folder))
    assert own.identity == f"encoder:{hash_encoder(folder)[:16]}:text{TEMPLATE_VERSION}:384"


async def test_a_short_first_sentence_stays_none_with_a_prefix() -> None:
    embedder = OnnxEmbedder(config=EncoderConfig(query_prefix="find this: "))
    (found,) = await embedder.embed_requests([f"Hello there, friend. {RAIN} {MONEY}"])
    assert len(found) == 1 + 2


def test_the_form_names_an_encoder_too(folder: Path) -> None:
    bundled = hash_encoder(folder)
    write_encoder_config(EncoderConfig(), folder)
    assert (hash_encoder(folder), read_encoder_config(folder)) == (bundled, EncoderConfig())
    form = EncoderConfig(pooling="cls", query_prefix="find: ")
    write_encoder_config(form, folder)
    assert read_encoder_config(folder) == form
    assert hash_encoder(folder) != bundled


async def test_a_wrong_dimension_is_told(folder: Path) -> None:
    with pytest.raises(UnavailableError, match="gives 384 numbers, not 768"):
        await OnnxEmbedder(folder=folder, config=EncoderConfig(dimension=768)).embed([RAIN], "query")


def test_the_pooling_of_sentence_transformers_is_taken(tmp_path: Path) -> None:
    assert infer_encoder_config(tmp_path) == EncoderConfig()
    file = tmp_path / "1_Pooling" / "config.json"
    file.parent.mkdir()
    file.write_text('{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}')
    assert infer_encoder_config(tmp_path).pooling == "cls"
    for kind in ("cls", "mean"):
        file.write_text(f'{{"embedding_dimension": 384, "pooling_mode": "{kind}"}}')
        assert infer_encoder_config(tmp_path).pooling == kind
    for unknown in ("{}", '{"pooling_mode": "max"}', '{"pooling_mode": ["cls", "mean"]}', "[]"):
        file.write_text(unknown)
        with pytest.raises(UsageError, match="--pooling"):
            infer_encoder_config(tmp_path)
    write_encoder_config(EncoderConfig(query_prefix="find: "), tmp_path)
    assert infer_encoder_config(tmp_path) == EncoderConfig(query_prefix="find: "), "its own word counts first"


@pytest.mark.parametrize("text", ["{", "[]", '{"pooling": "max"}', '{"poling": "cls"}'])
def test_a_broken_form_is_told_with_its_file(folder: Path, text: str) -> None:
    (folder / CONFIG_FILE).write_text(text)
    with pytest.raises(UsageError, match=r"encoder\.json cannot be used \([^\n]+; export the encoder anew$"):
        read_encoder_config(folder)
