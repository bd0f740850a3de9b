"""How an encoder is made that needs no torch. Needs torch."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false

import asyncio
import shutil
from pathlib import Path

import numpy as np
import pytest

from domain.errors import UnavailableError
from retriever.embedders.onnx_embedder import BUNDLED_FOLDER, OnnxEmbedder
from retriever.encoder_folder import EncoderConfig, read_encoder_config
from retriever.training.export import export_encoder, find_bundled_source

TEXTS = ["weather forecast for a city", "convert an amount between two currencies", "list the books of an author " * 8]


@pytest.mark.neural
@pytest.mark.timeout(600)
async def test_what_is_exported_runs_without_torch(tmp_path: Path) -> None:
    report = await asyncio.to_thread(export_encoder, find_bundled_source(), tmp_path / "model", TEXTS)
    assert report.dimension == 384
    assert report.mean_cosine > 0.98
    assert report.size < 25_000_000
    made = OnnxEmbedder(folder=tmp_path / "model")
    vectors = await made.embed([*TEXTS, "will it rain in Rome tomorrow"], "document")
    assert (vectors**2).sum(axis=1) == pytest.approx(np.ones(4), abs=1e-3)
    assert int((vectors[:3] @ vectors[3]).argmax()) == 0


@pytest.mark.neural
@pytest.mark.timeout(600)
async def test_the_kin_of_roberta_counts_positions_its_own_way(tmp_path: Path) -> None:
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaModel

    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    torch.manual_seed(7)
    model = XLMRobertaModel(XLMRobertaConfig(vocab_size=30_522, max_position_embeddings=42, type_vocab_size=1, **shape))
    model.save_pretrained(tmp_path / "float")
    shutil.copyfile(BUNDLED_FOLDER / "tokenizer.json", tmp_path / "float" / "tokenizer.json")
    form = EncoderConfig(pooling="cls", query_prefix="find: ")
    report = await asyncio.to_thread(export_encoder, tmp_path / "float", tmp_path / "model", TEXTS, form)
    read = await asyncio.to_thread(read_encoder_config, tmp_path / "model")
    assert (report.dimension, read.dimension, read.pooling) == (32, 32, "cls")
    assert (read.query_tokens, read.document_tokens) == (40, 40)  # its positions, less those that padding takes
    assert report.lowest_cosine > 0.98  # to what the model itself says
    made = OnnxEmbedder(folder=tmp_path / "model", config=read)
    assert (await made.embed([*TEXTS, "rain " * 60], "query")).shape == (4, 32)


@pytest.mark.neural
def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="holds no tokenizer"):
        export_encoder(tmp_path, tmp_path / "model", TEXTS)
