# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
"""The encoder that comes with Footpath: all-MiniLM-L6-v2 trained on requests and tools, int8, on the CPU. No torch, no download."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from domain.errors import UnavailableError
from retriever.documents import TEMPLATE
from retriever.index import Vectors

MODEL = "footpath-minilm-1"
DIMENSION = 384
SHA256 = "c4b6ce2bca5fb0405f786d4b4993d4c7fb1a7edbf16ec4f96ee84a7c881f6b64"
"""Of model and tokenizer, one after the other; ``scripts/export_encoder.py`` prints it."""

_FOLDER = Path(__file__).parent / "minilm_int8"
_TOKENS = {"query": 128, "document": 96}
_BATCH = 16
_CHUNK = 2048
"""Texts tokenised and sorted by length at a time."""

_Batch = tuple[NDArray[np.intp], dict[str, NDArray[np.int64]]]
"""Rows of the result, and the model's inputs for them."""


@dataclass(frozen=True, slots=True)
class _Engine:
    session: Any
    tokenizer: Any


class BundledEmbedder:
    """Embeds on ``threads`` CPU threads, each with a batch of its own: twice as fast as one batch on two threads.

    int8 scales are chosen per batch while running, so that a vector depends a little on its batch (cosine above 0.99).
    """

    def __init__(self, threads: int = 2, folder: Path = _FOLDER) -> None:
        self._threads = threads
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: _Engine | None = None

    @property
    def identity(self) -> str:
        """Model hash, template version and dimension."""
        return f"{MODEL}:{SHA256[:16]}:text{TEMPLATE}:{DIMENSION}"

    @property
    def dimension(self) -> int:
        return DIMENSION

    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        """Vectors of shape (len(texts), dimension), in order. ``UnavailableError`` where the model cannot be read."""
        return await asyncio.to_thread(self._embed, list(texts), _TOKENS[role])

    def load(self) -> None:
        """Read the model now rather than at the first text. Safe from any thread."""
        self._engine()

    def _engine(self) -> _Engine:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._open()
            return self._loaded

    def _open(self) -> _Engine:
        import onnxruntime
        from tokenizers import Tokenizer

        options: Any = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # The encoder's own errors share no base class: whatever stops it from loading, the remedy is the same.
        try:
            session: Any = onnxruntime.InferenceSession(
                str(self._folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
            tokenizer: Any = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        except Exception as error:
            raise UnavailableError(f"the bundled encoder cannot be loaded ({error}); install Footpath anew") from error
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return _Engine(session, tokenizer)

    def _embed(self, texts: list[str], tokens: int) -> Vectors:
        engine = self._engine()
        found = np.zeros((len(texts), DIMENSION), np.float32)

        def run(batch: _Batch) -> Vectors:
            return engine.session.run(None, batch[1])[0]

        with ThreadPoolExecutor(self._threads) as pool:
            for start in range(0, len(texts), _CHUNK):
                batches = list(_batches(engine, texts[start : start + _CHUNK], tokens))
                results = pool.map(run, batches)
                for (rows, _), vectors in zip(batches, results, strict=True):
                    found[rows + start] = vectors
        return found


def _batches(engine: _Engine, texts: list[str], tokens: int) -> Iterator[_Batch]:
    """Batches of texts of like length, each with the rows it fills: padding costs as much as text."""
    encoded = [row.ids for row in engine.tokenizer.encode_batch([_fit(text, tokens) for text in texts])]
    rows = [ids if len(ids) <= tokens else [*ids[: tokens - 1], ids[-1]] for ids in encoded]
    for chosen in _alike(np.array([len(ids) for ids in rows])):
        width = max(len(rows[row]) for row in chosen)
        ids = np.zeros((len(chosen), width), np.int64)
        mask = np.zeros_like(ids)
        for place, row in enumerate(chosen):
            ids[place, : len(rows[row])] = rows[row]
            mask[place, : len(rows[row])] = 1
        yield chosen, {"input_ids": ids, "attention_mask": mask}


def _alike(lengths: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    """Rows by length, cut where a batch is full or its last text would be twice as long as its first."""
    order = np.argsort(lengths, kind="stable")
    start = 0
    while start < len(order):
        end = int(np.searchsorted(lengths[order], 2 * lengths[order[start]], side="right"))
        end = min(end, start + _BATCH)
        yield order[start:end]
        start = end


def _fit(text: str, tokens: int) -> str:
    """At most 16 characters a token, so that a huge text costs little; what UTF-8 cannot hold becomes a question mark."""
    return text[: tokens * 16].encode("utf-8", "replace").decode()
