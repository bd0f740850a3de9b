# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Teaches the re-ranker: a logistic regression of whether a candidate serves a request, every request counting the same."""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.errors import UnavailableError, UsageError
from retriever.features import NAMES_OF_ALL, VERSION, Values
from retriever.reranker import Learnt, reranker_of

FOLDS = 5


@dataclass(frozen=True, slots=True)
class Judged:
    """A request's candidates: ``features`` of shape (candidates, features), ``serves`` of shape (candidates,)."""

    features: Values
    serves: NDArray[np.bool_]


def learn(requests: Sequence[Judged], encoder: str, without: Collection[str] = ()) -> Learnt:
    """``without``: features that get no weight. Requests none of whose candidates serve teach nothing.

    Raises:
        UsageError: no request teaches anything. UnavailableError: scikit-learn is not installed.
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise UnavailableError("scikit-learn is not installed: pip install -e '.[neural]'") from error

    telling = [one for one in requests if one.serves.any() and not one.serves.all()]
    if not telling:
        raise UsageError("no request has both candidates that serve it and others: there is nothing to learn from")
    values = np.concatenate([one.features for one in telling]).astype(np.float64)
    serves = np.concatenate([one.serves for one in telling])
    shares = np.concatenate([np.full(len(one.serves), 100.0 / len(one.serves)) for one in telling])
    mean, spread = values.mean(axis=0), values.std(axis=0)
    spread[spread == 0] = 1.0
    standard = (values - mean) / spread
    standard[:, [NAMES_OF_ALL.index(name) for name in without]] = 0.0
    fitted = LogisticRegression(C=1.0, max_iter=1_000).fit(standard, serves, sample_weight=shares)
    return Learnt(
        version=VERSION,
        encoder=encoder,
        names=NAMES_OF_ALL,
        mean=tuple(np.round(mean, 6).tolist()),
        spread=tuple(np.round(spread, 6).tolist()),
        weights=tuple(np.round(fitted.coef_[0], 4).tolist()),
        offset=round(float(fitted.intercept_[0]), 4),
    )


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
