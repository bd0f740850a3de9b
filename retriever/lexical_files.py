"""Files of a BM25 index, as generations of which one is current."""

import fcntl
import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import orjson
from numpy.typing import NDArray

from domain.errors import StoreVersionError, UnavailableError
from domain.tool import ToolId
from retriever.documents import TEMPLATE_VERSION
from retriever.lexical_update import BuiltIndex, WordCounts
from retriever.words import SPLITTING_VERSION

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
        return self.read_fingerprint() == _hash(texts) and self.is_built_with(settings)

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
        meta = {"format": _FORMAT, "settings": dict(settings), "texts": _hash(texts)}
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


def _hash(texts: Mapping[ToolId, str]) -> str:
    digest = blake2b(digest_size=16)
    for tool, text in sorted(texts.items()):
        digest.update(orjson.dumps((tool, text)))
    return digest.hexdigest()
