"""The base of every stored or transmitted model."""

from pydantic import BaseModel, ConfigDict
from pydantic.types import JsonValue

JsonObject = dict[str, JsonValue]


class Model(BaseModel):
    """Frozen, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
