"""Structures of tools' answers, learnt from the first answers where a tool's document is silent or wrong.

Only names of fields and types are learnt, never a value. Names that may be data (keys of an object that maps ids, dates or people to
something) do not belong to a structure and are left out.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import reduce

import orjson
from pydantic.types import JsonValue

from domain.tool import ToolDoc
from graph.lenient_json import read_value
from graph.response_shape import documented_shape
from graph.shapes import Shape, merged, schema_of, shape_of_schema, shape_of_value

MAX_FIELDS = 300
"""Maximum number of fields learnt of one tool's answers; fields beyond it are left out."""
MAX_NAMES = 80
"""Maximum number of names in one object. An object with more is taken for a mapping."""
MAX_DEPTH = 8

_MAX_TEXT = 400_000
_ALIKE = 2
"""Minimum number of fields of equal structure by which an object is taken for a mapping.

Two are enough, so that names of people, which would be keys of such an object, are never kept.
"""
_COUNTED = 3
"""Minimum number of all-number fields by which an object is taken for a mapping."""
_NUMBERS = frozenset({"integer", "number"})
_LONGEST_NAME = 64
_MOST_WORDS = 6
_A_MESSAGE = 2
"""Maximum number of fields of an answer that is a mere message, which does not show that a document is wrong."""
_DATA = re.compile(r"^\W*\d[\d\s.,:/TZ+-]*$|\d{5}|.@.|://|(?:(?:\d[^\W\d_]|[^\W\d_]\d)\w*){3}")
"""Names that are data: numbers, dates, addresses, identifiers."""


def shape_of_answer(text: str, arguments: Collection[JsonValue] = ()) -> Shape | None:
    """Return the structure of an answer, or None if it is no JSON or has no structure.

    ``arguments``: scalars that the call was made with; names in the answer that repeat one of them may be data.
    """
    if len(text) > _MAX_TEXT or text.lstrip()[:1] not in ("{", "["):
        return None
    value = _unwrapped(read_value(text))
    if not isinstance(value, (dict, list)) or _tells_an_error(value):
        return None
    said = frozenset(
        word
        for one in arguments
        if isinstance(one, (str, int, float))
        for word in (str(one).casefold(), *re.split(r"[\s,;|]+", str(one).casefold()))
    )
    found = _within(_structure(shape_of_value(value, MAX_DEPTH), said), [MAX_FIELDS])
    return found if found.fields or found.items or found.values else None


def _tells_an_error(value: JsonValue) -> bool:
    """Return whether an answer has an ``error`` or ``errors`` field that is set."""
    return isinstance(value, dict) and any(
        value.get(name) not in (None, False, 0, "", "0", "false", [], {}) for name in ("error", "errors")
    )


def _unwrapped(value: JsonValue) -> JsonValue:
    """Return the answer itself if ToolBench's server wrapped it, else the value as it is."""
    if (
        not isinstance(value, dict)
        or not value.keys() <= {"error", "response"}
        or not isinstance(value.get("error"), str)
    ):
        return value
    response = value.get("response")
    return read_value(response) if isinstance(response, str) else response


def with_answers(doc: ToolDoc, seen: Sequence[Shape]) -> ToolDoc:
    """Return the document with what these answers teach about its response; the same object without anything new.

    An answer that has a field of the documented response shows that the document is right: nothing is learnt then, and what was
    learnt before is dropped.
    """
    documented = documented_shape(doc)
    named = _names(documented)
    if named and any(named & _names(shape) for shape in seen):
        return doc.model_copy(update={"learnt_response": None}) if doc.learnt_response else doc
    fresh = [shape for shape in seen if _says_more(shape, documented, named)]
    if not fresh:
        return doc
    known = [shape_of_schema(read_value(doc.learnt_response))] if doc.learnt_response else []
    learnt = _within(reduce(_together, [*known, *fresh]), [MAX_FIELDS])
    written = orjson.dumps(schema_of(learnt)).decode()
    return doc if written == doc.learnt_response else doc.model_copy(update={"learnt_response": written})


def contradicts(doc: ToolDoc, answer: Shape) -> bool:
    """Return whether an answer from which a structure was learnt shows that the document is wrong.

    False if the document only leaves the structure open.
    """
    documented = documented_shape(doc)
    return bool(_names(documented)) or (documented.known and documented.kinds.isdisjoint(answer.kinds))


def _says_more(answer: Shape, documented: Shape, named: Collection[str]) -> bool:
    """Return whether an answer without any documented field still has a structure worth learning."""
    fields = _names(answer)
    if named:
        return len(fields) > _A_MESSAGE
    return bool(fields) or documented.kinds.isdisjoint(answer.kinds)


def _names(shape: Shape) -> frozenset[str]:
    """Return all field names of a shape, nested ones included."""
    inner = (_names(part) for part in (*shape.fields.values(), shape.items, shape.values) if part)
    return frozenset(shape.fields).union(*inner)


def _structure(shape: Shape, said: frozenset[str]) -> Shape:
    """Return a shape without names that are data.

    ``said``: values and words of the call's arguments, in lower case.
    """
    fields = {name: _structure(part, said) for name, part in shape.fields.items()}
    items = _structure(shape.items, said) if shape.items else None
    values = _structure(shape.values, said) if shape.values else None
    if fields and (values or _maps(fields, said)):
        return Shape(shape.kinds, {}, items, reduce(_together, [*fields.values(), *([values] if values else [])]))
    return Shape(shape.kinds, fields, items, values, shape.required)


def _maps(fields: dict[str, Shape], said: frozenset[str]) -> bool:
    """Return whether an object maps its names to something instead of having fields."""
    if len(fields) > MAX_NAMES or any(map(_is_data, fields)):
        return True
    parts = list(fields.values())
    one_kind = all(part.kinds == parts[0].kinds for part in parts)
    if one_kind and any(" " in name or name.casefold() in said for name in fields):
        return True
    alike = bool(_names(parts[0])) and all(_names(part) == _names(parts[0]) for part in parts)
    counted = all(part.kinds and part.kinds <= _NUMBERS for part in parts)
    return len(parts) >= (_ALIKE if alike else _COUNTED) and (alike or counted)


def _is_data(name: str) -> bool:
    """Return whether a field's name looks like data: empty, too long, too many words, or a number, date or id."""
    return not name or len(name.split()) > _MOST_WORDS or len(name) > _LONGEST_NAME or bool(_DATA.search(name))


def _together(one: Shape, other: Shape) -> Shape:
    """Merge two structures; two objects without a common field are taken for mappings."""
    apart = bool(one.fields and other.fields) and one.fields.keys().isdisjoint(other.fields) and _alike(one, other)
    if apart or (one.values and other.fields) or (one.fields and other.values):
        one, other = _as_map(one), _as_map(other)
    both = merged(one, other)
    shared = one.fields.keys() & other.fields.keys()
    fields = {
        name: _together(one.fields[name], other.fields[name]) if name in shared else part
        for name, part in both.fields.items()
    }
    items = _together(one.items, other.items) if one.items and other.items else both.items
    values = _together(one.values, other.values) if one.values and other.values else both.values
    found = Shape(both.kinds, fields, items, values, both.required)
    return _as_map(found) if len(fields) > MAX_NAMES else found


def _alike(one: Shape, other: Shape) -> bool:
    """Return whether all fields of two objects have one kind."""
    kinds = {part.kinds for part in (*one.fields.values(), *other.fields.values())}
    return len(kinds) == 1


def _as_map(shape: Shape) -> Shape:
    """Return an object's shape as a mapping whose values are its fields merged."""
    parts = [*shape.fields.values(), *([shape.values] if shape.values else [])]
    return Shape(shape.kinds, {}, shape.items, reduce(merged, parts)) if parts else shape


def _within(shape: Shape, left: list[int]) -> Shape:
    """Return a shape cut to the number of fields remaining, outer fields first.

    ``left``: a list with that number, reduced in place so that it is shared by the whole recursion.
    """
    # All fields of this object are counted before any of their parts, so that outer fields are kept first.
    names = list(shape.fields)[: max(left[0], 0)]
    left[0] -= len(names)
    fields = {name: _within(shape.fields[name], left) for name in names}
    items = _within(shape.items, left) if shape.items else None
    values = _within(shape.values, left) if shape.values else None
    return Shape(shape.kinds, fields, items, values, shape.required & fields.keys())


def arguments_said(arguments: Iterable[JsonValue]) -> list[JsonValue]:
    """Return the scalars among a call's arguments, including those nested in lists and objects."""
    found: list[JsonValue] = []
    for value in arguments:
        if isinstance(value, dict):
            found += arguments_said(value.values())
        elif isinstance(value, list):
            found += arguments_said(value)
        else:
            found.append(value)
    return found
