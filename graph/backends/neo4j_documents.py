"""Documents to the properties of a node, and back. Pure."""

from collections.abc import Mapping
from types import UnionType
from typing import Any, Literal, NewType, Union, get_args, get_origin

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from domain.tool import ToolDoc

Properties = dict[str, Any]

_NAMES = {"api": "name"}
"""Fields whose property is called otherwise."""


def _is_plain(field: FieldInfo) -> bool:
    """Whether a property holds the field as it is: text or a yes or no, and None only where that is the default.

    Anything else (integers of any size, models, tuples, mappings) is JSON text.
    """
    kinds = _kinds(field.annotation)
    return kinds <= {str, bool, type(None)} and (type(None) not in kinds or field.default is None)


def _kinds(annotation: Any) -> set[Any]:
    """The types of values that an annotation admits, as far as they are told apart here."""
    if isinstance(annotation, NewType):
        return _kinds(annotation.__supertype__)
    if get_origin(annotation) is Literal:
        return {type(value) for value in get_args(annotation)}
    if get_origin(annotation) in (Union, UnionType):
        return {kind for one in get_args(annotation) for kind in _kinds(one)}
    return {annotation}


_FIELDS = {name: field for name, field in ToolDoc.model_fields.items() if name != "id"}
_AS_JSON = {
    name: TypeAdapter[Any](field.rebuild_annotation()) for name, field in _FIELDS.items() if not _is_plain(field)
}


def document_properties(tool: ToolDoc) -> Properties:
    """All properties of a document but its id. None takes one away that a former document had: what is the default needs none."""
    return {_NAMES.get(name, name): _property(name, getattr(tool, name)) for name in _FIELDS}


def _property(name: str, value: Any) -> str | bool | None:
    field = _FIELDS[name]
    if not field.is_required() and value == field.default:
        return None
    return _AS_JSON[name].dump_json(value).decode() if name in _AS_JSON else value


def document(properties: Mapping[str, Any]) -> ToolDoc:
    """The document in a node's properties, the facts among them left out."""
    found = {name: properties[key] for name in _FIELDS if (key := _NAMES.get(name, name)) in properties}
    parsed = {name: _AS_JSON[name].validate_json(found[name]) for name in _AS_JSON.keys() & found.keys()}
    return ToolDoc.model_validate({**found, **parsed, "id": properties["id"]})
