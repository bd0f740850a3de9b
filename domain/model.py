"""The base class of every model that is stored or transmitted."""

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic.types import JsonValue
from pydantic_core import CoreSchema

JsonObject = dict[str, JsonValue]


class Model(BaseModel):
    """A frozen model that rejects unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /) -> JsonSchemaValue:
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
        definition = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    except (OSError, TypeError, SyntaxError):
        return {}
    found: dict[str, str] = {}
    for field, text in pairwise(definition.body if isinstance(definition, ast.ClassDef) else ()):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str() as docstring)):
                found[name] = inspect.cleandoc(docstring)
            case _:
                pass
    return found


def what_is_wrong(error: ValidationError, most: int = 3) -> str:
    """Describe the first ``most`` validation errors on one line, each after its location (``it`` for the whole).

    Values are never shown.
    """
    return "; ".join(
        f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False)[:most]
    )
