"""From the states of a text's tokens to vectors of the text and of its parts."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Span = tuple[int, int]
"""Where a piece of a text begins and ends, in characters."""


def shares(tokens: Sequence[Span], parts: Sequence[Span]) -> NDArray[np.float32]:
    """Which tokens each vector is the mean of; shape (1 + parts, tokens), 1 or 0.

    Row 0 is the whole text's: all tokens, those that stand for no character too. A part has those that lie inside it; where
    there is none (what is beyond the last token was not read), it takes all, for the whole is what is known of it.
    """
    found = np.ones((1 + len(parts), len(tokens)), np.float32)
    if parts and len(tokens):
        lie = inside(np.array(tokens), parts)
        found[1:] = np.where(lie.any(axis=1, keepdims=True), lie, 1.0)
    return found


def first_of(tokens: int) -> NDArray[np.float32]:
    """What takes the first token alone; shape (1, tokens)."""
    found = np.zeros((1, tokens), np.float32)
    found[:, :1] = 1.0
    return found


def inside(tokens: NDArray[np.int64], parts: Sequence[Span]) -> NDArray[np.bool_]:
    """Which tokens lie inside each part; shape (parts, tokens). ``tokens``: shape (tokens, 2). One that stands for no character lies in none."""
    starts, ends = tokens.T
    bounds = np.array(parts, np.int64).reshape(-1, 2)
    return (starts >= bounds[:, :1]) & (ends <= bounds[:, 1:]) & (starts < ends)


def mean_of(states: NDArray[np.float32], taken: NDArray[np.float32]) -> NDArray[np.float32]:
    """Means of unit length, in float32. ``states``: shape (…, tokens, dimension); ``taken``: (…, vectors, tokens), as :func:`shares` has them."""
    total = (taken @ states).astype(np.float32)
    return total / np.maximum(np.linalg.norm(total, axis=-1, keepdims=True), 1e-12)
