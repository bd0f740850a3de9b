"""Orders candidates by what was learnt from the requests of trajectories: a logistic regression and boosted trees over :mod:`retriever.features`."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray
from pydantic import ValidationError, model_validator

from domain.errors import UnavailableError
from domain.model import Model, what_is_wrong
from retriever.features import NAMES_OF_ALL, VERSION, Values
from retriever.forest import Forest, Tree, forest_of

BUNDLED = Path(__file__).parent / "reranker.json"


class Learnt(Model):
    """``weights`` and ``offset`` of standardised features: ``(value - mean) / spread``. ``encoder``: whose cosines it learnt from.

    What the ``trees`` say is added to it; over the candidates learnt from they vary by 1, and the regression by half of that.
    """

    version: str
    encoder: str
    names: tuple[str, ...]
    mean: tuple[float, ...]
    spread: tuple[float, ...]
    weights: tuple[float, ...]
    offset: float
    trees: tuple[Tree, ...] = ()

    @model_validator(mode="after")
    def _fitting(self) -> "Learnt":
        if self.version != VERSION or self.names != NAMES_OF_ALL:
            raise ValueError("it was learnt from other features")
        if {len(self.mean), len(self.spread), len(self.weights)} != {len(self.names)}:
            raise ValueError("it has not one mean, spread and weight for each feature")
        return self


@dataclass(frozen=True, slots=True)
class Reranker:
    """Judges candidates; ``encoder`` is the identity of the one whose vectors they must be of."""

    encoder: str
    weights: NDArray[np.float32]
    offset: float
    forest: Forest

    def judge(self, features: Values) -> Values:
        """How far each candidate serves the request, to be compared with others of the same request; shape (candidates,)."""
        return features @ self.weights + np.float32(self.offset) + self.forest.judge(features)


def reranker_of(learnt: Learnt) -> Reranker:
    """Standardising is folded into the weights."""
    spread = np.array(learnt.spread, np.float64)
    weights = np.array(learnt.weights, np.float64) / spread
    offset = learnt.offset - float(weights @ np.array(learnt.mean))
    return Reranker(learnt.encoder, weights.astype(np.float32), offset, forest_of(learnt.trees))


@lru_cache
def read_reranker(path: Path = BUNDLED) -> Reranker:
    """The one of a file, or that comes with Footpath. ``UnavailableError`` where it cannot be read or was made for other features."""
    try:
        return reranker_of(Learnt.model_validate(orjson.loads(path.read_bytes())))
    except (OSError, orjson.JSONDecodeError, ValidationError) as error:
        why = what_is_wrong(error) if isinstance(error, ValidationError) else str(error)
        remedy = "install Footpath anew" if path == BUNDLED else "write one with scripts/train_reranker.py"
        raise UnavailableError(f"the re-ranker {path} cannot be used ({why}); {remedy}") from error
