# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Teaches the re-ranker: which candidates serve a request, by a regression and by boosted trees."""

import random
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.errors import UsageError
from retriever.features import NAMES_OF_ALL, VERSION, Values
from retriever.forest import LEAF, Tree, forest_of
from retriever.reranker import Learnt, reranker_of
from retriever.training.requirements import need

NEEDED = ("sklearn", "lightgbm")
"""What learning imports."""
FOLDS = 5
_ROUNDS = 200
_STRAIGHT = 0.5
"""How far the regression's judgements vary where the trees' vary by 1."""
_BOOSTING: dict[str, Any] = {
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
"""Small trees, for a thousand requests teach few distinctions."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A request's candidates: ``features`` of shape (candidates, features), ``serves`` of shape (candidates,)."""

    features: Values
    serves: NDArray[np.bool_]


def learn(requests: Sequence[Judged], encoder: str, without: Collection[str] = ()) -> Learnt:
    """A regression and trees, scaled to spread ``_STRAIGHT`` and 1 over all candidates. ``without``: features that neither of them sees. Requests none of whose candidates serve teach nothing.

    Raises:
        UsageError: no request teaches anything. UnavailableError: scikit-learn or LightGBM is not installed.
    """
    telling = [one for one in requests if one.serves.any() and not one.serves.all()]
    if not telling:
        raise UsageError("no request has both candidates that serve it and others: there is nothing to learn from")
    values = np.concatenate([one.features for one in telling])
    mean, spread = values.mean(axis=0, dtype=np.float64), values.std(axis=0, dtype=np.float64)
    spread[spread == 0] = 1.0
    hidden = [NAMES_OF_ALL.index(name) for name in without]
    weights, offset = _regression(telling, (values - mean) / spread, hidden)
    straight = float(((values - mean) / spread @ weights).std()) / _STRAIGHT or 1.0
    trees = _trees(telling, values, hidden)
    bent = float(forest_of(trees).judge(values).std()) or 1.0
    return Learnt(
        version=VERSION,
        encoder=encoder,
        names=NAMES_OF_ALL,
        mean=tuple(np.round(mean, 6).tolist()),
        spread=tuple(np.round(spread, 6).tolist()),
        weights=tuple(np.round(weights / straight, 5).tolist()),
        offset=round(offset / straight, 5),
        trees=tuple(
            tree.model_copy(update={"value": tuple(round(value / bent, 5) for value in tree.value)}) for tree in trees
        ),
    )


def _regression(
    telling: Sequence[Judged], standard: NDArray[np.float64], hidden: Sequence[int]
) -> tuple[NDArray[np.float64], float]:
    """Weights and offset of a logistic regression of whether a candidate serves, every request counting the same."""
    need("sklearn")
    from sklearn.linear_model import LogisticRegression

    seen = standard.copy()
    seen[:, hidden] = 0.0
    shares = np.concatenate([np.full(len(one.serves), 100.0 / len(one.serves)) for one in telling])
    serves = np.concatenate([one.serves for one in telling])
    fitted = LogisticRegression(C=1.0, max_iter=1_000).fit(seen, serves, sample_weight=shares)
    return fitted.coef_[0], float(fitted.intercept_[0])


def _trees(telling: Sequence[Judged], values: Values, hidden: Sequence[int]) -> list[Tree]:
    """LambdaMART (Burges 2010): trees that put what serves before what does not, most of all at the first places."""
    need("lightgbm")
    import lightgbm

    seen = values.copy()
    seen[:, hidden] = 0.0
    serves = np.concatenate([one.serves for one in telling]).astype(np.int32)
    data = lightgbm.Dataset(seen, serves, group=[len(one.serves) for one in telling])
    dumped = lightgbm.train(_BOOSTING, data, _ROUNDS).dump_model()
    return [tree_of(one["tree_structure"]) for one in dumped["tree_info"]]


def tree_of(root: dict[str, Any]) -> Tree:
    """A tree as LightGBM dumps it (``tree_structure``), its nodes in an order that has parents first."""
    waiting, nodes = deque([root]), list[tuple[int, float, int, int, float]]()
    while waiting:
        node = waiting.popleft()
        if "leaf_value" in node:
            nodes.append((LEAF, 0.0, 0, 0, float(node["leaf_value"])))
            continue
        first = len(nodes) + len(waiting) + 1
        nodes.append((int(node["split_feature"]), _below(node["threshold"]), first, first + 1, 0.0))
        waiting += [node["left_child"], node["right_child"]]
    feature, threshold, left, right, value = zip(*nodes, strict=True)
    return Tree(feature=feature, threshold=threshold, left=left, right=right, value=value)


def _below(threshold: float) -> float:
    """The nearest number of single precision that is not above: what was on a side of it stays there."""
    rounded = np.float32(threshold)
    return float(rounded if rounded <= threshold else np.nextafter(rounded, np.float32(-np.inf)))


def cross_fitted(requests: Sequence[Judged], seed: int, without: Collection[str] = ()) -> list[Values]:
    """Each request's judgements by a re-ranker that did not learn from it, in order."""
    order = list(range(len(requests)))
    random.Random(seed).shuffle(order)
    found: dict[int, Values] = {}
    for fold in range(FOLDS):
        apart = set(order[fold::FOLDS])
        learnt = learn([one for place, one in enumerate(requests) if place not in apart], "", without)
        ranker = reranker_of(learnt)
        found |= {place: ranker.judge(requests[place].features) for place in apart}
    return [found[place] for place in range(len(requests))]
