"""Update of a BM25 index after a few texts have changed, from stored word counts.

All scores are recomputed, because every added text changes how rare a word is and how long a text is on average; they
equal those of a full build (Lucene's formula, as in bm25s). A full build spends its time on splitting texts into
words; here only the changed texts are split.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.tool import ToolId
from retriever.words import split_terms

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
    word_counts: WordCounts, before: Mapping[ToolId, str], texts: Mapping[ToolId, str], k1: float, b: float
) -> BuiltIndex | None:
    """Return what a full build of ``texts`` would give, or None if too many texts have changed.

    Args:
        word_counts: the stored word counts.
        before: the texts that ``word_counts`` counts.
        texts: the new texts, in the order of rows.
        k1: BM25's saturation of word counts.
        b: BM25's normalisation by length, in [0, 1].
    """
    changed_tools = [tool for tool, text in texts.items() if before.get(tool) != text]
    if not texts or _MIN_TEXTS_PER_CHANGE * (len(changed_tools) + len(before.keys() - texts.keys())) > len(before):
        return None
    row_of = {tool: row for row, tool in enumerate(texts)}
    changed = frozenset(changed_tools)
    # New row of each old one; -1 for a text that is gone or has changed.
    new_rows = np.array([-1 if tool in changed else row_of.get(tool, -1) for tool in word_counts.ids], np.int64)
    vocabulary = dict(word_counts.vocabulary)
    lengths = np.zeros(len(texts), np.int64)
    lengths[new_rows[new_rows >= 0]] = word_counts.lengths[new_rows >= 0]
    columns, rows, counts = _select_unchanged(word_counts, new_rows)
    new: list[tuple[int, int, int]] = []
    for tool in changed_tools:
        words = split_terms(texts[tool])
        lengths[row_of[tool]] = len(words)
        new += [(vocabulary.setdefault(word, len(vocabulary)), row_of[tool], n) for word, n in Counter(words).items()]
    added = np.array(new, np.int64).reshape(-1, 3)
    columns, rows = np.concatenate([columns, added[:, 0]]), np.concatenate([rows, added[:, 1]])
    counts = np.concatenate([counts, added[:, 2].astype(np.float32)])
    # As in count_words: by column, then by row.
    order = np.argsort(columns << 32 | rows)
    columns, rows, counts = columns[order], rows[order], counts[order]
    frequency = np.bincount(columns, minlength=len(vocabulary))
    return vocabulary, {
        "data": _compute_scores(columns, rows, counts, lengths, frequency, k1, b),
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
    stays = rows >= 0
    return columns[stays], rows[stays], np.asarray(word_counts.counts)[stays]


def _compute_scores(
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
    rarity = np.log(1 + (len(lengths) - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
    norms = k1 * ((1 - b) + b * lengths / lengths.mean())
    return (rarity[columns] * (counts / (norms[rows] + counts))).astype(np.float32)
