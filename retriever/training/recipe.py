"""Recipe of an encoder's training: a TOML file with every choice that changes the result."""

import math
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from domain.errors import UsageError
from domain.model import Model, describe_errors

BUNDLED_RECIPE = Path(__file__).parent / "recipes" / "minilm.toml"
"""Recipe of the bundled encoder."""


class TrainingRecipe(Model):
    """Settings of an encoder's training; lengths are in tokens, batches in requests."""

    base: str = "bundled"
    """A folder, a name on a model hub, or ``bundled``: all-MiniLM-L6-v2 from its package."""
    pooling: Literal["mean", "cls"] = "mean"
    query_prefix: str = ""
    """Text that the base expects before a request."""
    epochs: int = Field(default=3, ge=1)
    batch: int = Field(default=20, ge=2)
    positives: int = Field(default=2, ge=1)
    """Maximum of documents that solved a request in one step."""
    hard: int = Field(default=2, ge=0)
    """Negatives of a request in one step; documents of the step's other requests are negatives, too."""
    siblings: int = Field(default=1, ge=0)
    """Number of those that are from a tool set that solved the request."""
    written: int = Field(default=1, ge=0)
    """Additional negatives that a language model wrote for the request."""
    written_of: int = Field(default=3, ge=1, description="Negatives to have written for a request and what solved it.")
    synthetic_per_api: int = Field(default=2, ge=1, description="Made-up requests of one API, at most.")
    synthetic_share: float = Field(default=0.3, ge=0, lt=1)
    """Maximum share of synthetic requests among those that are learnt from."""
    mined_from: int = Field(
        default=10, ge=1, description="Documents by BM25 for each request and each name that are looked at."
    )
    ceiling: float = Field(default=0.95, gt=0, le=1)
    """A negative with a similarity above this share of the best positive's is taken for a positive and left out."""
    learning_rate: float = Field(default=8e-5, gt=0)
    weight_decay: float = Field(default=0.01, ge=0)
    warm_up: float = Field(default=0.1, ge=0, lt=1)
    scale: float = Field(default=20.0, gt=0)
    frozen: int = Field(default=0, ge=0)
    """Lowest layers that are not trained; above 0, neither are the word embeddings."""
    query_tokens: int = Field(default=80, ge=8, le=2048)
    document_tokens: int = Field(default=64, ge=8, le=2048)
    held_out: float = Field(default=0.25, gt=0, lt=1)
    """Share of requests that are not trained on: they decide when to stop, and the re-ranker is trained on them."""
    fold: int = Field(default=0, ge=0, description="Which part of the requests is held out.")
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        default="auto", description="Of products in training; auto: bfloat16 where the device has it in hardware."
    )
    judged: int = Field(default=2, ge=1, description="Judgements of the held-out requests in an epoch.")
    patience: int = Field(default=3, ge=1)
    """Judgements without an improvement after which the training stops."""
    seed: int = 7

    def count_steps(self, examples: int) -> int:
        """Return the number of steps in an epoch of this many examples."""
        return math.ceil(examples / self.batch)


def read_recipe(path: Path) -> TrainingRecipe:
    """Read a recipe from a TOML file. Raises ``UsageError``, which names what is wrong with it."""
    try:
        return TrainingRecipe.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}") from error
    except ValidationError as error:
        unknown = any(detail["type"] == "extra_forbidden" for detail in error.errors())
        known_fields = f"; a recipe has {', '.join(TrainingRecipe.model_fields)}" if unknown else ""
        raise UsageError(f"{path}: {describe_errors(error)}{known_fields}") from error
