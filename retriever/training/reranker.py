# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Training of the re-ranker, whose regression and boosted trees predict which candidates serve a request."""

import random
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.errors import UsageError
from retriever.features import FEATURE_NAMES, FEATURES_VERSION, FloatArray
from retriever.reranker import LEAF, RegressionTree, RerankerWeights, build_forest, build_reranker
from retriever.training.requirements import require_modules

RANKING_MODULES = ("sklearn", "lightgbm")
"""Packages that training the re-ranker imports."""
FOLDS = 5
"""Parts of a cross-validation."""
_BOOSTING_ROUNDS = 200
"""Number of boosted trees."""
_REGRESSION_DEVIATION = 0.5
"""Standard deviation of the regression's scores where that of the trees' is 1."""
_BOOSTING_PARAMETERS: dict[str, Any] = {
    "objective": "lambdarank",
    "lambdarank_truncation_level": 10,
    "num_leaves": 15,
    "learning_rate": 0.05,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.7,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 1.0,
    "seed": 7,
    "deterministic": True,
    "num_threads": 1,
    "verbose": -1,
}
"""LightGBM's parameters: small trees, because a thousand requests support few distinctions."""


@dataclass(frozen=True, slots=True)
class LabelledCandidates:
    """A request's candidates with labels."""

    features: FloatArray
    """Shape (candidates, features)."""
    serves: NDArray[np.bool_]
    """Labels, shape (candidates,): whether each candidate serves the request."""


def train_reranker(
    requests: Sequence[LabelledCandidates], encoder: str, hidden_features: Collection[str] = ()
) -> RerankerWeights:
    """Train a regression and trees, and scale both for the sum of their scores.

    Over all candidates the regression's scores get a standard deviation of ``_REGRESSION_DEVIATION``, and those
    of the trees one of 1. Requests whose candidates all serve them, or none, are skipped.

    Args:
        requests: the labelled candidates of each request.
        encoder: identity of the encoder that scored them.
        hidden_features: names of features that are hidden from both models.

    Raises:
        UsageError: no request can be learnt from.
        UnavailableError: scikit-learn or LightGBM is not installed.
    """
    informative = [request for request in requests if request.serves.any() and not request.serves.all()]
    if not informative:
        raise UsageError("no request has both candidates that serve it and others: there is nothing to learn from")
    values = np.concatenate([request.features for request in informative])
    mean, spread = values.mean(axis=0, dtype=np.float64), values.std(axis=0, dtype=np.float64)
    spread[spread == 0] = 1.0
    hidden = [FEATURE_NAMES.index(name) for name in hidden_features]
    weights, offset = _fit_regression(informative, (values - mean) / spread, hidden)
    regression_scale = float(((values - mean) / spread @ weights).std()) / _REGRESSION_DEVIATION or 1.0
    trees = _fit_trees(informative, values, hidden)
    tree_scale = float(build_forest(trees).predict(values).std()) or 1.0
    return RerankerWeights(
        version=FEATURES_VERSION,
        encoder=encoder,
        names=FEATURE_NAMES,
        mean=tuple(np.round(mean, 6).tolist()),
        spread=tuple(np.round(spread, 6).tolist()),
        weights=tuple(np.round(weights / regression_scale, 5).tolist()),
        offset=round(offset / regression_scale, 5),
        trees=tuple(
            tree.model_copy(update={"value": tuple(round(value / tree_scale, 5) for value in tree.value)})
            for tree in trees
        ),
    )


def _fit_regression(
    informative: Sequence[LabelledCandidates], standardized: NDArray[np.float64], hidden: Sequence[int]
) -> tuple[NDArray[np.float64], float]:
    """Return weights and offset of a logistic regression, in which all requests weigh the same."""
    require_modules("sklearn")
    from sklearn.linear_model import LogisticRegression

    visible = standardized.copy()
    visible[:, hidden] = 0.0
    sample_weights = np.concatenate(
        [np.full(len(request.serves), 100.0 / len(request.serves)) for request in informative]
    )
    serves = np.concatenate([request.serves for request in informative])
    fitted = LogisticRegression(C=1.0, max_iter=1_000).fit(visible, serves, sample_weight=sample_weights)
    return fitted.coef_[0], float(fitted.intercept_[0])


def _fit_trees(
    informative: Sequence[LabelledCandidates], values: FloatArray, hidden: Sequence[int]
) -> list[RegressionTree]:
    """Train trees by LambdaMART (Burges 2010), which ranks serving candidates first, above all at the top."""
    require_modules("lightgbm")
    import lightgbm

    visible = values.copy()
    visible[:, hidden] = 0.0
    serves = np.concatenate([request.serves for request in informative]).astype(np.int32)
    data = lightgbm.Dataset(visible, serves, group=[len(request.serves) for request in informative])
    model = lightgbm.train(_BOOSTING_PARAMETERS, data, _BOOSTING_ROUNDS).dump_model()
    return [parse_tree(tree["tree_structure"]) for tree in model["tree_info"]]


def parse_tree(root: dict[str, Any]) -> RegressionTree:
    """Convert a tree as LightGBM dumps it (``tree_structure``); parents come before their children."""
    pending, nodes = deque([root]), list[tuple[int, float, int, int, float]]()
    while pending:
        node = pending.popleft()
        if "leaf_value" in node:
            nodes.append((LEAF, 0.0, 0, 0, float(node["leaf_value"])))
            continue
        # Breadth first: the children's numbers follow from the nodes that are done and those that wait.
        left_child = len(nodes) + len(pending) + 1
        nodes.append((int(node["split_feature"]), _round_down(node["threshold"]), left_child, left_child + 1, 0.0))
        pending += [node["left_child"], node["right_child"]]
    feature, threshold, left, right, value = zip(*nodes, strict=True)
    return RegressionTree(feature=feature, threshold=threshold, left=left, right=right, value=value)


def _round_down(threshold: float) -> float:
    """Return the largest float32 up to the threshold, so that float32 values stay on their side of it."""
    rounded = np.float32(threshold)
    return float(rounded if rounded <= threshold else np.nextafter(rounded, np.float32(-np.inf)))


def score_by_cross_validation(
    requests: Sequence[LabelledCandidates], seed: int, hidden_features: Collection[str] = ()
) -> list[FloatArray]:
    """Return each request's scores by a re-ranker that was not trained on it, in order."""
    order = list(range(len(requests)))
    random.Random(seed).shuffle(order)
    scores: dict[int, FloatArray] = {}
    for fold in range(FOLDS):
        held_out = set(order[fold::FOLDS])
        trained = train_reranker(
            [request for position, request in enumerate(requests) if position not in held_out], "", hidden_features
        )
        ranker = build_reranker(trained)
        scores |= {position: ranker.score(requests[position].features) for position in held_out}
    return [scores[position] for position in range(len(requests))]
