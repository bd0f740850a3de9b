# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
"""BM25 index of the tools' texts: building, updating, storing and scoring.

The index lies in a folder of its own, as complete generations of files of which one is current, so that a crash
leaves the former one in use. If only a few texts have changed, an update recomputes the scores from stored word
counts: a full build spends its time on splitting texts into words, and here only the changed ones are split. A full
build imports bm25s; reading and updating need only numpy.
"""

import asyncio
import fcntl
import shutil
import threading
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import numpy as np
import orjson
from numpy.typing import NDArray

from domain.errors import StoreVersionError, UnavailableError
from domain.tool import ToolId
from retriever.document_texts import TEMPLATE_VERSION
from retriever.words import SPLITTING_VERSION, split_terms

BuiltIndex = tuple[dict[str, int], dict[str, NDArray[np.generic]]]
"""The vocabulary of a generation, and its arrays by the names of their files."""

_MIN_TEXTS_PER_CHANGE = 4
"""A full build is made if more than one text in this many has changed."""


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Number of times that each text has each word.

    Column w of the matrix is ``rows[starts[w]:starts[w + 1]]`` with the same slice of ``counts``.
    """

    ids: Sequence[ToolId]
    """Tools by row."""
    vocabulary: Mapping[str, int]
    """Column of each word."""
    starts: NDArray[np.int64]
    """Place in ``rows`` at which each column begins, shape (words + 1,)."""
    rows: NDArray[np.int32]
    """Row of each count."""
    counts: NDArray[np.float32]
    lengths: NDArray[np.int64]
    """Length of each text in words."""


def count_words(texts: Sequence[Sequence[int]]) -> dict[str, NDArray[np.generic]]:
    """Return the counts, in the order of the columns, and the lengths that a build stores for updates.

    ``texts``: each text as the numbers of its words.
    """
    tallies = [Counter(words) for words in texts]
    columns = np.array([word for tally in tallies for word in tally], np.int64)
    counts = np.array([count for tally in tallies for count in tally.values()], np.float32)
    rows = np.repeat(np.arange(len(tallies)), [len(tally) for tally in tallies])
    # Sorts by column, then by row, as one key: row numbers fit into 32 bits.
    order = np.argsort(columns << 32 | rows)
    return {"counts": counts[order], "lengths": np.array([len(words) for words in texts], np.int64)}


def update_index(
    word_counts: WordCounts, counted_texts: Mapping[ToolId, str], texts: Mapping[ToolId, str], k1: float, b: float
) -> BuiltIndex | None:
    """Return what a full build of ``texts`` would give, or None if too many texts have changed.

    Args:
        word_counts: the stored word counts.
        counted_texts: the texts that ``word_counts`` counts.
        texts: the new texts, in the order of rows.
        k1: BM25's saturation of word counts.
        b: BM25's normalisation by length, in [0, 1].
    """
    changed_tools = [tool for tool, text in texts.items() if counted_texts.get(tool) != text]
    if not texts or _MIN_TEXTS_PER_CHANGE * (len(changed_tools) + len(counted_texts.keys() - texts.keys())) > len(
        counted_texts
    ):
        return None
    row_of = {tool: row for row, tool in enumerate(texts)}
    changed_ids = frozenset(changed_tools)
    # New row of each old one; -1 for a text that is gone or has changed.
    new_rows = np.array([-1 if tool in changed_ids else row_of.get(tool, -1) for tool in word_counts.ids], np.int64)
    vocabulary = dict(word_counts.vocabulary)
    lengths = np.zeros(len(texts), np.int64)
    lengths[new_rows[new_rows >= 0]] = word_counts.lengths[new_rows >= 0]
    columns, rows, counts = _select_unchanged(word_counts, new_rows)
    new_counts: list[tuple[int, int, int]] = []
    for tool in changed_tools:
        words = split_terms(texts[tool])
        lengths[row_of[tool]] = len(words)
        new_counts += [
            (vocabulary.setdefault(word, len(vocabulary)), row_of[tool], count)
            for word, count in Counter(words).items()
        ]
    added = np.array(new_counts, np.int64).reshape(-1, 3)
    columns, rows = np.concatenate([columns, added[:, 0]]), np.concatenate([rows, added[:, 1]])
    counts = np.concatenate([counts, added[:, 2].astype(np.float32)])
    # As in count_words: by column, then by row.
    order = np.argsort(columns << 32 | rows)
    columns, rows, counts = columns[order], rows[order], counts[order]
    frequency = np.bincount(columns, minlength=len(vocabulary))
    return vocabulary, {
        "data": _compute_bm25_scores(columns, rows, counts, lengths, frequency, k1, b),
        "indices": rows.astype(np.int32),
        "indptr": np.concatenate([np.zeros(1, np.int64), np.cumsum(frequency)]),
        "counts": counts,
        "lengths": lengths,
    }


def _select_unchanged(
    word_counts: WordCounts, new_rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Return columns, new rows and counts of the texts that have not changed."""
    columns = np.repeat(np.arange(len(word_counts.starts) - 1), np.diff(word_counts.starts))
    rows = new_rows[word_counts.rows]
    is_unchanged = rows >= 0
    return columns[is_unchanged], rows[is_unchanged], np.asarray(word_counts.counts)[is_unchanged]


def _compute_bm25_scores(
    columns: NDArray[np.int64],
    rows: NDArray[np.int64],
    counts: NDArray[np.float32],
    lengths: NDArray[np.int64],
    frequency: NDArray[np.int64],
    k1: float,
    b: float,
) -> NDArray[np.float32]:
    """Compute BM25 scores: idf * tf / (tf + k1 * (1 - b + b * length / mean length)), with Lucene's idf.

    They must equal those of bm25s with ``method="lucene"``, because a later change may lead to a full build.
    """
    inverse_frequency = np.log(1 + (len(lengths) - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
    length_norms = k1 * ((1 - b) + b * lengths / lengths.mean())
    return (inverse_frequency[columns] * (counts / (length_norms[rows] + counts))).astype(np.float32)


_FORMAT = f"words{SPLITTING_VERSION}/text{TEMPLATE_VERSION}"
_READ_ERRORS = (OSError, ValueError, KeyError, TypeError)
"""Errors from reading a damaged file; those of orjson and numpy are ValueErrors."""


@dataclass(frozen=True, slots=True)
class LexicalGeneration:
    """An opened generation: a sparse matrix of BM25 scores, tools by words.

    Column w, the scores of word w, is ``rows[starts[w]:starts[w + 1]]`` with the same slice of ``values``.
    """

    name: str
    """Name of its folder."""
    ids: list[ToolId]
    """Tools by row, sorted."""
    row_of: dict[ToolId, int]
    vocabulary: dict[str, int]
    """Column of each word."""
    values: NDArray[np.float32]
    """Scores, column by column."""
    rows: NDArray[np.int32]
    """Row of each score."""
    starts: NDArray[np.int64]
    """Place in ``rows`` at which each column begins, shape (words + 1,)."""


class LexicalFiles:
    """Reads and swaps generations in a folder; arrays are memory-mapped, so that opening is fast."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._pointer = directory / "current"

    def read_current_name(self) -> str | None:
        """Return the name of the current generation; None before the first."""
        try:
            return self._pointer.read_text().strip()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise self._build_unreadable_error(error) from error

    @contextmanager
    def lock_for_writing(self) -> Generator[None]:
        """Hold the write lock, which excludes writers of all processes.

        Raises:
            UnavailableError: the folder cannot be written, here or in the body of the ``with`` statement.
        """
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            with (self._directory / "lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise UnavailableError(
                f"cannot write the word index in {self._directory}: {error.strerror or error}; the former one is kept"
            ) from error

    def read_texts(self) -> dict[ToolId, str]:
        """Return the indexed texts; empty before the first generation, or if its format is not this version's."""
        name = self.read_current_name()
        if name is None or self._read_meta_or_empty().get("format") != _FORMAT:
            return {}
        try:
            return orjson.loads((self._directory / name / "texts.json").read_bytes())
        except _READ_ERRORS as error:
            raise self._build_unreadable_error(error) from error

    def read_word_counts(self) -> WordCounts | None:
        """Return the current generation's word counts; None if they cannot be read, so that a full build is needed."""
        try:
            if self._read_meta_or_empty().get("format") != _FORMAT or (name := self.read_current_name()) is None:
                return None
            generation, folder = self._open(name), self._directory / name
            counts, lengths = np.load(folder / "counts.npy"), np.load(folder / "lengths.npy")
        except (*_READ_ERRORS, UnavailableError):
            return None
        if len(counts) != len(generation.rows) or len(lengths) != len(generation.ids):
            return None
        return WordCounts(generation.ids, generation.vocabulary, generation.starts, generation.rows, counts, lengths)

    def read_fingerprint(self) -> str:
        """Return the stored hash of the indexed texts; empty if there is none in this version's format."""
        meta = self._read_meta_or_empty()
        return meta.get("texts", "") if meta.get("format") == _FORMAT else ""

    def has_texts(self, texts: Mapping[ToolId, str], settings: Mapping[str, float]) -> bool:
        """Return whether the current generation has exactly these texts and was built with these settings."""
        return self.read_fingerprint() == _hash_texts(texts) and self.is_built_with(settings)

    def is_built_with(self, settings: Mapping[str, float]) -> bool:
        """Return whether the current generation was built with these settings."""
        return self._read_meta_or_empty().get("settings") == settings

    def write(
        self,
        texts: Mapping[ToolId, str],
        settings: Mapping[str, float],
        built: BuiltIndex,
    ) -> None:
        """Write a generation, make it current and delete all others. The caller holds the write lock.

        ``texts``: in the order of rows. ``built``: the vocabulary and arrays of the generation.
        """
        vocabulary, arrays = built
        meta = {"format": _FORMAT, "settings": dict(settings), "texts": _hash_texts(texts)}
        name = uuid4().hex[:12]
        folder = self._directory / name
        try:
            folder.mkdir()
            for key, array in arrays.items():
                np.save(folder / f"{key}.npy", array)
            for key, value in (("ids", list(texts)), ("vocabulary", vocabulary), ("texts", dict(texts))):
                (folder / f"{key}.json").write_bytes(orjson.dumps(value))
            (folder / "meta.json").write_bytes(orjson.dumps(meta))
            # The pointer is replaced last and in one step, so that a reader never sees an unfinished generation.
            part = self._directory / "current.part"
            part.write_text(name)
            part.replace(self._pointer)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        for other in self._directory.iterdir():
            if other.is_dir() and other.name != name:
                shutil.rmtree(other, ignore_errors=True)

    def open(self) -> LexicalGeneration:
        """Open the current generation; if a writer swaps it meanwhile, open the new one."""
        # A file can vanish while it is opened, when a writer has just deleted this generation: then try the new one.
        for attempt in range(3):
            name = self.read_current_name()
            if name is None:
                raise UnavailableError(f"{self._directory} holds no word index; build the store anew, with its tools")
            try:
                return self._open(name)
            except FileNotFoundError as error:
                if attempt == 2 or self.read_current_name() == name:
                    raise self._build_unreadable_error(error) from error
            except _READ_ERRORS as error:
                raise self._build_unreadable_error(error) from error
        raise UnavailableError(f"the word index in {self._directory} changes faster than it can be opened; try again")

    def _open(self, name: str) -> LexicalGeneration:
        folder = self._directory / name
        if (stored_format := self._read_meta(name).get("format")) != _FORMAT:
            raise StoreVersionError(
                f"the word index in {self._directory} has format {stored_format}, this program reads {_FORMAT}; "
                "index the tools again: the same build command does it"
            )
        ids = [ToolId(text) for text in orjson.loads((folder / "ids.json").read_bytes())]
        arrays = {key: np.load(folder / f"{key}.npy", mmap_mode="r") for key in ("data", "indices", "indptr")}
        return LexicalGeneration(
            name=name,
            ids=ids,
            row_of={tool: row for row, tool in enumerate(ids)},
            vocabulary=orjson.loads((folder / "vocabulary.json").read_bytes()),
            values=arrays["data"],
            rows=arrays["indices"],
            starts=arrays["indptr"],
        )

    def _read_meta(self, name: str) -> dict[str, Any]:
        try:
            return orjson.loads((self._directory / name / "meta.json").read_bytes())
        except FileNotFoundError:
            raise
        except _READ_ERRORS as error:
            raise self._build_unreadable_error(error) from error

    def _read_meta_or_empty(self) -> dict[str, Any]:
        """Return the metadata of the current generation; empty where it is missing or damaged."""
        try:
            name = self.read_current_name()
            return {} if name is None else self._read_meta(name)
        except (FileNotFoundError, UnavailableError):
            return {}

    def _build_unreadable_error(self, error: Exception) -> UnavailableError:
        return UnavailableError(
            f"the word index in {self._directory} cannot be read ({error}); delete that folder: the next search makes it anew"
        )


def _hash_texts(texts: Mapping[ToolId, str]) -> str:
    digest = blake2b(digest_size=16)
    for tool, text in sorted(texts.items()):
        digest.update(orjson.dumps((tool, text)))
    return digest.hexdigest()


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


class LexicalReader(Protocol):
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
            stored_texts = self._files.read_texts()
            merged = {**stored_texts, **texts} if keep else dict(texts)
            if self._files.has_texts(merged, self._get_settings()):
                return False
            self._write(stored_texts, merged)
            return True

    def _remove(self, removed: frozenset[ToolId]) -> bool:
        with self._files.lock_for_writing():
            stored_texts = self._files.read_texts()
            remaining = {tool: text for tool, text in stored_texts.items() if tool not in removed}
            if len(remaining) == len(stored_texts):
                return False
            self._write(stored_texts, remaining)
            return True

    def _write(self, stored_texts: Mapping[ToolId, str], texts: Mapping[ToolId, str]) -> None:
        """Write a new generation by an update if that is possible, else by a full build."""
        # Equal scores are ranked by row, so rows are sorted by id: the order of arrival must not matter.
        texts = dict(sorted(texts.items()))
        word_counts = self._files.read_word_counts() if self._files.is_built_with(self._get_settings()) else None
        built = (
            update_index(word_counts, stored_texts, texts, self._parameters.k1, self._parameters.b)
            if word_counts
            else None
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
