"""The base class of every model that is stored or transmitted."""

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.types import JsonValue

JsonObject = dict[str, JsonValue]


class Model(BaseModel):
    """A frozen model that rejects unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def what_is_wrong(error: ValidationError, most: int = 3) -> str:
    """Describe the first ``most`` validation errors on one line, each after its location (``it`` for the whole).

    Values are never shown.
    """
    return "; ".join(
        f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False)[:most]
    )
