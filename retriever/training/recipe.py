"""How an encoder is trained: every choice that changes the result, in one file that is kept with it."""

import math
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from domain.errors import UsageError
from domain.model import Model, what_is_wrong

BUNDLED = Path(__file__).parent / "recipes" / "minilm.toml"
"""That of the encoder which comes along."""


class Recipe(Model):
    """Rates and shares are numbers, lengths are tokens, batches are requests.

    ``base``: a folder, a name on a model hub, or ``bundled``: all-MiniLM-L6-v2 out of its package. ``positives``: documents of a request
    that solved it, at most, in one step; ``hard``: its negatives, of which ``siblings`` are of a tool set that solved it; ``written``: further ones, which a language model wrote against it. What other requests of
    the step have is a negative, too. ``ceiling``: a negative whose similarity is above this share of the best positive's is taken for one
    that solves the request as well, and left out. ``frozen``: layers that stay as they are, the word embeddings among them where it is above 0.
    ``held_out``: the share of requests that the encoder does not learn from: stopping is judged by them, and the re-ranker learns from them; ``patience``: judgements without a better one before it stops.
    ``query_prefix``: what the base wants before a request. ``synthetic_share``: the share of what is learnt from that requests made up from documents may have.
    """

    base: str = "bundled"
    pooling: Literal["mean", "cls"] = "mean"
    query_prefix: str = ""
    epochs: int = Field(default=3, ge=1)
    batch: int = Field(default=20, ge=2)
    positives: int = Field(default=2, ge=1)
    hard: int = Field(default=2, ge=0)
    siblings: int = Field(default=1, ge=0)
    written: int = Field(default=1, ge=0)
    written_of: int = Field(default=3, ge=1, description="Negatives to have written for a request and what solved it.")
    synthetic_per_api: int = Field(default=2, ge=1, description="Made-up requests of one API, at most.")
    synthetic_share: float = Field(default=0.3, ge=0, lt=1)
    mined_from: int = Field(
        default=10, ge=1, description="Documents by BM25 for each request and each name that are looked at."
    )
    ceiling: float = Field(default=0.95, gt=0, le=1)
    learning_rate: float = Field(default=8e-5, gt=0)
    weight_decay: float = Field(default=0.01, ge=0)
    warm_up: float = Field(default=0.1, ge=0, lt=1)
    scale: float = Field(default=20.0, gt=0)
    frozen: int = Field(default=0, ge=0)
    query_tokens: int = Field(default=80, ge=8, le=2048)
    document_tokens: int = Field(default=64, ge=8, le=2048)
    held_out: float = Field(default=0.25, gt=0, lt=1)
    fold: int = Field(default=0, ge=0, description="Which part of the requests is held out.")
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        default="auto", description="Of products in training; auto: bfloat16 where the device has it in hardware."
    )
    judged: int = Field(default=2, ge=1, description="Judgements of the held-out requests in an epoch.")
    patience: int = Field(default=3, ge=1)
    seed: int = 7

    def steps_of(self, examples: int) -> int:
        """Steps of an epoch of so many requests."""
        return math.ceil(examples / self.batch)


def read_recipe(path: Path) -> Recipe:
    """The recipe of a TOML file. ``UsageError`` names what is wrong with it."""
    try:
        return Recipe.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}") from error
    except ValidationError as error:
        unknown = any(one["type"] == "extra_forbidden" for one in error.errors())
        known = f"; a recipe has {', '.join(Recipe.model_fields)}" if unknown else ""
        raise UsageError(f"{path}: {what_is_wrong(error)}{known}") from error
