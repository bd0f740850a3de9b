"""The base class of every model that is stored or transmitted."""

import inspect
import textwrap
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic.types import JsonValue

from domain.python_source import read_attribute_docstrings

JsonObject = dict[str, JsonValue]
"""A JSON object as Python holds it."""


class Model(BaseModel):
    """A frozen model that rejects unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler, /) -> JsonSchemaValue:
        """Describe each field by its attribute docstring.

        Pydantic's ``use_attribute_docstrings`` would read the sources whenever a command starts, which takes it 70 ms.
        """
        schema = handler(core_schema)
        properties: dict[str, dict[str, Any]] = handler.resolve_ref_schema(schema).get("properties", {})
        for base in reversed(cls.__mro__):
            for name, text in _read_attribute_docstrings(base).items() if issubclass(base, Model) else ():
                if name in properties:
                    properties[name].setdefault("description", text)
        return schema


@cache
def _read_attribute_docstrings(model: type[Model]) -> dict[str, str]:
    """Return the docstring of each field that a class defines itself; nothing without its source."""
    try:
        return read_attribute_docstrings(textwrap.dedent(inspect.getsource(model)))
    except (OSError, TypeError, SyntaxError):
        return {}


def describe_errors(error: ValidationError, limit: int = 3) -> str:
    """Describe the first ``limit`` validation errors in one line, each with its location.

    The location of the whole input is ``it``. Values are never shown.
    """
    return "; ".join(
        f"{'.'.join(map(str, detail['loc'])) or 'it'}: {detail['msg']}"
        for detail in error.errors(include_url=False, include_input=False)[:limit]
    )
