"""Pooling of an encoder's token states into vectors of a text and of its parts."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Span = tuple[int, int]
"""Start and end of a piece of a text, in characters."""


def build_masks(tokens: Sequence[Span], parts: Sequence[Span]) -> NDArray[np.float32]:
    """Return a mask of the tokens that each vector is the mean of, shape (1 + parts, tokens), 1 or 0.

    Row 0 is that of the whole text: all tokens, special ones included. The others mark the tokens inside each part. A
    part without tokens, because it lies beyond the last one that is read, gets the mask of the whole text.
    """
    masks = np.ones((1 + len(parts), len(tokens)), np.float32)
    if parts and len(tokens):
        is_inside = find_tokens_inside(np.array(tokens), parts)
        masks[1:] = np.where(is_inside.any(axis=1, keepdims=True), is_inside, 1.0)
    return masks


def build_first_token_mask(tokens: int) -> NDArray[np.float32]:
    """Return a mask of the first token only, shape (1, tokens)."""
    mask = np.zeros((1, tokens), np.float32)
    mask[:, :1] = 1.0
    return mask


def find_tokens_inside(tokens: NDArray[np.int64], parts: Sequence[Span]) -> NDArray[np.bool_]:
    """Return a mask of the tokens inside each part, shape (parts, tokens).

    ``tokens``: spans, shape (tokens, 2). Special tokens, whose span is empty, lie in no part.
    """
    starts, ends = tokens.T
    bounds = np.array(parts, np.int64).reshape(-1, 2)
    return (starts >= bounds[:, :1]) & (ends <= bounds[:, 1:]) & (starts < ends)


def pool_mean(states: NDArray[np.float32], masks: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the means of token states, scaled to unit length, in float32.

    Args:
        states: shape (…, tokens, dimension).
        masks: masks of shape (…, vectors, tokens), as from :func:`build_masks`.
    """
    # A sum in place of a mean: scaling to unit length removes the difference.
    total = (masks @ states).astype(np.float32)
    return total / np.maximum(np.linalg.norm(total, axis=-1, keepdims=True), 1e-12)
