"""Boosted regression trees as plain numbers, evaluated for all candidates at once without a tree library."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from domain.model import Model
from retriever.features import NAMES_OF_ALL, Values

LEAF = -1


class Tree(Model):
    """A regression tree. Each field has one entry for each node; node 0 is the root."""

    feature: tuple[int, ...]
    """Number of the feature that a node compares; ``LEAF`` (-1) for a leaf."""
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    """Child where the feature is at most the threshold."""
    right: tuple[int, ...]
    """Child where the feature is above the threshold."""
    value: tuple[float, ...]
    """Value of a leaf."""

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
    """The nodes of all trees in one array for each field."""

    roots: NDArray[np.intp]
    """Number of each tree's root."""
    feature: NDArray[np.intp]
    """Number of the feature that a node compares; 0 for a leaf."""
    threshold: NDArray[np.float32]
    child: NDArray[np.intp]
    """Children of node n: at 2n + 1 where its feature is at most the threshold, else at 2n; a leaf is its own child."""
    value: NDArray[np.float32]
    depth: int
    """Edges from a root to its deepest leaf, over all trees."""

    def judge(self, features: Values) -> Values:
        """Return the sum of all trees' values for each row of features, shape (candidates,)."""
        at: NDArray[np.intp] = np.tile(self.roots, (len(features), 1))
        row: NDArray[np.intp] = (np.arange(len(features)) * features.shape[1])[:, None]
        values: Values = features.ravel()
        # Leaves are their own children, so that all trees take ``depth`` steps.
        # take() on one row of numbers is several times as fast as indexing by two.
        for _ in range(self.depth):
            below: NDArray[np.bool_] = values.take(row + self.feature.take(at)) <= self.threshold.take(at)
            step: NDArray[np.intp] = 2 * at + below
            at = self.child.take(step)
        return self.value.take(at).sum(axis=1, dtype=np.float32)


def forest_of(trees: Sequence[Tree]) -> Forest:
    """Concatenate the trees' nodes."""
    roots, feature, child = list[int](), list[int](), list[int]()
    threshold, value = list[float](), list[float]()
    for tree in trees:
        roots.append(start := len(value))
        for node, asked in enumerate(tree.feature):
            leaf = asked == LEAF
            feature.append(0 if leaf else asked)
            child += [start + (node if leaf else below[node]) for below in (tree.right, tree.left)]
        threshold += tree.threshold
        value += tree.value
    return Forest(
        np.array(roots, np.intp),
        np.array(feature, np.intp),
        np.array(threshold, np.float32),
        np.array(child, np.intp),
        np.array(value, np.float32),
        max(map(_depth, trees), default=0),
    )


def _depth(tree: Tree) -> int:
    """Return the number of edges to the deepest leaf; children have higher numbers than their parents."""
    depths = [0] * len(tree.feature)
    for node, asked in enumerate(tree.feature):
        if asked != LEAF:
            for child in (tree.left[node], tree.right[node]):
                depths[child] = depths[node] + 1
    return max(depths)
