# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
"""The bundled encoder, without torch or download: all-MiniLM-L6-v2 trained on requests and tools, int8, on the CPU."""

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
from retriever.documents import TEMPLATE
from retriever.embedders.apart import ReadsApart
from retriever.encoder_folder import FORM_FILE, MODEL_FILE, TOKENIZER_FILE, EncoderForm, keep_use_private
from retriever.index import Vectors
from retriever.pooling import Span, first_of, mean_of, shares
from retriever.words import sentence_spans

MODEL = "footpath-minilm-3"
SHA256 = "652114fbc9579b78ee9a8fc7ab0a228e985dc68efc57aff40c609b97b873a204"
"""SHA-256 of model and tokenizer, one after the other; ``scripts/export_encoder.py`` prints it."""

_OTHER = "encoder"
"""Name, in an identity, of an encoder from another folder; the hash of its files follows."""

FOLDER = Path(__file__).parent / "minilm_int8"
_BATCH = 16
_LEAST = 8
"""Minimum of tokens that a prefix must leave for the request."""
_CHUNK = 2048
"""Texts that are tokenised and grouped by length at a time."""

_NOWHERE: list[Span] = [(0, 0)]
"""Span of a token when no part of the text is wanted."""

_Spans = Callable[[str], Sequence[Span]]
"""Returns the parts of a text that get vectors in addition to the whole."""


@dataclass(frozen=True, slots=True)
class _Text:
    """A tokenised text."""

    ids: Sequence[int]
    taken: NDArray[np.float32]
    """Mask of the tokens that each vector is the mean of, shape (vectors, tokens)."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """Options of encoding texts."""

    tokens: int
    """Tokens after which a text is cut."""
    spans: _Spans
    prefix: str = ""
    """Text that is put before each text."""
    first: bool = False
    """True if a text's vector is the state of its first token."""


@dataclass(frozen=True, slots=True)
class _Engine:
    """A loaded model: onnxruntime's session and the tokenizer."""

    session: Any
    tokenizer: Any


class BundledEmbedder(ReadsApart):
    """Embeds on ``threads`` CPU threads, each with a batch of its own: twice as fast as one batch on two threads.

    A text's vector does not depend on the other texts of a batch, because each token has its own int8 scale
    (``retriever/training/token_scales.py``). Encoders exported before that have one scale for a batch; there, vectors of the same
    text in different batches have a cosine above 0.98.
    """

    def __init__(
        self, threads: int = 2, folder: Path = FOLDER, sha256: str = SHA256, form: EncoderForm | None = None
    ) -> None:
        """Use the encoder in ``folder``, identified by ``sha256`` and configured by ``form``; by default the bundled one."""
        self._form = form or EncoderForm()
        self._threads = threads
        self._sha256 = sha256
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: _Engine | None = None

    @property
    def identity(self) -> str:
        """Return name, hash of the files, template version and dimension."""
        name = MODEL if self._sha256 == SHA256 else _OTHER
        return f"{name}:{self._sha256[:16]}:text{TEMPLATE}:{self.dimension}"

    @property
    def dimension(self) -> int:
        """Return the numbers in a vector."""
        return self._form.dimension

    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        """Return vectors of shape (len(texts), dimension), in order.

        Raises:
            UnavailableError: the model cannot be loaded.
        """
        found = await asyncio.to_thread(self._read, list(texts), self._reading(role, _nothing))
        return np.concatenate([np.zeros((0, self.dimension), np.float32), *found])

    async def read(self, texts: Sequence[str]) -> list[Vectors]:
        """Embed each text as a request, in one pass.

        A sentence's vector is the mean of its tokens' states in the whole text. That ranks as well as encoding each sentence separately,
        which is done only for encoders that use the first token's state. A sentence beyond the last token gets the whole text's vector.
        """
        if self._form.pooling == "cls":
            return await super().read(texts)
        return await asyncio.to_thread(self._read, list(texts), self._reading("query", sentence_spans))

    def _reading(self, role: Literal["query", "document"], spans: _Spans) -> _Reading:
        form = self._form
        first = form.pooling == "cls"
        if role == "query":
            return _Reading(form.query_tokens, spans, form.query_prefix, first)
        return _Reading(form.document_tokens, spans, first=first)

    def load(self) -> None:
        """Load the model now rather than at the first text. Safe in any thread."""
        self._engine()

    def _engine(self) -> _Engine:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._open()
            return self._loaded

    def _open(self) -> _Engine:
        keep_use_private()
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
        told = session.get_outputs()[0].shape[-1]
        if isinstance(told, int) and told != self.dimension:
            raise UnavailableError(
                f"the encoder in {self._folder} gives {told} numbers, not {self.dimension}; correct 'dimension' in {FORM_FILE} there"
            )
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if self._form != EncoderForm(dimension=self.dimension):
            self._check_lengths(session, tokenizer)
        return _Engine(session, tokenizer)

    def _check_lengths(self, session: Any, tokenizer: Any) -> None:
        """Check the configured lengths now rather than at the first long text.

        Raises:
            UnavailableError: the prefix leaves too few tokens, or the model cannot read that many.
        """
        form, file = self._form, self._folder / FORM_FILE
        prefix = len(tokenizer.encode(form.query_prefix, add_special_tokens=False).ids)
        if prefix + _LEAST > form.query_tokens:
            raise UnavailableError(
                f"{file}: 'query_prefix' takes {prefix} of the {form.query_tokens} 'query_tokens', and leaves too few for a request"
            )
        longest = max(form.query_tokens, form.document_tokens)
        try:
            session.run(
                None, {"input_ids": np.ones((1, longest), np.int64), "attention_mask": np.ones((1, longest), np.int64)}
            )
        except Exception as error:
            raise UnavailableError(
                f"{file}: the model does not read {longest} tokens; correct 'query_tokens' and 'document_tokens'"
            ) from error

    def _read(self, texts: list[str], reading: _Reading) -> list[Vectors]:
        engine = self._engine()
        found: list[Vectors] = []

        def run(batch: Sequence[_Text]) -> list[Vectors]:
            return _vectors(engine.session, batch)

        with ThreadPoolExecutor(self._threads) as pool:
            for start in range(0, len(texts), _CHUNK):
                chunk = _tokenised(engine.tokenizer, texts[start : start + _CHUNK], reading)
                groups = list(_alike(chunk))
                batches = [[chunk[row] for row in rows] for rows in groups]
                results = pool.map(run, batches) if len(batches) > 1 else map(run, batches)
                made = dict(zip(chain.from_iterable(groups), chain.from_iterable(results), strict=True))
                found += [made[row] for row in range(len(chunk))]
        return found


def _nothing(text: str) -> Sequence[Span]:
    """Return no spans: only the whole text is wanted."""
    del text
    return ()


def _tokenised(tokenizer: Any, texts: Sequence[str], reading: _Reading) -> list[_Text]:
    """Tokenise texts and cut long ones; the token that ends a text is kept."""
    found: list[_Text] = []
    tokens, before = reading.tokens, len(reading.prefix)
    given = [_fit(reading.prefix + text, tokens) for text in texts]
    for text, row in zip(texts, tokenizer.encode_batch(given), strict=True):
        parts, ids = reading.spans(text), row.ids
        offsets: Sequence[Span] = (
            [(start - before, end - before) for start, end in row.offsets] if parts else _NOWHERE * len(ids)
        )
        if len(ids) > tokens:
            ids, offsets = [*ids[: tokens - 1], ids[-1]], [*offsets[: tokens - 1], offsets[-1]]
        found.append(_Text(ids, first_of(len(ids)) if reading.first else shares(offsets, parts)))
    return found


def _vectors(session: Any, batch: Sequence[_Text]) -> list[Vectors]:
    """Return the vectors of texts that have the same number of tokens."""
    ids = np.array([text.ids for text in batch], np.int64)
    states = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
    return [mean_of(rows, text.taken) for rows, text in zip(states, batch, strict=True)]


def _alike(texts: Sequence[_Text]) -> Iterator[list[int]]:
    """Yield the places of texts of equal length, in groups of at most ``_BATCH``.

    Nothing is padded: padding costs as much as text, and sums over another number of tokens may round differently.
    """
    groups: dict[int, list[int]] = {}
    for place, text in enumerate(texts):
        groups.setdefault(len(text.ids), []).append(place)
    for places in groups.values():
        for start in range(0, len(places), _BATCH):
            yield places[start : start + _BATCH]


def _fit(text: str, tokens: int) -> str:
    """Cut a text to 16 characters a token, so that a huge text costs little, and replace what UTF-8 cannot encode."""
    return text[: tokens * 16].encode("utf-8", "replace").decode()
