"""Re-ranker of candidates: a logistic regression and boosted trees over :mod:`retriever.features`.

It is trained on the requests of trajectories by :mod:`retriever.training.reranker`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray
from pydantic import ValidationError, model_validator

from domain.errors import UnavailableError
from domain.model import Model, describe_errors
from retriever.features import FEATURE_NAMES, FEATURES_VERSION, FloatArray

LEAF = -1
"""Feature number of a node that is a leaf."""


class RegressionTree(Model):
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
    def _check_nodes(self) -> "RegressionTree":
        count = len(self.feature)
        if not count or {len(self.threshold), len(self.left), len(self.right), len(self.value)} != {count}:
            raise ValueError("a tree has not one of each for every node")
        for node, (feature, *children) in enumerate(zip(self.feature, self.left, self.right, strict=True)):
            if feature >= len(FEATURE_NAMES) or feature < LEAF:
                raise ValueError("a tree asks for a feature that is not there")
            # Children come after their parents, so that every way ends.
            if feature != LEAF and not all(node < child < count for child in children):
                raise ValueError("a tree's nodes do not lead to a leaf")
        return self


@dataclass(frozen=True, slots=True)
class RegressionForest:
    """The nodes of all trees in one array for each field."""

    roots: NDArray[np.intp]
    """Number of each tree's root."""
    feature: NDArray[np.intp]
    """Number of the feature that a node compares; 0 for a leaf."""
    threshold: NDArray[np.float32]
    child: NDArray[np.intp]
    """Children of node n, at 2n + 1 if its feature is at most the threshold and at 2n otherwise.

    A leaf is its own child.
    """
    value: NDArray[np.float32]
    depth: int
    """Edges from a root to its deepest leaf, over all trees."""

    def predict(self, features: FloatArray) -> FloatArray:
        """Return the sum of all trees' values for each row of features, shape (candidates,)."""
        nodes: NDArray[np.intp] = np.tile(self.roots, (len(features), 1))
        row_offsets: NDArray[np.intp] = (np.arange(len(features)) * features.shape[1])[:, None]
        values: FloatArray = features.ravel()
        # Leaves are their own children, so that all trees take ``depth`` steps.
        # take() on one row of numbers is several times as fast as indexing by two.
        for _ in range(self.depth):
            goes_left: NDArray[np.bool_] = values.take(row_offsets + self.feature.take(nodes)) <= self.threshold.take(
                nodes
            )
            child_places: NDArray[np.intp] = 2 * nodes + goes_left
            nodes = self.child.take(child_places)
        return self.value.take(nodes).sum(axis=1, dtype=np.float32)


def build_forest(trees: Sequence[RegressionTree]) -> RegressionForest:
    """Concatenate the nodes of all trees, renumbering their children."""
    roots, feature, child = list[int](), list[int](), list[int]()
    threshold, value = list[float](), list[float]()
    for tree in trees:
        roots.append(start := len(value))
        for node, split_feature in enumerate(tree.feature):
            is_leaf = split_feature == LEAF
            feature.append(0 if is_leaf else split_feature)
            child += [start + (node if is_leaf else children[node]) for children in (tree.right, tree.left)]
        threshold += tree.threshold
        value += tree.value
    return RegressionForest(
        np.array(roots, np.intp),
        np.array(feature, np.intp),
        np.array(threshold, np.float32),
        np.array(child, np.intp),
        np.array(value, np.float32),
        max(map(_compute_depth, trees), default=0),
    )


def _compute_depth(tree: RegressionTree) -> int:
    """Return the number of edges to the deepest leaf; children have higher numbers than their parents."""
    depths = [0] * len(tree.feature)
    for node, split_feature in enumerate(tree.feature):
        if split_feature != LEAF:
            for child in (tree.left[node], tree.right[node]):
                depths[child] = depths[node] + 1
    return max(depths)


BUNDLED_RERANKER = Path(__file__).parent / "reranker.json"
"""File of the re-ranker that comes with Footpath."""


class RerankerWeights(Model):
    """Trained re-ranker as it is stored: its score is the regression's plus that of the trees.

    Over the training candidates the trees' scores have a standard deviation of 1, and the regression's of half of that.
    """

    version: str
    """Version of the features."""
    encoder: str
    """Identity of the encoder whose cosines it was trained on."""
    names: tuple[str, ...]
    """Names of the features, in order."""
    mean: tuple[float, ...]
    """Mean of each feature over the training candidates."""
    spread: tuple[float, ...]
    """Standard deviation of each feature; features are standardised by ``(value - mean) / spread``."""
    weights: tuple[float, ...]
    """Weights of the standardised features in the regression."""
    offset: float
    """Intercept of the regression."""
    trees: tuple[RegressionTree, ...] = ()

    @model_validator(mode="after")
    def _check_features(self) -> "RerankerWeights":
        if self.version != FEATURES_VERSION or self.names != FEATURE_NAMES:
            raise ValueError("it was learnt from other features")
        if {len(self.mean), len(self.spread), len(self.weights)} != {len(self.names)}:
            raise ValueError("it has not one mean, spread and weight for each feature")
        return self


@dataclass(frozen=True, slots=True)
class Reranker:
    """Re-ranker ready for scoring."""

    encoder: str
    """Identity of the encoder whose vectors the candidates must be scored with."""
    weights: NDArray[np.float32]
    offset: float
    forest: RegressionForest

    def score(self, features: FloatArray) -> FloatArray:
        """Return how well each candidate serves the request, shape (candidates,).

        Scores are comparable only within one request.
        """
        return features @ self.weights + np.float32(self.offset) + self.forest.predict(features)


def build_reranker(trained: RerankerWeights) -> Reranker:
    """Build a re-ranker, with the standardisation of features folded into its weights."""
    spread = np.array(trained.spread, np.float64)
    weights = np.array(trained.weights, np.float64) / spread
    offset = trained.offset - float(weights @ np.array(trained.mean))
    return Reranker(trained.encoder, weights.astype(np.float32), offset, build_forest(trained.trees))


@lru_cache
def read_reranker(path: Path = BUNDLED_RERANKER) -> Reranker:
    """Read the re-ranker of a file, by default the one that comes with Footpath.

    Raises:
        UnavailableError: it cannot be read, or was trained on other features.
    """
    try:
        return build_reranker(RerankerWeights.model_validate(orjson.loads(path.read_bytes())))
    except (OSError, orjson.JSONDecodeError, ValidationError) as error:
        reason = describe_errors(error) if isinstance(error, ValidationError) else str(error)
        remedy = "install Footpath anew" if path == BUNDLED_RERANKER else "write one with scripts/train_reranker.py"
        raise UnavailableError(f"the re-ranker {path} cannot be used ({reason}); {remedy}") from error
