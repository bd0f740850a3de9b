"""Convert values into a program and out of it, and results of calls into what the program is given for them.

Into a program: lone surrogates in text become ``�``; values that are nested too deep, NaN and infinity become null.
Out of a program: tuples and sets become lists, dates their ISO form, decimals numbers, NaN and infinity null, integers
beyond 64 bits text, and field names text. Anything else (functions, modules, calls that were not awaited, bytes) has
no JSON form.

The result of a call becomes a value, an error that the program can catch, or the end of the program.
"""

import math
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import cast

from pydantic.types import JsonValue

from domain.model import JsonObject
from graph.lenient_json import BEYOND_64_BITS, contains_value, is_beyond_64_bits

MAX_DEPTH = 100
"""Maximum nesting of lists and objects; the sandbox itself allows about two hundred levels."""

_LARGEST = 2**63
"""Bound of signed 64-bit integers."""
_NOT_AWAITED = re.compile(r"<coroutine (?:external_future\(\d+\)|object \w+)>")
"""Matches how the sandbox writes calls that were not awaited."""
_NO_VALUE = re.compile(r"<(?:function '[^']*' at 0x[0-9a-f]+|module '[^']*'|\w+_iterator object)>")
"""Matches how the sandbox writes functions and modules that a program returns."""


class NoJsonError(TypeError):
    """A value has no JSON form; the message says which."""


def to_program_value(value: JsonValue, depth: int = MAX_DEPTH) -> JsonValue:
    """Convert a JSON value for a program; what is nested deeper than ``depth`` becomes None."""
    match value:
        case str():
            return _to_unicode(value)
        case list() | dict() if depth == 0:
            return None
        case list():
            return [to_program_value(one, depth - 1) for one in value]
        case dict():
            return {_to_unicode(name): to_program_value(one, depth - 1) for name, one in value.items()}
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def from_program_value(value: object, depth: int = MAX_DEPTH) -> JsonValue:
    """Convert a value of a program to JSON.

    Raises:
        NoJsonError: it has no JSON form.
    """
    match value:
        case None | bool():
            return value
        case str():
            return _to_text(value)
        case int():
            return value if -_LARGEST <= value < _LARGEST else _to_digits(value)
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            return from_program_value(float(value) if value % 1 else int(value)) if value.is_finite() else None
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case _:
            return _convert_container(value, depth)


def to_call_arguments(passed: Mapping[str, object]) -> JsonObject:
    """Convert the arguments of a call to JSON.

    Raises:
        NoJsonError: A value has no JSON form, or holds a number that JSON cannot express. It is refused, because a call
            must not silently send another value than the program gave.
    """
    for name, value in passed.items():
        if contains_value(value, lambda one: isinstance(one, float) and not math.isfinite(one)):
            raise NoJsonError(f"{name} is or holds a number that is none (nan, inf)")
        if contains_value(value, is_beyond_64_bits):
            raise NoJsonError(f"{name} is or {BEYOND_64_BITS}")
    return {name: from_program_value(value) for name, value in passed.items()}


def to_shown_value(value: object) -> JsonValue:
    """Convert a value for a look; a value without a JSON form is replaced by a description."""
    try:
        return from_program_value(value)
    except NoJsonError as error:
        return f"({error})"


def _convert_container(value: object, depth: int) -> JsonValue:
    """Convert a list, set or mapping, level by level; raise ``NoJsonError`` for any other value."""
    if value is ...:
        raise NoJsonError("what is left open stands alone: `fill()` is the whole value of an argument")
    if not isinstance(value, (list, tuple, AbstractSet, Mapping)):
        raise NoJsonError(f"a value of the type {type(value).__name__} has no JSON")
    if depth == 0:
        raise NoJsonError(f"a value is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        fields = cast(Mapping[object, object], value)
        return {_to_field_name(name): from_program_value(one, depth - 1) for name, one in fields.items()}
    if isinstance(value, AbstractSet):
        return [from_program_value(one, depth - 1) for one in _sort_members(cast(AbstractSet[object], value))]
    return [from_program_value(one, depth - 1) for one in cast(list[object] | tuple[object, ...], value)]


def _sort_members(values: AbstractSet[object]) -> list[object]:
    """Return the members of a set in an order that is the same in every run."""
    return sorted(values, key=lambda one: (type(one).__name__, one if isinstance(one, (int, float)) else 0, repr(one)))


def _to_field_name(name: object) -> str:
    """Convert the key of a mapping to the name of a field."""
    match name:
        case str():
            return _to_text(name)
        case None:
            return "null"
        case bool():
            return "true" if name else "false"
        case int():
            return _to_digits(name)
        case float() | date() | time() | Decimal():
            return str(name)
        case _:
            raise NoJsonError(f"a field is named by a value of the type {type(name).__name__}; names are text")


def _to_text(value: str) -> str:
    """Convert a text, and reject one by which the sandbox represents an object without a JSON form."""
    if _NOT_AWAITED.fullmatch(value):
        raise NoJsonError("a call was not awaited: write `await` before it")
    if _NO_VALUE.fullmatch(value):
        raise NoJsonError(f"{value} has no JSON")
    return _to_unicode(value)


def _to_digits(value: int) -> str:
    """Convert an integer to text; raise ``NoJsonError`` if it has more digits than Python writes."""
    try:
        return str(value)
    except ValueError:
        raise NoJsonError("a whole number has more digits than can be written") from None


def _to_unicode(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded as UTF-8."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
