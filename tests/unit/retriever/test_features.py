import numpy as np
import pytest

from domain.tool import FINISH, ToolId
from retriever.experience import Precedent, TransitionCount
from retriever.features import FEATURE_NAMES, ScoredCandidates, argsort_descending, compute_features

A, B, C = ToolId("Weather/Sky Watch/getForecast"), ToolId("Weather/Sky Watch/sunrise"), ToolId("Money/Exchange/convert")


def candidates(request: str = "forecast of sky watch please", sentences: int = 0) -> ScoredCandidates:
    scores = np.array([[0.9, 0.2, 0.6], [0.5, 0.8, 0.0], [0.1, 0.3, 0.3]], np.float32)[:, : 1 + sentences]
    return ScoredCandidates(request, (A, B, C), scores, scores * np.float32(0.5), np.array([0.6, 0.4, 0.1], np.float32))


def of(values: np.ndarray, name: str) -> list[float]:
    return [round(float(value), 3) for value in values[:, FEATURE_NAMES.index(name)]]


def test_a_row_for_each_candidate_and_a_column_for_each_name() -> None:
    assert compute_features(candidates(sentences=2), ()).shape == (3, len(FEATURE_NAMES))
    assert len(set(FEATURE_NAMES)) == len(FEATURE_NAMES)


def test_scores_of_the_whole_and_of_sentences() -> None:
    values = compute_features(candidates(sentences=2), ())
    assert of(values, "cosine whole") == [0.9, 0.5, 0.1]
    assert of(values, "cosine best sentence") == [0.6, 0.8, 0.3]
    assert of(values, "bm25 sentences' mean") == [0.2, 0.2, 0.15]
    assert of(values, "best place in a sentence") == [1.0, 1.0, 0.5]
    assert of(values, "fused below the best") == [0.0, -0.2, -0.5]
    assert of(values, "sentences") == [2, 2, 2]


def test_a_request_of_one_sentence_is_its_own_best() -> None:
    values = compute_features(candidates(), ())
    assert of(values, "cosine best sentence") == of(values, "cosine whole")
    assert of(values, "place by cosine") == [1.0, 0.5, 0.333]


def test_what_a_tool_set_has() -> None:
    values = compute_features(candidates(), ())
    assert of(values, "tool set's best other") == [0.4, 0.6, 0.0]
    assert of(values, "tool set's mean of three") == [0.5, 0.5, 0.1]
    assert of(values, "category's share") == [0.909, 0.909, 0.091]


def test_names_that_are_said() -> None:
    values = compute_features(candidates(), ())
    assert of(values, "tool set named") == [1.0, 1.0, 0.0]
    assert of(values, "api's words asked for") == [0.5, 0.0, 0.0]


def test_walks_count_by_node_and_by_strong_neighbour() -> None:
    walked = [TransitionCount(A, B, 3), TransitionCount(A, FINISH, 1), TransitionCount(ToolId("x/y/z"), C, 2)]
    values = compute_features(candidates(), walked)
    assert of(values, "walked") == [1.0, 1.0, 1.0]
    assert of(values, "walks") == [pytest.approx(float(np.log1p(n)), abs=1e-3) for n in (4, 3, 2)]
    assert of(values, "linked") == [pytest.approx(0.4 * 3 / 3, abs=1e-3), pytest.approx(0.6 * 3 / 4, abs=1e-3), 0.0]
    assert of(compute_features(candidates(), ()), "linked") == [0.0, 0.0, 0.0]


def test_what_served_requests_alike() -> None:
    precedents = [Precedent((B, ToolId("x/y/z")), 0.8), Precedent((A, B), 0.5), Precedent((C,), -0.2)]
    values = compute_features(candidates(), (), precedents)
    assert of(values, "most alike that it served") == [0.5, 0.8, 0.0]
    assert of(values, "place among those alike") == [0.5, 1.0, 0.333]
    total = 0.8**8 + 0.5**8
    assert of(values, "votes of those alike") == [pytest.approx(0.5**8 / total, abs=1e-3), 1.0, 0.0]
    assert of(values, "tool set's most alike") == [0.8, 0.8, 0.0]
    assert of(compute_features(candidates(), ()), "votes of those alike") == [0.0, 0.0, 0.0]


def test_equal_scores_keep_their_order() -> None:
    assert argsort_descending(np.array([0.1, 0.5, 0.5, 0.2], np.float32)) == [1, 2, 3, 0]
