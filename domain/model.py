"""The base of every stored or transmitted model."""

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.types import JsonValue

JsonObject = dict[str, JsonValue]


class Model(BaseModel):
    """Frozen, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def what_is_wrong(error: ValidationError, most: int = 3) -> str:
    """The first ``most`` complaints, on one line, each after the place it is about (``it``: the whole). No value is shown."""
    return "; ".join(
        f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False)[:most]
    )
