"""Models with every field set to what is not its default, made from their types: a field that is added later is covered by itself."""

import types
from itertools import cycle, islice
from typing import Any, Literal, NewType, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic.types import JsonValue

M = TypeVar("M", bound=BaseModel)

_JSON: tuple[Any, ...] = ({"ü": [2**80, None, 0.5, {"deep": True}]}, [1, "a", None], "text", -(2**70), 1.5, True)
_PLAIN: dict[type, tuple[Any, ...]] = {
    str: ('é ☔ "\n\0', ""),
    bool: (True, False),
    int: (2**80, -1),
    float: (-0.5, 1e300),
}


def with_every_field(model: type[M], **fixed: Any) -> list[M]:
    """So many of a model that every alternative of each field occurs; what is in ``fixed`` is taken as it is.

    In the first one no field has its default.
    """
    values = {name: [fixed[name]] if name in fixed else _values(field) for name, field in model.model_fields.items()}
    rows = max(map(len, values.values()))
    columns = {name: list(islice(cycle(of_field), rows)) for name, of_field in values.items()}
    return [model.model_validate({name: column[row] for name, column in columns.items()}) for row in range(rows)]


def _values(field: FieldInfo) -> list[Any]:
    found = [value for value in _of_type(field.annotation) if field.is_required() or value != field.default]
    assert found, f"no value but the default for {field.annotation}"
    return found


def _of_type(kind: Any) -> list[Any]:
    """Values of a type; None and what is empty come last."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is JsonValue:
        return list(_JSON)
    if isinstance(kind, NewType):
        return _of_type(kind.__supertype__)
    if origin is Literal:
        return list(arguments)
    if origin in (Union, types.UnionType):
        return [value for one in sorted(arguments, key=_is_none) for value in _of_type(one)]
    if origin is tuple and arguments[1:] == (...,):
        return [tuple(_of_type(arguments[0])), ()]
    if kind is type(None):
        return [None]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return list(with_every_field(kind))
    assert kind in _PLAIN, f"say here what values {kind} has"
    return list(_PLAIN[kind])


def _is_none(kind: Any) -> bool:
    return kind is type(None)
