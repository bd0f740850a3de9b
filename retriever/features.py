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

FloatArray = NDArray[np.float32]
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

MAX_STRONG_CANDIDATES = 10
"""Number of best candidates by fused score whose neighbours count as linked."""


@dataclass(frozen=True, slots=True)
class ScoredCandidates:
    """Tools with their scores for one request, all in [0, 1]."""

    request: str
    ids: Sequence[ToolId]
    """The candidates, in the order of the rows below."""
    cosines: FloatArray
    """Calibrated cosines, shape (candidates, 1 + sentences); column 0 is the whole request's."""
    bm25: FloatArray
    """BM25 scores, of the same shape."""
    fused: FloatArray
    """Weighted sums of both, shape (candidates,)."""


def argsort_descending(scores: FloatArray) -> list[int]:
    """Return the indexes that order scores from the best to the worst; equal scores keep their order."""
    return np.argsort(-scores, kind="stable").tolist()


def compute_features(
    candidates: ScoredCandidates, transitions: Sequence[TransitionCount], precedents: Sequence[Precedent] = ()
) -> FloatArray:
    """Compute the feature matrix, shape (candidates, ``FEATURE_NAMES``).

    Args:
        candidates: the candidates.
        transitions: the transitions out of or into any candidate.
        precedents: similar requests, best first.
    """
    parts = [split_tool_id(tool) for tool in candidates.ids]
    toolset_numbers = _number_names([normalize_name(toolset) for _, toolset, _ in parts])
    category_numbers = _number_names([category for category, _, _ in parts])
    columns = [
        *_compute_score_features(candidates),
        *_compute_toolset_features(candidates.fused, toolset_numbers, category_numbers),
        *_compute_name_features(candidates.request, parts),
        *_compute_walk_features(candidates, transitions, toolset_numbers),
        *_compute_precedent_features(candidates.ids, precedents, toolset_numbers),
        *_compute_request_features(candidates),
    ]
    return np.stack(columns, axis=1).astype(np.float32)


def _compute_score_features(candidates: ScoredCandidates) -> list[FloatArray]:
    """Compute the columns ``SCORE_FEATURES``."""
    cosines, bm25, fused = candidates.cosines, candidates.bm25, candidates.fused
    parts = slice(1, None) if cosines.shape[1] > 1 else slice(0, None)
    part_scores = cosines[:, parts] + bm25[:, parts]
    return [
        cosines[:, 0],
        cosines[:, parts].max(axis=1),
        cosines[:, parts].mean(axis=1),
        bm25[:, 0],
        bm25[:, parts].max(axis=1),
        bm25[:, parts].mean(axis=1),
        fused,
        fused - fused.max(),
        _compute_reciprocal_ranks(cosines[:, 0]),
        _compute_reciprocal_ranks(bm25[:, 0]),
        _compute_reciprocal_ranks(fused),
        np.stack([_compute_reciprocal_ranks(part_scores[:, part]) for part in range(part_scores.shape[1])]).max(axis=0),
    ]


def _compute_reciprocal_ranks(scores: FloatArray) -> FloatArray:
    """Return reciprocal ranks: 1 for the best, ½ for the second …; equal scores rank in their order."""
    reciprocal_ranks = np.empty(len(scores), np.float32)
    reciprocal_ranks[argsort_descending(scores)] = 1.0 / np.arange(1, len(scores) + 1, dtype=np.float32)
    return reciprocal_ranks


def _compute_toolset_features(
    fused: FloatArray, toolset_numbers: NDArray[np.int64], category_numbers: NDArray[np.int64]
) -> list[FloatArray]:
    """Compute the columns ``TOOLSET_FEATURES``.

    Args:
        fused: the candidates' fused scores.
        toolset_numbers: number of each candidate's tool set, from 0.
        category_numbers: number of each candidate's category, from 0.
    """
    sizes = np.bincount(toolset_numbers)
    order = np.lexsort((-fused, toolset_numbers))  # groups the candidates of each set, best first
    starts = np.cumsum(sizes) - sizes
    best_three = np.zeros((3, len(sizes)), np.float32)  # the best three scores of each set; 0 where it has fewer
    for rank in range(3):
        is_present = sizes > rank
        best_three[rank, is_present] = fused[order[starts[is_present] + rank]]
    mean = (best_three.sum(axis=0) / np.minimum(sizes, 3)).astype(np.float32)[toolset_numbers]
    best_other = np.where(sizes > 1, best_three[0], np.float32(0))[toolset_numbers]
    best_other[order[starts]] = best_three[1]  # for the best of a set, the best other is the second
    # Share of each category in the scores of the best 20 candidates.
    top = argsort_descending(fused)[:20]
    category_scores = np.bincount(category_numbers[top], weights=fused[top], minlength=int(category_numbers.max()) + 1)
    category_shares = (category_scores / max(float(category_scores.sum()), 1e-9)).astype(np.float32)
    return [best_other, mean, np.log1p(sizes).astype(np.float32)[toolset_numbers], category_shares[category_numbers]]


def _compute_name_features(request: str, parts: Sequence[tuple[str, str, str]]) -> list[FloatArray]:
    """Compute the columns ``NAME_FEATURES``.

    ``parts``: category, tool set and API of each candidate.
    """
    request_words = split_words(request)
    # Blanks at both ends, so that a name is found as whole words only.
    distinct_words, joined_words = set(request_words), f" {' '.join(request_words)} "
    rows = [
        (
            _compute_coverage(split_name(toolset), distinct_words),
            _compute_coverage(split_name(api), distinct_words),
            f" {' '.join(split_name(toolset))} " in joined_words,
        )
        for _, toolset, api in parts
    ]
    return list(np.array(rows, np.float32).reshape(len(parts), 3).T)


def _compute_coverage(name: Sequence[str], request_words: set[str]) -> float:
    """Return the share of a name's words that the request has."""
    return sum(word in request_words for word in name) / len(name) if name else 0.0


def _compute_walk_features(
    candidates: ScoredCandidates, transitions: Sequence[TransitionCount], toolset_numbers: NDArray[np.int64]
) -> list[FloatArray]:
    """Compute the columns ``WALK_FEATURES``.

    A candidate is linked by the transitions between it and the strongest candidates, weighted with their scores.
    """
    row_by_tool = {tool: number for number, tool in enumerate(candidates.ids)}
    outgoing, incoming = np.zeros(len(row_by_tool), np.float32), np.zeros(len(row_by_tool), np.float32)
    for transition in transitions:
        if transition.source in row_by_tool:
            outgoing[row_by_tool[transition.source]] += transition.count
        if transition.target in row_by_tool:
            incoming[row_by_tool[transition.target]] += transition.count
    # A tool in the middle of a path has a transition in and one out: the larger sum counts each path once.
    walks = np.maximum(outgoing, incoming)
    strong_scores = {
        candidate_row: float(candidates.fused[candidate_row])
        for candidate_row in argsort_descending(candidates.fused)[:MAX_STRONG_CANDIDATES]
    }
    link_sums, link_maxima = np.zeros(len(row_by_tool), np.float32), np.zeros(len(row_by_tool), np.float32)
    for transition in transitions:
        for end, neighbour in ((transition.source, transition.target), (transition.target, transition.source)):
            if (
                (strong_row := row_by_tool.get(end, -1)) in strong_scores
                and neighbour in row_by_tool
                and end != neighbour
            ):
                link_share = strong_scores[strong_row] * transition.count / max(float(walks[strong_row]), 1.0)
                link_sums[row_by_tool[neighbour]] += link_share
                link_maxima[row_by_tool[neighbour]] = max(link_maxima[row_by_tool[neighbour]], link_share)
    toolset_walks = np.bincount(toolset_numbers, weights=walks).astype(np.float32)[toolset_numbers]
    return [np.log1p(walks), (walks > 0).astype(np.float32), link_sums, link_maxima, np.log1p(toolset_walks)]


def _compute_precedent_features(
    ids: Sequence[ToolId], precedents: Sequence[Precedent], toolset_numbers: NDArray[np.int64]
) -> list[FloatArray]:
    """Compute the columns ``PRECEDENT_FEATURES``.

    ``precedents``: similar requests, best first.
    """
    row_by_tool = {tool: number for number, tool in enumerate(ids)}
    similarities, votes, reciprocal_ranks, toolset_similarities = (np.zeros(len(ids), np.float32) for _ in range(4))
    for number, precedent in enumerate(precedents):
        similarity = max(0.0, precedent.similarity)
        for tool in set(precedent.tools) & row_by_tool.keys():
            candidate_row = row_by_tool[tool]
            similarities[candidate_row] = max(similarities[candidate_row], similarity)
            votes[candidate_row] += similarity**VOTE_EXPONENT
            reciprocal_ranks[candidate_row] = max(reciprocal_ranks[candidate_row], 1.0 / (1 + number))
    np.maximum.at(toolset_similarities, toolset_numbers, similarities)
    total = sum(max(0.0, precedent.similarity) ** VOTE_EXPONENT for precedent in precedents)
    return [similarities, votes / max(total, 1e-9), reciprocal_ranks, toolset_similarities[toolset_numbers]]


def _compute_request_features(candidates: ScoredCandidates) -> list[FloatArray]:
    """Compute the columns ``REQUEST_FEATURES``, the same for all candidates."""
    ones = np.ones(len(candidates.ids), np.float32)
    return [ones * (candidates.cosines.shape[1] - 1), ones * np.log1p(len(candidates.request.split()))]


def _number_names(names: Sequence[str]) -> NDArray[np.int64]:
    """Number the distinct names in order of first occurrence, and return each name's number."""
    number_by_name = {name: position for position, name in enumerate(dict.fromkeys(names))}
    return np.array([number_by_name[name] for name in names], np.int64)
