# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
"""Embedder for exported ONNX encoders on the CPU, without torch.

The one that comes with Footpath is all-MiniLM-L6-v2, trained on requests and tools and quantised to int8.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from domain.errors import UnavailableError
from retriever.document_texts import TEMPLATE_VERSION
from retriever.embedders.sentence_embedder import BaseEmbedder
from retriever.encoder_folder import CONFIG_FILE, MODEL_FILE, TOKENIZER_FILE, EncoderConfig, disable_telemetry
from retriever.index import Vectors
from retriever.pooling import Span, build_first_token_mask, build_masks, pool_mean
from retriever.words import find_sentence_spans

MODEL_NAME = "footpath-minilm-3"
MODEL_SHA256 = "652114fbc9579b78ee9a8fc7ab0a228e985dc68efc57aff40c609b97b873a204"
"""SHA-256 of model and tokenizer, one after the other; ``scripts/export_encoder.py`` prints it."""

_UNNAMED_MODEL = "encoder"
"""Name in the identity of any other encoder than the bundled one; the hash of its files tells them apart."""

BUNDLED_FOLDER = Path(__file__).parent / "minilm_int8"
_BATCH_SIZE = 16
"""Maximum of texts that the model reads at once."""
_MIN_REQUEST_TOKENS = 8
"""Minimum of tokens that a prefix must leave for the request."""
_CHUNK_SIZE = 2048
"""Texts that are tokenised and grouped by length at a time."""

_EMPTY_SPAN: list[Span] = [(0, 0)]
"""Span of each token if no part of the text gets a vector, so that spans do not matter."""

SpanFinder = Callable[[str], Sequence[Span]]
"""Returns the parts of a text that get vectors in addition to the whole."""


@dataclass(frozen=True, slots=True)
class _TokenizedText:
    """A tokenised text."""

    ids: Sequence[int]
    masks: NDArray[np.float32]
    """Mask of the tokens that each vector is the mean of, shape (vectors, tokens)."""


@dataclass(frozen=True, slots=True)
class _EncodingOptions:
    """Options of encoding texts."""

    max_tokens: int
    """Tokens after which a text is cut."""
    find_spans: SpanFinder
    prefix: str = ""
    """Text that is put before each text."""
    use_first_token: bool = False
    """True if a text's vector is the state of its first token."""


@dataclass(frozen=True, slots=True)
class _LoadedModel:
    """A loaded model: onnxruntime's session and the tokenizer."""

    session: Any
    tokenizer: Any


class OnnxEmbedder(BaseEmbedder):
    """Embeds with an exported encoder on ``threads`` CPU threads.

    Each thread has a batch of its own, which is twice as fast as one batch on two threads. A text's vector does not
    depend on the other texts of a batch, because each token has its own int8 scale
    (``retriever/training/token_scales.py``). Encoders exported before that have one scale for a batch: there, vectors
    of the same text in different batches have a cosine above 0.98.
    """

    def __init__(
        self,
        threads: int = 2,
        folder: Path = BUNDLED_FOLDER,
        sha256: str = MODEL_SHA256,
        config: EncoderConfig | None = None,
    ) -> None:
        """Use the encoder in ``folder``, by default the bundled one; it is loaded at the first text.

        ``sha256``: hash of its files (:func:`retriever.encoder_folder.hash_encoder`).
        """
        self._config = config or EncoderConfig()
        self._threads = threads
        self._sha256 = sha256
        self._folder = folder
        self._lock = threading.Lock()
        self._model: _LoadedModel | None = None

    @property
    def identity(self) -> str:
        """Return name, hash of the files, template version and dimension."""
        name = MODEL_NAME if self._sha256 == MODEL_SHA256 else _UNNAMED_MODEL
        return f"{name}:{self._sha256[:16]}:text{TEMPLATE_VERSION}:{self.dimension}"

    @property
    def dimension(self) -> int:
        """Return the numbers in a vector."""
        return self._config.dimension

    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        """Return vectors of shape (len(texts), dimension), in order.

        Raises:
            UnavailableError: the model cannot be loaded.
        """
        vectors = await asyncio.to_thread(self._encode, list(texts), self._build_options(role, _find_no_spans))
        return np.concatenate([np.zeros((0, self.dimension), np.float32), *vectors])

    async def embed_requests(self, texts: Sequence[str]) -> list[Vectors]:
        """Embed each text as a request with its sentences, in one pass.

        A sentence's vector is the mean of its tokens' states in the whole text, which ranks as well as encoding each
        sentence separately. Encoders that use the first token's state encode sentences separately. A sentence beyond
        the last token gets the vector of the whole text.
        """
        if self._config.pooling == "cls":
            return await super().embed_requests(texts)
        return await asyncio.to_thread(self._encode, list(texts), self._build_options("query", find_sentence_spans))

    def _build_options(self, role: Literal["query", "document"], find_spans: SpanFinder) -> _EncodingOptions:
        config = self._config
        use_first_token = config.pooling == "cls"
        if role == "query":
            return _EncodingOptions(config.query_tokens, find_spans, config.query_prefix, use_first_token)
        return _EncodingOptions(config.document_tokens, find_spans, use_first_token=use_first_token)

    def load(self) -> None:
        """Load the model now rather than at the first text. Safe in any thread."""
        self._get_model()

    def _get_model(self) -> _LoadedModel:
        with self._lock:
            if self._model is None:
                self._model = self._load_model()
            return self._model

    def _load_model(self) -> _LoadedModel:
        disable_telemetry()
        import onnxruntime
        from tokenizers import Tokenizer

        options: Any = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # The encoder's own errors share no base class: whatever stops it from loading, the remedy is the same.
        try:
            session: Any = onnxruntime.InferenceSession(
                str(self._folder / MODEL_FILE), options, providers=["CPUExecutionProvider"]
            )
            tokenizer: Any = Tokenizer.from_file(str(self._folder / TOKENIZER_FILE))
        except Exception as error:
            raise UnavailableError(
                f"the encoder in {self._folder} cannot be loaded ({error}); install Footpath anew, or export it anew"
            ) from error
        dimension = session.get_outputs()[0].shape[-1]
        if isinstance(dimension, int) and dimension != self.dimension:
            raise UnavailableError(
                f"the encoder in {self._folder} gives {dimension} numbers, not {self.dimension}; correct 'dimension' in {CONFIG_FILE} there"
            )
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if self._config != EncoderConfig(dimension=self.dimension):
            self._check_lengths(session, tokenizer)
        return _LoadedModel(session, tokenizer)

    def _check_lengths(self, session: Any, tokenizer: Any) -> None:
        """Check the configured lengths now rather than at the first long text.

        Raises:
            UnavailableError: the prefix leaves too few tokens, or the model cannot read that many.
        """
        config, file = self._config, self._folder / CONFIG_FILE
        prefix_length = len(tokenizer.encode(config.query_prefix, add_special_tokens=False).ids)
        if prefix_length + _MIN_REQUEST_TOKENS > config.query_tokens:
            raise UnavailableError(
                f"{file}: 'query_prefix' takes {prefix_length} of the {config.query_tokens} 'query_tokens', and leaves too few for a request"
            )
        longest = max(config.query_tokens, config.document_tokens)
        try:
            session.run(
                None, {"input_ids": np.ones((1, longest), np.int64), "attention_mask": np.ones((1, longest), np.int64)}
            )
        except Exception as error:
            raise UnavailableError(
                f"{file}: the model does not read {longest} tokens; correct 'query_tokens' and 'document_tokens'"
            ) from error

    def _encode(self, texts: list[str], options: _EncodingOptions) -> list[Vectors]:
        model = self._get_model()
        vectors: list[Vectors] = []

        def embed_batch(batch: Sequence[_TokenizedText]) -> list[Vectors]:
            return _embed_batch(model.session, batch)

        with ThreadPoolExecutor(self._threads) as pool:
            for start in range(0, len(texts), _CHUNK_SIZE):
                chunk = _tokenize(model.tokenizer, texts[start : start + _CHUNK_SIZE], options)
                groups = list(_group_by_length(chunk))
                batches = [[chunk[row] for row in rows] for rows in groups]
                results = pool.map(embed_batch, batches) if len(batches) > 1 else map(embed_batch, batches)
                vectors_by_row = dict(zip(chain.from_iterable(groups), chain.from_iterable(results), strict=True))
                vectors += [vectors_by_row[row] for row in range(len(chunk))]
        return vectors


def _find_no_spans(text: str) -> Sequence[Span]:
    """Return no spans: only the whole text is wanted."""
    del text
    return ()


def _tokenize(tokenizer: Any, texts: Sequence[str], options: _EncodingOptions) -> list[_TokenizedText]:
    """Tokenise texts, cut long ones before their last token, and build the masks of their vectors."""
    tokenized: list[_TokenizedText] = []
    max_tokens, prefix_length = options.max_tokens, len(options.prefix)
    inputs = [_truncate_text(options.prefix + text, max_tokens) for text in texts]
    for text, row in zip(texts, tokenizer.encode_batch(inputs), strict=True):
        parts, ids = options.find_spans(text), row.ids
        offsets: Sequence[Span] = (
            [(start - prefix_length, end - prefix_length) for start, end in row.offsets]
            if parts
            else _EMPTY_SPAN * len(ids)
        )
        if len(ids) > max_tokens:
            ids, offsets = [*ids[: max_tokens - 1], ids[-1]], [*offsets[: max_tokens - 1], offsets[-1]]
        tokenized.append(
            _TokenizedText(
                ids, build_first_token_mask(len(ids)) if options.use_first_token else build_masks(offsets, parts)
            )
        )
    return tokenized


def _embed_batch(session: Any, batch: Sequence[_TokenizedText]) -> list[Vectors]:
    """Return the vectors of texts that have the same number of tokens."""
    ids = np.array([text.ids for text in batch], np.int64)
    states = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
    return [pool_mean(rows, text.masks) for rows, text in zip(states, batch, strict=True)]


def _group_by_length(texts: Sequence[_TokenizedText]) -> Iterator[list[int]]:
    """Yield the indexes of texts with the same number of tokens, at most ``_BATCH_SIZE`` at a time.

    Nothing is padded: padding costs as much as text, and sums over another number of tokens may round differently.
    """
    groups: dict[int, list[int]] = {}
    for position, text in enumerate(texts):
        groups.setdefault(len(text.ids), []).append(position)
    for positions in groups.values():
        for start in range(0, len(positions), _BATCH_SIZE):
            yield positions[start : start + _BATCH_SIZE]


def _truncate_text(text: str, max_tokens: int) -> str:
    """Cut a text to 16 characters a token, so that a huge one costs little, and replace lone surrogates."""
    return text[: max_tokens * 16].encode("utf-8", "replace").decode()
