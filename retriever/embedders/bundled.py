# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
"""The encoder that comes with Footpath: all-MiniLM-L6-v2 trained on requests and tools, int8, on the CPU. No torch, no download."""

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
"""Of model and tokenizer, one after the other; ``scripts/export_encoder.py`` prints it."""

_OTHER = "encoder"
"""Names one of another folder, with the hash of its files."""

FOLDER = Path(__file__).parent / "minilm_int8"
_BATCH = 16
_LEAST = 8
"""Tokens that a prefix leaves to a request at least."""
_CHUNK = 2048
"""Texts tokenised and grouped by length at a time."""

_NOWHERE: list[Span] = [(0, 0)]

_Spans = Callable[[str], Sequence[Span]]
"""Which parts of a text are wanted beside it."""


@dataclass(frozen=True, slots=True)
class _Text:
    """A text's tokens, and which of them each of its vectors is of."""

    ids: Sequence[int]
    taken: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Reading:
    """How texts are read: ``prefix`` stands before each, ``spans`` are wanted beside the whole; ``first``: the first token's state is the text's vector."""

    tokens: int
    spans: _Spans
    prefix: str = ""
    first: bool = False


@dataclass(frozen=True, slots=True)
class _Engine:
    session: Any
    tokenizer: Any


class BundledEmbedder(ReadsApart):
    """Embeds on ``threads`` CPU threads, each with a batch of its own: twice as fast as one batch on two threads.

    A text's vector is the same whatever is embedded beside it, since each token has an int8 scale of its own
    (``retriever/training/token_scales.py``). Encoders exported before that have one scale a batch: cosine above 0.98.
    """

    def __init__(
        self, threads: int = 2, folder: Path = FOLDER, sha256: str = SHA256, form: EncoderForm | None = None
    ) -> None:
        """``folder``: another encoder, which ``sha256`` names, of ``form``."""
        self._form = form or EncoderForm()
        self._threads = threads
        self._sha256 = sha256
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: _Engine | None = None

    @property
    def identity(self) -> str:
        """Name, files' hash, template version and dimension."""
        name = MODEL if self._sha256 == SHA256 else _OTHER
        return f"{name}:{self._sha256[:16]}:text{TEMPLATE}:{self.dimension}"

    @property
    def dimension(self) -> int:
        return self._form.dimension

    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        """Vectors of shape (len(texts), dimension), in order. ``UnavailableError`` where the model cannot be read."""
        found = await asyncio.to_thread(self._read, list(texts), self._reading(role, _nothing))
        return np.concatenate([np.zeros((0, self.dimension), np.float32), *found])

    async def read(self, texts: Sequence[str]) -> list[Vectors]:
        """Each text as a request, read once: a sentence's vector is the mean of its tokens as they stand in the whole text.

        That ranks as well as reading the sentence again, apart; an encoder whose vectors are of a first token has to. One beyond the
        last token has the whole's vector.
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
        """Read the model now rather than at the first text. Safe from any thread."""
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
        """What the form says of lengths, tried now rather than at the first long text. ``UnavailableError``: the model cannot do it."""
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
    del text
    return ()


def _tokenised(tokenizer: Any, texts: Sequence[str], reading: _Reading) -> list[_Text]:
    """The texts' first tokens: the one that ends a text is kept."""
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
    """Embed texts of one length together."""
    ids = np.array([text.ids for text in batch], np.int64)
    states = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
    return [mean_of(rows, text.taken) for rows, text in zip(states, batch, strict=True)]


def _alike(texts: Sequence[_Text]) -> Iterator[list[int]]:
    """Group the places of texts of one length, ``_BATCH`` at most together.

    Nothing is padded: padding costs as much as text, and sums over another number of tokens may round otherwise.
    """
    groups: dict[int, list[int]] = {}
    for place, text in enumerate(texts):
        groups.setdefault(len(text.ids), []).append(place)
    for places in groups.values():
        for start in range(0, len(places), _BATCH):
            yield places[start : start + _BATCH]


def _fit(text: str, tokens: int) -> str:
    """At most 16 characters a token, so that a huge text costs little; what UTF-8 cannot hold becomes a question mark."""
    return text[: tokens * 16].encode("utf-8", "replace").decode()
