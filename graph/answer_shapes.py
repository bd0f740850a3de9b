"""Learns the structure of tools' answers where their documents say nothing about it, or are wrong.

Only field names and types are learnt, never values. An object whose keys may be data, such as ids, dates or names of
people, counts as a mapping, and its keys are left out.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import reduce

import orjson
from pydantic.types import JsonValue

from domain.tool import ToolDoc
from graph.lenient_json import read_value
from graph.shapes import JsonShape, infer_documented_shape, infer_shape, merge_shapes, read_schema_shape, to_schema

MAX_FIELDS = 300
"""Maximum number of fields that are learnt for one tool."""
MAX_NAMES = 80
"""Maximum number of fields of one object. An object with more counts as a mapping."""
MAX_DEPTH = 8

_MAX_TEXT = 400_000
_MIN_SAME_STRUCTURE_FIELDS = 2
"""Minimum number of fields of equal structure that make an object a mapping.

Two are enough, because the keys of such an object might be names of people, which must never be stored.
"""
_MIN_NUMBER_FIELDS = 3
"""Minimum number of fields that make an object a mapping if all of them are numbers."""
_NUMBERS = frozenset({"integer", "number"})
_MAX_NAME_LENGTH = 64
_MAX_NAME_WORDS = 6
_MAX_MESSAGE_FIELDS = 2
"""An answer with so few fields may be a mere message, and does not prove a document wrong."""
_DATA = re.compile(r"^\W*\d[\d\s.,:/TZ+-]*$|\d{5}|.@.|://|(?:(?:\d[^\W\d_]|[^\W\d_]\d)\w*){3}")
"""Matches names that are data: numbers, dates, addresses and ids."""


def infer_answer_shape(text: str, arguments: Collection[JsonValue] = ()) -> JsonShape | None:
    """Return the structure of an answer, or None if it is no JSON, an error, or without structure.

    ``arguments`` are the scalars of the call's arguments; a field name that repeats one of them may be data.
    """
    if len(text) > _MAX_TEXT or text.lstrip()[:1] not in ("{", "["):
        return None
    value = _unwrap_answer(read_value(text))
    if not isinstance(value, (dict, list)) or _is_error_answer(value):
        return None
    argument_words = frozenset(
        word
        for argument in arguments
        if isinstance(argument, (str, int, float))
        for word in (str(argument).casefold(), *re.split(r"[\s,;|]+", str(argument).casefold()))
    )
    shape = _limit_fields(_remove_data_names(infer_shape(value, MAX_DEPTH), argument_words), [MAX_FIELDS])
    return shape if shape.fields or shape.items or shape.values else None


def _is_error_answer(value: JsonValue) -> bool:
    """Return whether an answer has an ``error`` or ``errors`` field that is set."""
    return isinstance(value, dict) and any(
        value.get(name) not in (None, False, 0, "", "0", "false", [], {}) for name in ("error", "errors")
    )


def _unwrap_answer(value: JsonValue) -> JsonValue:
    """Return the answer itself if ToolBench's server wrapped it, else the value as it is."""
    if (
        not isinstance(value, dict)
        or not value.keys() <= {"error", "response"}
        or not isinstance(value.get("error"), str)
    ):
        return value
    response = value.get("response")
    return read_value(response) if isinstance(response, str) else response


def update_learnt_response(doc: ToolDoc, shapes: Sequence[JsonShape]) -> ToolDoc:
    """Return the document with its response structure updated from these answers; ``doc`` itself if nothing is new.

    An answer with any of the documented fields confirms the document. Nothing is learnt then, and what was learnt
    before is dropped.
    """
    documented = infer_documented_shape(doc)
    documented_names = _collect_names(documented)
    if documented_names and any(documented_names & _collect_names(shape) for shape in shapes):
        return doc.model_copy(update={"learnt_response": None}) if doc.learnt_response else doc
    new_shapes = [shape for shape in shapes if _adds_structure(shape, documented, documented_names)]
    if not new_shapes:
        return doc
    earlier_shapes = [read_schema_shape(read_value(doc.learnt_response))] if doc.learnt_response else []
    learnt = _limit_fields(reduce(_merge_structures, [*earlier_shapes, *new_shapes]), [MAX_FIELDS])
    learnt_schema = orjson.dumps(to_schema(learnt)).decode()
    return doc if learnt_schema == doc.learnt_response else doc.model_copy(update={"learnt_response": learnt_schema})


def contradicts_document(doc: ToolDoc, answer: JsonShape) -> bool:
    """Return whether an answer that was learnt from contradicts the document, rather than filling a gap in it."""
    documented = infer_documented_shape(doc)
    return bool(_collect_names(documented)) or (documented.is_known and documented.kinds.isdisjoint(answer.kinds))


def _adds_structure(answer: JsonShape, documented: JsonShape, documented_names: Collection[str]) -> bool:
    """Return whether an answer without any documented field still has a structure worth learning."""
    fields = _collect_names(answer)
    if documented_names:
        return len(fields) > _MAX_MESSAGE_FIELDS
    return bool(fields) or documented.kinds.isdisjoint(answer.kinds)


def _collect_names(shape: JsonShape) -> frozenset[str]:
    """Return all field names of a shape, nested ones included."""
    inner = (_collect_names(part) for part in (*shape.fields.values(), shape.items, shape.values) if part)
    return frozenset(shape.fields).union(*inner)


def _remove_data_names(shape: JsonShape, argument_words: frozenset[str]) -> JsonShape:
    """Return a shape in which every object whose names are data is a mapping.

    ``argument_words`` are the values of the call's arguments and their words, in lower case.
    """
    fields = {name: _remove_data_names(part, argument_words) for name, part in shape.fields.items()}
    items = _remove_data_names(shape.items, argument_words) if shape.items else None
    values = _remove_data_names(shape.values, argument_words) if shape.values else None
    if fields and (values or _is_mapping(fields, argument_words)):
        return JsonShape(
            shape.kinds, {}, items, reduce(_merge_structures, [*fields.values(), *([values] if values else [])])
        )
    return JsonShape(shape.kinds, fields, items, values, shape.required)


def _is_mapping(fields: dict[str, JsonShape], argument_words: frozenset[str]) -> bool:
    """Return whether an object maps its names to something instead of having fields."""
    if len(fields) > MAX_NAMES or any(map(_is_data_name, fields)):
        return True
    parts = list(fields.values())
    one_kind = all(part.kinds == parts[0].kinds for part in parts)
    if one_kind and any(" " in name or name.casefold() in argument_words for name in fields):
        return True
    same_fields = bool(_collect_names(parts[0])) and all(
        _collect_names(part) == _collect_names(parts[0]) for part in parts
    )
    all_numbers = all(part.kinds and part.kinds <= _NUMBERS for part in parts)
    return len(parts) >= (_MIN_SAME_STRUCTURE_FIELDS if same_fields else _MIN_NUMBER_FIELDS) and (
        same_fields or all_numbers
    )


def _is_data_name(name: str) -> bool:
    """Return whether a field's name looks like data: empty, too long, too many words, or a number, date or id."""
    return not name or len(name.split()) > _MAX_NAME_WORDS or len(name) > _MAX_NAME_LENGTH or bool(_DATA.search(name))


def _merge_structures(first: JsonShape, second: JsonShape) -> JsonShape:
    """Merge two structures; objects without a common field, and with fields of one kind, become mappings."""
    disjoint = (
        bool(first.fields and second.fields)
        and first.fields.keys().isdisjoint(second.fields)
        and _has_one_kind(first, second)
    )
    if disjoint or (first.values and second.fields) or (first.fields and second.values):
        first, second = _to_mapping(first), _to_mapping(second)
    both = merge_shapes(first, second)
    shared = first.fields.keys() & second.fields.keys()
    fields = {
        name: _merge_structures(first.fields[name], second.fields[name]) if name in shared else part
        for name, part in both.fields.items()
    }
    items = _merge_structures(first.items, second.items) if first.items and second.items else both.items
    values = _merge_structures(first.values, second.values) if first.values and second.values else both.values
    merged_shape = JsonShape(both.kinds, fields, items, values, both.required)
    return _to_mapping(merged_shape) if len(fields) > MAX_NAMES else merged_shape


def _has_one_kind(first: JsonShape, second: JsonShape) -> bool:
    """Return whether all fields of two objects have one kind."""
    kinds = {part.kinds for part in (*first.fields.values(), *second.fields.values())}
    return len(kinds) == 1


def _to_mapping(shape: JsonShape) -> JsonShape:
    """Return an object's shape as a mapping whose values are its fields merged."""
    parts = [*shape.fields.values(), *([shape.values] if shape.values else [])]
    return JsonShape(shape.kinds, {}, shape.items, reduce(merge_shapes, parts)) if parts else shape


def _limit_fields(shape: JsonShape, remaining: list[int]) -> JsonShape:
    """Return a shape cut to the number of fields remaining, outer fields first.

    ``remaining`` holds that number in a list, so that all recursive calls reduce the same one.
    """
    # All fields of this object are counted before any of their parts, so that outer fields are kept first.
    names = list(shape.fields)[: max(remaining[0], 0)]
    remaining[0] -= len(names)
    fields = {name: _limit_fields(shape.fields[name], remaining) for name in names}
    items = _limit_fields(shape.items, remaining) if shape.items else None
    values = _limit_fields(shape.values, remaining) if shape.values else None
    return JsonShape(shape.kinds, fields, items, values, shape.required & fields.keys())


def collect_scalars(arguments: Iterable[JsonValue]) -> list[JsonValue]:
    """Return the scalars among a call's arguments, including those nested in lists and objects."""
    scalars: list[JsonValue] = []
    for value in arguments:
        if isinstance(value, dict):
            scalars += collect_scalars(value.values())
        elif isinstance(value, list):
            scalars += collect_scalars(value)
        else:
            scalars.append(value)
    return scalars
