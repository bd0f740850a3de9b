"""Features of the re-ranker, one row for each candidate of a request.

They are made of the candidate's scores, the scores of its tool set, its name, transitions and precedents.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.tool import ToolId, split_tool_id
from retriever.experience import VOTE_EXPONENT, Precedent, TransitionCount
from retriever.words import normalize_name, split_name, split_words

Values = NDArray[np.float32]
"""Scores or features, one row for each candidate."""

FEATURES_VERSION = "3"
"""Version of the features; a re-ranker of another version is refused. 3: cosines are calibrated."""

SCORE_FEATURES = (
    "cosine whole",
    "cosine best sentence",
    "cosine sentences' mean",
    "bm25 whole",
    "bm25 best sentence",
    "bm25 sentences' mean",
    "fused",
    "fused below the best",
    "place by cosine",
    "place by bm25",
    "place fused",
    "best place in a sentence",
)
TOOLSET_FEATURES = ("tool set's best other", "tool set's mean of three", "tool set's candidates", "category's share")
NAME_FEATURES = ("tool set's words asked for", "api's words asked for", "tool set named")
WALK_FEATURES = ("walks", "walked", "linked", "linked at most", "tool set's walks")
PRECEDENT_FEATURES = (
    "most alike that it served",
    "votes of those alike",
    "place among those alike",
    "tool set's most alike",
)
REQUEST_FEATURES = ("sentences", "words")
FEATURE_NAMES = (
    *SCORE_FEATURES,
    *TOOLSET_FEATURES,
    *NAME_FEATURES,
    *WALK_FEATURES,
    *PRECEDENT_FEATURES,
    *REQUEST_FEATURES,
)

MAX_STRONG = 10
"""Number of best candidates by fused score whose neighbours count as linked."""


@dataclass(frozen=True, slots=True)
class ScoredCandidates:
    """Tools with their scores for one request, all in [0, 1]."""

    request: str
    ids: Sequence[ToolId]
    """The candidates, in the order of the rows below."""
    cosines: Values
    """Calibrated cosines, shape (candidates, 1 + sentences); column 0 is the whole request's."""
    bm25: Values
    """BM25 scores, of the same shape."""
    fused: Values
    """Weighted sums of both, shape (candidates,)."""


def argsort_descending(scores: Values) -> list[int]:
    """Return the indexes that order scores from the best to the worst; equal scores keep their order."""
    return np.argsort(-scores, kind="stable").tolist()


def compute_features(
    candidates: ScoredCandidates, transitions: Sequence[TransitionCount], precedents: Sequence[Precedent] = ()
) -> Values:
    """Compute the feature matrix, shape (candidates, ``FEATURE_NAMES``).

    Args:
        candidates: the candidates.
        transitions: the transitions out of or into any candidate.
        precedents: similar requests, best first.
    """
    parts = [split_tool_id(tool) for tool in candidates.ids]
    sets = _number_names([normalize_name(toolset) for _, toolset, _ in parts])
    categories = _number_names([category for category, _, _ in parts])
    columns = [
        *_compute_score_features(candidates),
        *_compute_toolset_features(candidates.fused, sets, categories),
        *_compute_name_features(candidates.request, parts),
        *_compute_walk_features(candidates, transitions, sets),
        *_compute_precedent_features(candidates.ids, precedents, sets),
        *_compute_request_features(candidates),
    ]
    return np.stack(columns, axis=1).astype(np.float32)


def _compute_score_features(candidates: ScoredCandidates) -> list[Values]:
    """Compute the columns ``SCORE_FEATURES``."""
    cosines, worded, fused = candidates.cosines, candidates.bm25, candidates.fused
    parts = slice(1, None) if cosines.shape[1] > 1 else slice(0, None)
    both = cosines[:, parts] + worded[:, parts]
    return [
        cosines[:, 0],
        cosines[:, parts].max(axis=1),
        cosines[:, parts].mean(axis=1),
        worded[:, 0],
        worded[:, parts].max(axis=1),
        worded[:, parts].mean(axis=1),
        fused,
        fused - fused.max(),
        _compute_reciprocal_ranks(cosines[:, 0]),
        _compute_reciprocal_ranks(worded[:, 0]),
        _compute_reciprocal_ranks(fused),
        np.stack([_compute_reciprocal_ranks(both[:, part]) for part in range(both.shape[1])]).max(axis=0),
    ]


def _compute_reciprocal_ranks(scores: Values) -> Values:
    """Return reciprocal ranks: 1 for the best, ½ for the second …; equal scores rank in their order."""
    places = np.empty(len(scores), np.float32)
    places[argsort_descending(scores)] = 1.0 / np.arange(1, len(scores) + 1, dtype=np.float32)
    return places


def _compute_toolset_features(fused: Values, sets: NDArray[np.int64], categories: NDArray[np.int64]) -> list[Values]:
    """Compute the columns ``TOOLSET_FEATURES``.

    Args:
        fused: the candidates' fused scores.
        sets: number of each candidate's tool set, from 0.
        categories: number of each candidate's category, from 0.
    """
    count = np.bincount(sets)
    order = np.lexsort((-fused, sets))  # groups the candidates of each set, best first
    starts = np.cumsum(count) - count
    three = np.zeros((3, len(count)), np.float32)  # the best three scores of each set; 0 where it has fewer
    for place in range(3):
        has = count > place
        three[place, has] = fused[order[starts[has] + place]]
    mean = (three.sum(axis=0) / np.minimum(count, 3)).astype(np.float32)[sets]
    other = np.where(count > 1, three[0], np.float32(0))[sets]
    other[order[starts]] = three[1]  # for the best of a set, the best other is the second
    # Share of each category in the scores of the best 20 candidates.
    top = argsort_descending(fused)[:20]
    share = np.bincount(categories[top], weights=fused[top], minlength=int(categories.max()) + 1)
    of_all = (share / max(float(share.sum()), 1e-9)).astype(np.float32)
    return [other, mean, np.log1p(count).astype(np.float32)[sets], of_all[categories]]


def _compute_name_features(request: str, parts: Sequence[tuple[str, str, str]]) -> list[Values]:
    """Compute the columns ``NAME_FEATURES``.

    ``parts``: category, tool set and API of each candidate.
    """
    request_words = split_words(request)
    # Blanks at both ends, so that a name is found as whole words only.
    distinct_words, run = set(request_words), f" {' '.join(request_words)} "
    rows = [
        (
            _compute_coverage(split_name(toolset), distinct_words),
            _compute_coverage(split_name(api), distinct_words),
            f" {' '.join(split_name(toolset))} " in run,
        )
        for _, toolset, api in parts
    ]
    return list(np.array(rows, np.float32).reshape(len(parts), 3).T)


def _compute_coverage(name: Sequence[str], request_words: set[str]) -> float:
    """Return the share of a name's words that the request has."""
    return sum(word in request_words for word in name) / len(name) if name else 0.0


def _compute_walk_features(
    candidates: ScoredCandidates, transitions: Sequence[TransitionCount], sets: NDArray[np.int64]
) -> list[Values]:
    """Compute the columns ``WALK_FEATURES``.

    A candidate is linked by the transitions between it and the strongest candidates, weighted with their scores.
    """
    row = {tool: number for number, tool in enumerate(candidates.ids)}
    outgoing, incoming = np.zeros(len(row), np.float32), np.zeros(len(row), np.float32)
    for one in transitions:
        if one.source in row:
            outgoing[row[one.source]] += one.count
        if one.target in row:
            incoming[row[one.target]] += one.count
    # A tool in the middle of a path has a transition in and one out: the larger sum counts each path once.
    walks = np.maximum(outgoing, incoming)
    strong = {place: float(candidates.fused[place]) for place in argsort_descending(candidates.fused)[:MAX_STRONG]}
    linked, most = np.zeros(len(row), np.float32), np.zeros(len(row), np.float32)
    for one in transitions:
        for end, neighbour in ((one.source, one.target), (one.target, one.source)):
            if (start := row.get(end, -1)) in strong and neighbour in row and end != neighbour:
                part = strong[start] * one.count / max(float(walks[start]), 1.0)
                linked[row[neighbour]] += part
                most[row[neighbour]] = max(most[row[neighbour]], part)
    of_set = np.bincount(sets, weights=walks).astype(np.float32)[sets]
    return [np.log1p(walks), (walks > 0).astype(np.float32), linked, most, np.log1p(of_set)]


def _compute_precedent_features(
    ids: Sequence[ToolId], precedents: Sequence[Precedent], sets: NDArray[np.int64]
) -> list[Values]:
    """Compute the columns ``PRECEDENT_FEATURES``.

    ``precedents``: similar requests, best first.
    """
    row = {tool: number for number, tool in enumerate(ids)}
    most, votes, place, of_set = (np.zeros(len(ids), np.float32) for _ in range(4))
    for number, one in enumerate(precedents):
        similarity = max(0.0, one.similarity)
        for tool in set(one.tools) & row.keys():
            here = row[tool]
            most[here] = max(most[here], similarity)
            votes[here] += similarity**VOTE_EXPONENT
            place[here] = max(place[here], 1.0 / (1 + number))
    np.maximum.at(of_set, sets, most)
    total = sum(max(0.0, one.similarity) ** VOTE_EXPONENT for one in precedents)
    return [most, votes / max(total, 1e-9), place, of_set[sets]]


def _compute_request_features(candidates: ScoredCandidates) -> list[Values]:
    """Compute the columns ``REQUEST_FEATURES``, the same for all candidates."""
    ones = np.ones(len(candidates.ids), np.float32)
    return [ones * (candidates.cosines.shape[1] - 1), ones * np.log1p(len(candidates.request.split()))]


def _number_names(names: Sequence[str]) -> NDArray[np.int64]:
    """Number the distinct names in order of first occurrence, and return each name's number."""
    number = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return np.array([number[name] for name in names], np.int64)
