"""What a tool's answers look like, learnt from the first of them where its document says nothing, or something else.

Only names of fields and types are learnt, never a value. Names that may be data (of an object that maps ids, dates or people to something)
are none of a structure, and are left out.
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
"""Of all that is learnt of one tool's answers; what comes later is left out."""
MAX_NAMES = 80
"""Of one object. One with more maps its names to something."""
MAX_DEPTH = 8

_MAX_TEXT = 400_000
_ALIKE = 2
"""Fields of one and the same structure by which an object is held to map its names to something: names of people are never to be kept."""
_COUNTED = 3
"""Fields that are all numbers by which it is."""
_NUMBERS = frozenset({"integer", "number"})
_LONGEST_NAME = 64
_MOST_WORDS = 6
_A_MESSAGE = 2
"""Fields that an answer may have which is a mere message: it does not show that a document is wrong."""
_DATA = re.compile(r"^\W*\d[\d\s.,:/TZ+-]*$|\d{5}|.@.|://|(?:(?:\d[^\W\d_]|[^\W\d_]\d)\w*){3}")
"""Numbers, dates, addresses, identifiers."""


def shape_of_answer(text: str, arguments: Collection[JsonValue] = ()) -> Shape | None:
    """The structure of an answer to a call with these arguments; None for one that has none: no JSON, or nothing in it."""
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
    return isinstance(value, dict) and any(
        value.get(name) not in (None, False, 0, "", "0", "false", [], {}) for name in ("error", "errors")
    )


def _unwrapped(value: JsonValue) -> JsonValue:
    """The answer itself, where ToolBench's server wrapped it."""
    if (
        not isinstance(value, dict)
        or not value.keys() <= {"error", "response"}
        or not isinstance(value.get("error"), str)
    ):
        return value
    response = value.get("response")
    return read_value(response) if isinstance(response, str) else response


def with_answers(doc: ToolDoc, seen: Sequence[Shape]) -> ToolDoc:
    """The document with what these answers tell of its response; itself where they tell nothing new.

    An answer that has a field of the documented response shows that the document is right: then nothing is learnt, and what was
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
    """Whether an answer of which something was learnt shows that the document is wrong, rather than that it leaves the structure open."""
    documented = documented_shape(doc)
    return bool(_names(documented)) or (documented.known and documented.kinds.isdisjoint(answer.kinds))


def _says_more(answer: Shape, documented: Shape, named: Collection[str]) -> bool:
    """Whether an answer that has no documented field tells of a structure all the same."""
    fields = _names(answer)
    if named:
        return len(fields) > _A_MESSAGE
    return bool(fields) or documented.kinds.isdisjoint(answer.kinds)


def _names(shape: Shape) -> frozenset[str]:
    inner = (_names(part) for part in (*shape.fields.values(), shape.items, shape.values) if part)
    return frozenset(shape.fields).union(*inner)


def _structure(shape: Shape, said: frozenset[str]) -> Shape:
    """Without names that are data. ``said``: what a caller gave, in lower case."""
    fields = {name: _structure(part, said) for name, part in shape.fields.items()}
    items = _structure(shape.items, said) if shape.items else None
    values = _structure(shape.values, said) if shape.values else None
    if fields and (values or _maps(fields, said)):
        return Shape(shape.kinds, {}, items, reduce(_together, [*fields.values(), *([values] if values else [])]))
    return Shape(shape.kinds, fields, items, values, shape.required)


def _maps(fields: dict[str, Shape], said: frozenset[str]) -> bool:
    """Whether an object maps its names to something, rather than having them for fields."""
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
    return not name or len(name.split()) > _MOST_WORDS or len(name) > _LONGEST_NAME or bool(_DATA.search(name))


def _together(one: Shape, other: Shape) -> Shape:
    """Merged; two objects of which neither has a field of the other map their names to something."""
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
    kinds = {part.kinds for part in (*one.fields.values(), *other.fields.values())}
    return len(kinds) == 1


def _as_map(shape: Shape) -> Shape:
    parts = [*shape.fields.values(), *([shape.values] if shape.values else [])]
    return Shape(shape.kinds, {}, shape.items, reduce(merged, parts)) if parts else shape


def _within(shape: Shape, left: list[int]) -> Shape:
    """With no more fields than are left, those further out first."""
    names = list(shape.fields)[: max(left[0], 0)]
    left[0] -= len(names)
    fields = {name: _within(shape.fields[name], left) for name in names}
    items = _within(shape.items, left) if shape.items else None
    values = _within(shape.values, left) if shape.values else None
    return Shape(shape.kinds, fields, items, values, shape.required & fields.keys())


def arguments_said(arguments: Iterable[JsonValue]) -> list[JsonValue]:
    """The scalars among a call's arguments, those in lists and objects too."""
    found: list[JsonValue] = []
    for value in arguments:
        if isinstance(value, dict):
            found += arguments_said(value.values())
        elif isinstance(value, list):
            found += arguments_said(value)
        else:
            found.append(value)
    return found
