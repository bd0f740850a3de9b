"""Boosted regression trees, kept as plain numbers and asked about all candidates at once: no library of trees is needed to serve."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from domain.model import Model
from retriever.features import NAMES_OF_ALL, Values

LEAF = -1


class Tree(Model):
    """Nodes by number, 0 the root: where ``features[feature] <= threshold`` go ``left``, else ``right``. ``feature`` -1: a leaf of ``value``."""

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]

    @model_validator(mode="after")
    def _whole(self) -> "Tree":
        count = len(self.feature)
        if not count or {len(self.threshold), len(self.left), len(self.right), len(self.value)} != {count}:
            raise ValueError("a tree has not one of each for every node")
        for node, (feature, *below) in enumerate(zip(self.feature, self.left, self.right, strict=True)):
            if feature >= len(NAMES_OF_ALL) or feature < LEAF:
                raise ValueError("a tree asks for a feature that is not there")
            # Children come after their parents, so that every way ends.
            if feature != LEAF and not all(node < child < count for child in below):
                raise ValueError("a tree's nodes do not lead to a leaf")
        return self


@dataclass(frozen=True, slots=True)
class Forest:
    """All trees side by side, each array of shape (trees, nodes); leaves lead to themselves."""

    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float32]
    depth: int

    def judge(self, features: Values) -> Values:
        """The sum of what each tree says; shape (candidates,)."""
        trees, rows = np.arange(len(self.feature)), np.arange(len(features))[:, None]
        at = np.zeros((len(features), len(trees)), np.int32)
        for _ in range(self.depth):
            down = features[rows, self.feature[trees, at]] <= self.threshold[trees, at]
            at = np.where(down, self.left[trees, at], self.right[trees, at])
        return self.value[trees, at].sum(axis=1, dtype=np.float32)


def forest_of(trees: Sequence[Tree]) -> Forest:
    """The trees, filled up to one width."""
    width = max((len(tree.feature) for tree in trees), default=1)
    shape = (len(trees), width)
    feature, left, right = (np.zeros(shape, np.int32) for _ in range(3))
    threshold, value = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    left[:] = right[:] = np.arange(width)
    for row, tree in enumerate(trees):
        for node, asked in enumerate(tree.feature):
            value[row, node] = tree.value[node]
            if asked != LEAF:
                feature[row, node], threshold[row, node] = asked, tree.threshold[node]
                left[row, node], right[row, node] = tree.left[node], tree.right[node]
    return Forest(feature, threshold, left, right, value, max(map(_depth, trees), default=0))


def _depth(tree: Tree) -> int:
    depths = [0] * len(tree.feature)
    for node, asked in enumerate(tree.feature):
        if asked != LEAF:
            for child in (tree.left[node], tree.right[node]):
                depths[child] = depths[node] + 1
    return max(depths)
