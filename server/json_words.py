"""What is wrong with a value of a request, in the words of JSON: who asks need not know what the server is written in."""

import re
from collections.abc import Mapping
from typing import Any

_TYPES: Mapping[str, tuple[str, ...]] = {
    "must be an object": ("dict_type", "mapping_type", "model_type", "model_attributes_type", "dataclass_type"),
    "must be an array": ("list_type", "tuple_type", "set_type", "frozen_set_type", "iterable_type"),
    "must be a text": ("string_type", "string_unicode"),
    "must be a whole number": ("int_type", "int_parsing", "int_from_float"),
    "must be a number": ("float_type", "float_parsing", "finite_number"),
    "must be true or false": ("bool_type", "bool_parsing"),
    "must be null": ("none_required",),
    "is required": ("missing",),
    "is a field that is not known here": ("extra_forbidden",),
    "is a number with too many digits": ("int_parsing_size",),
    "must have at least {min_length} characters": ("string_too_short",),
    "must have at most {max_length} characters": ("string_too_long",),
    "must match the pattern {pattern}": ("string_pattern_mismatch",),
    "must have at least {min_length} items": ("too_short",),
    "must have at most {max_length} items": ("too_long",),
    "must be at least {ge}": ("greater_than_equal",),
    "must be at most {le}": ("less_than_equal",),
    "must be more than {gt}": ("greater_than",),
    "must be less than {lt}": ("less_than",),
    "must be {expected}": ("literal_error", "enum"),
    "{error}": ("value_error", "assertion_error"),
}
_SAID = {kind: said for said, kinds in _TYPES.items() for kind in kinds}
_OTHERS = [
    (re.compile(words), said)
    for words, said in (
        (r"^Input should be\b", "must be"),
        (r"\b(?:dictionary|dict|mapping)\b", "object"),
        (r"\b(?:list|tuple|frozenset|set)\b", "array"),
        (r"\b[Ss]tr(?:ing)?\b", "text"),
        (r"\b(?:integer|int)\b", "whole number"),
        (r"\bfloat\b", "number"),
        (r"\b(?:None|NoneType)\b", "null"),
        (r"\b(?:boolean|bool)\b", "true or false"),
    )
]
_KEY = "[key]"
_UNSHOWN = "Value"
"""What pydantic calls a text that it does not show, whose characters it counts as items."""


def said(error: Mapping[str, Any]) -> tuple[str, str]:
    """Where a complaint of pydantic is about, as ``body.name``, and what it says. What was sent is not repeated."""
    place, message = [str(part) for part in error["loc"]], _message(error)
    if place[-1:] == [_KEY]:
        place, message = place[:-1], f"as a name, it {message}"
    return ".".join(place), message


def _message(error: Mapping[str, Any]) -> str:
    form = _SAID.get(error["type"])
    given: Mapping[str, Any] = error.get("ctx") or {}
    if form is not None:
        text = form.format(**given)
        one = any(given.get(limit) == 1 for limit in ("min_length", "max_length"))
        text = re.sub(r"(character|item)s$", r"\1", text) if one else text
        return text.replace("item", "character") if given.get("field_type") == _UNSHOWN else text
    text = str(error["msg"])
    for words, ours in _OTHERS:
        text = words.sub(ours, text)
    return text
