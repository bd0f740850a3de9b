import numpy as np
import pytest

from retriever.pooling import build_masks, pool_mean

TOKENS = [(0, 0), (0, 4), (4, 5), (6, 9), (9, 9), (10, 14), (0, 0)]


def test_a_part_has_the_tokens_inside_it() -> None:
    found = build_masks(TOKENS, [(0, 5), (6, 14), (7, 14)])
    assert found.dtype == np.float32
    assert found.tolist() == [
        [1, 1, 1, 1, 1, 1, 1],
        [0, 1, 1, 0, 0, 0, 0],
        [0, 0, 0, 1, 0, 1, 0],
        [0, 0, 0, 0, 0, 1, 0],
    ]


def test_a_part_without_a_token_has_those_of_the_whole() -> None:
    assert build_masks(TOKENS, [(14, 30)]).tolist() == [[1] * 7] * 2


def test_no_parts_and_no_tokens() -> None:
    assert build_masks(TOKENS, []).tolist() == [[1] * 7]
    assert build_masks([], [(0, 3)]).shape == (2, 0)


def test_means_have_unit_length() -> None:
    states = np.array([[3, 0], [0, 4], [9, 9]], np.float32)
    assert pool_mean(states, np.array([[1, 1, 0], [0, 1, 0]], np.float32)) == pytest.approx(
        np.array([[0.6, 0.8], [0, 1]])
    )


def test_nothing_taken_is_no_error() -> None:
    assert pool_mean(np.ones((2, 3), np.float32), np.zeros((1, 2), np.float32)).tolist() == [[0, 0, 0]]
