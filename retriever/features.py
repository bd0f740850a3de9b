"""Features of the re-ranker: scores of a candidate and its tool set, names, transitions and precedents."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.tool import ToolId, tool_id_parts
from retriever.experience import SHARPNESS, Precedent, Walked
from retriever.words import name_words, standard_name, words

Values = NDArray[np.float32]

VERSION = "3"
"""Version of the features; a re-ranker of another version is refused. 3: cosines are calibrated."""

SCORES = (
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
TOOLSET = ("tool set's best other", "tool set's mean of three", "tool set's candidates", "category's share")
NAMES = ("tool set's words asked for", "api's words asked for", "tool set named")
WALKED = ("walks", "walked", "linked", "linked at most", "tool set's walks")
PRECEDENTS = ("most alike that it served", "votes of those alike", "place among those alike", "tool set's most alike")
REQUEST = ("sentences", "words")
NAMES_OF_ALL = (*SCORES, *TOOLSET, *NAMES, *WALKED, *PRECEDENTS, *REQUEST)

STRONG = 10
"""Number of best candidates by fused score whose neighbours count as linked."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Tools with their scores for one request, all in [0, 1]."""

    request: str
    ids: Sequence[ToolId]
    cosines: Values
    """Calibrated cosines, shape (candidates, 1 + sentences); column 0 is the whole request's."""
    worded: Values
    """BM25 scores, of the same shape."""
    fused: Values
    """Weighted sums of both, shape (candidates,)."""


def best_first(scores: Values) -> list[int]:
    """Return the places by descending score; equal scores keep their order."""
    return np.argsort(-scores, kind="stable").tolist()


def features(found: Candidates, walked: Sequence[Walked], precedents: Sequence[Precedent] = ()) -> Values:
    """Compute the feature matrix, shape (candidates, ``NAMES_OF_ALL``).

    Args:
        found: the candidates.
        walked: the transitions out of or into any candidate.
        precedents: similar requests, best first.
    """
    parts = [tool_id_parts(tool) for tool in found.ids]
    sets = _numbers([standard_name(toolset) for _, toolset, _ in parts])
    categories = _numbers([category for category, _, _ in parts])
    columns = [
        *_scores(found),
        *_of_sets(found.fused, sets, categories),
        *_names(found.request, parts),
        *_walks(found, walked, sets),
        *_precedents(found.ids, precedents, sets),
        *_asked(found),
    ]
    return np.stack(columns, axis=1).astype(np.float32)


def _scores(found: Candidates) -> list[Values]:
    """Compute the columns ``SCORES``."""
    cosines, worded, fused = found.cosines, found.worded, found.fused
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
        _places(cosines[:, 0]),
        _places(worded[:, 0]),
        _places(fused),
        np.stack([_places(both[:, part]) for part in range(both.shape[1])]).max(axis=0),
    ]


def _places(scores: Values) -> Values:
    """Return reciprocal ranks: 1 for the best, ½ for the second …; equal scores rank in their order."""
    places = np.empty(len(scores), np.float32)
    places[best_first(scores)] = 1.0 / np.arange(1, len(scores) + 1, dtype=np.float32)
    return places


def _of_sets(fused: Values, sets: NDArray[np.int64], categories: NDArray[np.int64]) -> list[Values]:
    """Compute the columns ``TOOLSET``. ``sets`` and ``categories``: each candidate's, by number."""
    count = np.bincount(sets)
    order = np.lexsort((-fused, sets))  # each set's candidates together, best first
    starts = np.cumsum(count) - count
    three = np.zeros((3, len(count)), np.float32)  # of each set, the best three
    for place in range(3):
        has = count > place
        three[place, has] = fused[order[starts[has] + place]]
    mean = (three.sum(axis=0) / np.minimum(count, 3)).astype(np.float32)[sets]
    other = np.where(count > 1, three[0], np.float32(0))[sets]
    other[order[starts]] = three[1]  # the best of a set has the second as its best other
    top = best_first(fused)[:20]
    share = np.bincount(categories[top], weights=fused[top], minlength=int(categories.max()) + 1)
    of_all = (share / max(float(share.sum()), 1e-9)).astype(np.float32)
    return [other, mean, np.log1p(count).astype(np.float32)[sets], of_all[categories]]


def _names(request: str, parts: Sequence[tuple[str, str, str]]) -> list[Values]:
    """Compute the columns ``NAMES``. ``parts``: each candidate's category, tool set and API."""
    asked = words(request)
    # Blanks at both ends, so that a name is found as whole words only.
    known, run = set(asked), f" {' '.join(asked)} "
    rows = [
        (
            _share(name_words(toolset), known),
            _share(name_words(api), known),
            f" {' '.join(name_words(toolset))} " in run,
        )
        for _, toolset, api in parts
    ]
    return list(np.array(rows, np.float32).reshape(len(parts), 3).T)


def _share(named: Sequence[str], asked: set[str]) -> float:
    """Return the share of a name's words that the request has."""
    return sum(word in asked for word in named) / len(named) if named else 0.0


def _walks(found: Candidates, walked: Sequence[Walked], sets: NDArray[np.int64]) -> list[Values]:
    """Compute the columns ``WALKED``."""
    row = {tool: number for number, tool in enumerate(found.ids)}
    out, into = np.zeros(len(row), np.float32), np.zeros(len(row), np.float32)
    for one in walked:
        if one.source in row:
            out[row[one.source]] += one.count
        if one.target in row:
            into[row[one.target]] += one.count
    # A tool in the middle of a path has a transition in and one out: the larger sum counts each path once.
    walks = np.maximum(out, into)
    strong = {place: float(found.fused[place]) for place in best_first(found.fused)[:STRONG]}
    linked, most = np.zeros(len(row), np.float32), np.zeros(len(row), np.float32)
    for one in walked:
        for here, there in ((one.source, one.target), (one.target, one.source)):
            if (start := row.get(here, -1)) in strong and there in row and here != there:
                part = strong[start] * one.count / max(float(walks[start]), 1.0)
                linked[row[there]] += part
                most[row[there]] = max(most[row[there]], part)
    of_set = np.bincount(sets, weights=walks).astype(np.float32)[sets]
    return [np.log1p(walks), (walks > 0).astype(np.float32), linked, most, np.log1p(of_set)]


def _precedents(ids: Sequence[ToolId], precedents: Sequence[Precedent], sets: NDArray[np.int64]) -> list[Values]:
    """Compute the columns ``PRECEDENTS``."""
    row = {tool: number for number, tool in enumerate(ids)}
    most, votes, place, of_set = (np.zeros(len(ids), np.float32) for _ in range(4))
    for number, one in enumerate(precedents):
        similarity = max(0.0, one.similarity)
        for tool in set(one.tools) & row.keys():
            here = row[tool]
            most[here] = max(most[here], similarity)
            votes[here] += similarity**SHARPNESS
            place[here] = max(place[here], 1.0 / (1 + number))
    np.maximum.at(of_set, sets, most)
    total = sum(max(0.0, one.similarity) ** SHARPNESS for one in precedents)
    return [most, votes / max(total, 1e-9), place, of_set[sets]]


def _asked(found: Candidates) -> list[Values]:
    """Compute the columns ``REQUEST``, the same for all candidates."""
    whole = np.ones(len(found.ids), np.float32)
    return [whole * (found.cosines.shape[1] - 1), whole * np.log1p(len(found.request.split()))]


def _numbers(names: Sequence[str]) -> NDArray[np.int64]:
    """Number the distinct names in order of first occurrence, and return each name's number."""
    number = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return np.array([number[name] for name in names], np.int64)
