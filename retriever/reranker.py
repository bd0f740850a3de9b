"""Re-ranker of candidates: a logistic regression and boosted trees over :mod:`retriever.features`.

It is trained on the requests of trajectories.
"""

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
    spread: tuple[float, ...]
    """Standard deviation of each feature; features are standardised by ``(value - mean) / spread``."""
    weights: tuple[float, ...]
    """Weights of the standardised features in the regression."""
    offset: float
    """Intercept of the regression."""
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
    """Re-ranker ready for scoring."""

    encoder: str
    """Identity of the encoder whose vectors the candidates must be scored with."""
    weights: NDArray[np.float32]
    offset: float
    forest: Forest

    def judge(self, features: Values) -> Values:
        """Return how well each candidate serves the request, shape (candidates,).

        Scores are comparable only within one request.
        """
        return features @ self.weights + np.float32(self.offset) + self.forest.judge(features)


def reranker_of(learnt: Learnt) -> Reranker:
    """Build a re-ranker, with the standardisation of features folded into its weights."""
    spread = np.array(learnt.spread, np.float64)
    weights = np.array(learnt.weights, np.float64) / spread
    offset = learnt.offset - float(weights @ np.array(learnt.mean))
    return Reranker(learnt.encoder, weights.astype(np.float32), offset, forest_of(learnt.trees))


@lru_cache
def read_reranker(path: Path = BUNDLED) -> Reranker:
    """Read the re-ranker of a file, by default the one that comes with Footpath.

    Raises:
        UnavailableError: it cannot be read, or was trained on other features.
    """
    try:
        return reranker_of(Learnt.model_validate(orjson.loads(path.read_bytes())))
    except (OSError, orjson.JSONDecodeError, ValidationError) as error:
        why = what_is_wrong(error) if isinstance(error, ValidationError) else str(error)
        remedy = "install Footpath anew" if path == BUNDLED else "write one with scripts/train_reranker.py"
        raise UnavailableError(f"the re-ranker {path} cannot be used ({why}); {remedy}") from error
