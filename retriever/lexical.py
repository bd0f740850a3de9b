# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
"""BM25 index of the tools' texts: building, updating, storing and scoring.

The index lies in a folder of its own, as complete generations of files of which one is current, so that a crash
leaves the former one in use. If only a few texts have changed, an update recomputes the scores from stored word
counts: a full build spends its time on splitting texts into words, and here only the changed ones are split. A full
build imports bm25s; reading and updating need only numpy.
"""

import asyncio
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from domain.tool import ToolId
from retriever.lexical_files import LexicalFiles, LexicalGeneration
from retriever.lexical_update import BuiltIndex, count_words, update_index
from retriever.words import split_terms

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LexicalParameters:
    """Parameters k1 and b of BM25, chosen on training requests (docs/benchmarks.md)."""

    k1: float = 1.5
    b: float = 0.9


@dataclass(frozen=True, slots=True)
class LexicalMatch:
    """A text's BM25 scores against all tools."""

    ids: Sequence[ToolId]
    rows: Mapping[ToolId, int]
    """Place of each id among ``ids`` and ``scores``."""
    scores: Scores
    """BM25 divided by the best tool's: 1 for that one, 0 where no word is shared."""

    def select_scores(self, tools: Sequence[ToolId]) -> Scores:
        """Return the scores of these tools, in order; 0 for one that is not indexed."""
        # Row -1 would read the last tool's score: np.where puts 0 in its place.
        rows = [self.rows.get(tool, -1) for tool in tools]
        return np.where(np.array(rows) < 0, np.float32(0), self.scores[rows]) if rows else np.zeros(0, np.float32)

    def select_best(self, limit: int, allowed: NDArray[np.bool_] | None = None) -> list[ToolId]:
        """Return the ids of the ``limit`` best tools that share a word with the text, best first.

        ``allowed``: mask of the rows that may be returned, shape (tools,); None allows all.
        """
        scores = self.scores if allowed is None else np.where(allowed, self.scores, 0.0)
        limit = min(limit, len(scores))
        if limit <= 0:
            return []
        top = np.argpartition(-scores, limit - 1)[:limit]
        top = top[np.lexsort((top, -scores[top]))]
        return [self.ids[row] for row in top if scores[row] > 0]


class WordIndex(Protocol):
    """The part of a BM25 index that a search reads; its methods are those of :class:`LexicalIndex`."""

    async def match(self, text: str) -> LexicalMatch: ...

    async def count(self) -> int: ...

    async def list_ids(self) -> Sequence[ToolId]: ...


class LexicalIndex:
    """BM25 index of tools, safe for concurrent use by threads and processes.

    Every word of a request counts once, because long requests repeat theirs. A change writes a whole new generation and
    makes it current; readers in any process notice that at their next query.
    """

    def __init__(self, directory: Path, parameters: LexicalParameters | None = None) -> None:
        self._files = LexicalFiles(directory)
        self._parameters = parameters or LexicalParameters()
        self._lock = threading.Lock()
        self._opened: LexicalGeneration | None = None

    async def put(self, texts: Mapping[ToolId, str]) -> bool:
        """Add or replace texts, all or none, and return whether anything changed and was written."""
        return await asyncio.to_thread(self._put, texts, keep=True)

    async def replace(self, texts: Mapping[ToolId, str]) -> bool:
        """Make these the only indexed texts, and return whether anything was written."""
        return await asyncio.to_thread(self._put, texts, keep=False)

    async def remove(self, tools: Iterable[ToolId]) -> bool:
        """Remove texts, unknown ids ignored, and return whether any was indexed and the index was written."""
        return await asyncio.to_thread(self._remove, frozenset(tools))

    async def read_fingerprint(self) -> str:
        """Return a hash of the indexed texts, the same on any machine.

        Empty before the first ``put``, or if it cannot be read: then the index must be rebuilt.
        """
        return await asyncio.to_thread(self._files.read_fingerprint)

    async def read_texts(self) -> dict[ToolId, str]:
        """Return the indexed texts by tool.

        Empty if the index is missing, or must be rebuilt because its format or parameters differ.
        """
        return await asyncio.to_thread(
            lambda: self._files.read_texts() if self._files.is_built_with(self._get_settings()) else {}
        )

    async def match(self, text: str) -> LexicalMatch:
        """Score every tool against a text.

        Raises:
            UnavailableError: there is no index, or it cannot be read.
        """
        return await asyncio.to_thread(self._match, text)

    async def count(self) -> int:
        """Return the number of indexed tools; 0 before the first ``put``."""
        return await asyncio.to_thread(lambda: len(self._open_current().ids) if self._files.read_current_name() else 0)

    async def list_ids(self) -> Sequence[ToolId]:
        """Return the indexed ids, sorted; none before the first ``put``."""
        return await asyncio.to_thread(lambda: self._open_current().ids if self._files.read_current_name() else [])

    def load(self) -> None:
        """Open the files now rather than at the first query. Safe in any thread."""
        self._open_current()

    def _put(self, texts: Mapping[ToolId, str], *, keep: bool) -> bool:
        with self._files.lock_for_writing():
            before = self._files.read_texts()
            merged = {**before, **texts} if keep else dict(texts)
            if self._files.has_texts(merged, self._get_settings()):
                return False
            self._write(before, merged)
            return True

    def _remove(self, gone: frozenset[ToolId]) -> bool:
        with self._files.lock_for_writing():
            before = self._files.read_texts()
            remaining = {tool: text for tool, text in before.items() if tool not in gone}
            if len(remaining) == len(before):
                return False
            self._write(before, remaining)
            return True

    def _write(self, before: Mapping[ToolId, str], texts: Mapping[ToolId, str]) -> None:
        """Write a new generation by an update if that is possible, else by a full build."""
        # Equal scores are ranked by row, so rows are sorted by id: the order of arrival must not matter.
        texts = dict(sorted(texts.items()))
        word_counts = self._files.read_word_counts() if self._files.is_built_with(self._get_settings()) else None
        built = (
            update_index(word_counts, before, texts, self._parameters.k1, self._parameters.b) if word_counts else None
        )
        self._files.write(texts, self._get_settings(), built or self._build(list(texts.values())))

    def _get_settings(self) -> dict[str, float]:
        return {"k1": self._parameters.k1, "b": self._parameters.b}

    def _build(self, texts: list[str]) -> BuiltIndex:
        """Build the vocabulary and the columns of the sparse word-by-tool matrix of BM25 scores."""
        if not texts:  # bm25s would take the mean of no lengths
            return {"": 0}, {
                "data": np.zeros(0, np.float32),
                "indices": np.zeros(0, np.int32),
                "indptr": np.zeros(2, int),
                **count_words([]),
            }

        import bm25s

        vocabulary: dict[str, int] = {}
        rows = [[vocabulary.setdefault(word, len(vocabulary)) for word in split_terms(text)] for text in texts]
        vocabulary.setdefault("", len(vocabulary))
        index = bm25s.BM25(k1=self._parameters.k1, b=self._parameters.b, method="lucene", csc_backend="numpy")
        index.index((rows, vocabulary), create_empty_token=False, show_progress=False)
        columns = {key: np.asarray(index.scores[key]) for key in ("data", "indices", "indptr")}
        return vocabulary, columns | count_words(rows)

    def _open_current(self) -> LexicalGeneration:
        with self._lock:
            name = self._files.read_current_name()
            if self._opened is None or self._opened.name != name:
                self._opened = self._files.open()
            return self._opened

    def _match(self, text: str) -> LexicalMatch:
        generation = self._open_current()
        scores = np.zeros(len(generation.ids), np.float32)
        for word in dict.fromkeys(split_terms(text)):
            if (column := generation.vocabulary.get(word)) is not None:
                start, end = int(generation.starts[column]), int(generation.starts[column + 1])
                # A tool occurs once in a column, so that plain fancy indexing adds every value.
                scores[generation.rows[start:end]] += generation.values[start:end]
        if (best := float(scores.max(initial=0.0))) > 0:
            scores /= best
        return LexicalMatch(generation.ids, generation.row_of, scores)
