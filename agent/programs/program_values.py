"""Convert values into a program and out of it, and results of calls into what the program is given for them.

Into a program: lone surrogates in text become ``�``; values that are nested too deep, NaN and infinity become null.
Out of a program: tuples and sets become lists, dates their ISO form, decimals numbers, NaN and infinity null, integers
beyond 64 bits text, and field names text. Anything else (functions, modules, calls that were not awaited, bytes) has
no JSON form.

The result of a call becomes a value, an error that the program can catch, or the end of the program.
"""

import json
import math
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import NoReturn, cast

import orjson
from pydantic.types import JsonValue

from agent.programs.program_types import CallFailure, ProgramError
from agent.text import clean_text
from domain.model import JsonObject
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.lenient_json import (
    BEYOND_64_BITS,
    MAX_CHARACTERS,
    contains_value,
    is_beyond_64_bits,
    is_too_deep,
    read_value,
)

MAX_VALUE_DEPTH = 100
"""Maximum nesting of lists and objects; the sandbox itself allows about two hundred levels."""

_INT64_LIMIT = 2**63
"""Bound of signed 64-bit integers."""
_NOT_AWAITED = re.compile(r"<coroutine (?:external_future\(\d+\)|object \w+)>")
"""Matches how the sandbox writes calls that were not awaited."""
_FUNCTION_OR_MODULE = re.compile(r"<(?:function '[^']*' at 0x[0-9a-f]+|module '[^']*'|\w+_iterator object)>")
"""Matches how the sandbox writes functions and modules that a program returns."""


class NoJsonError(TypeError):
    """A value has no JSON form; the message says which."""


def to_program_value(value: JsonValue, depth: int = MAX_VALUE_DEPTH) -> JsonValue:
    """Convert a JSON value for a program; what is nested deeper than ``depth`` becomes None."""
    match value:
        case str():
            return _to_valid_unicode(value)
        case list() | dict() if depth == 0:
            return None
        case list():
            return [to_program_value(item, depth - 1) for item in value]
        case dict():
            return {_to_valid_unicode(name): to_program_value(item, depth - 1) for name, item in value.items()}
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def from_program_value(value: object, depth: int = MAX_VALUE_DEPTH) -> JsonValue:
    """Convert a value of a program to JSON.

    Raises:
        NoJsonError: it has no JSON form.
    """
    match value:
        case None | bool():
            return value
        case str():
            return _to_json_text(value)
        case int():
            return value if -_INT64_LIMIT <= value < _INT64_LIMIT else _to_decimal_text(value)
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


def to_json_arguments(arguments: Mapping[str, object]) -> JsonObject:
    """Convert the arguments of a call to JSON.

    Raises:
        NoJsonError: A value has no JSON form, or holds a number that JSON cannot express. It is refused, because a call
            must not silently send another value than the program gave.
    """
    for name, value in arguments.items():
        if contains_value(value, lambda one: isinstance(one, float) and not math.isfinite(one)):
            raise NoJsonError(f"{name} is or holds a number that is none (nan, inf)")
        if contains_value(value, is_beyond_64_bits):
            raise NoJsonError(f"{name} is or {BEYOND_64_BITS}")
    return {name: from_program_value(value) for name, value in arguments.items()}


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
        raise NoJsonError(f"a value is nested deeper than {MAX_VALUE_DEPTH} levels")
    if isinstance(value, Mapping):
        fields = cast(Mapping[object, object], value)
        return {_to_field_name(name): from_program_value(item, depth - 1) for name, item in fields.items()}
    if isinstance(value, AbstractSet):
        return [from_program_value(item, depth - 1) for item in _sort_members(cast(AbstractSet[object], value))]
    return [from_program_value(item, depth - 1) for item in cast(list[object] | tuple[object, ...], value)]


def _sort_members(values: AbstractSet[object]) -> list[object]:
    """Return the members of a set in an order that is the same in every run."""
    return sorted(values, key=lambda one: (type(one).__name__, one if isinstance(one, (int, float)) else 0, repr(one)))


def _to_field_name(name: object) -> str:
    """Convert the key of a mapping to the name of a field."""
    match name:
        case str():
            return _to_json_text(name)
        case None:
            return "null"
        case bool():
            return "true" if name else "false"
        case int():
            return _to_decimal_text(name)
        case float() | date() | time() | Decimal():
            return str(name)
        case _:
            raise NoJsonError(f"a field is named by a value of the type {type(name).__name__}; names are text")


def _to_json_text(value: str) -> str:
    """Convert a text, and reject one by which the sandbox represents an object without a JSON form."""
    if _NOT_AWAITED.fullmatch(value):
        raise NoJsonError("a call was not awaited: write `await` before it")
    if _FUNCTION_OR_MODULE.fullmatch(value):
        raise NoJsonError(f"{value} has no JSON")
    return _to_valid_unicode(value)


def _to_decimal_text(value: int) -> str:
    """Convert an integer to text; raise ``NoJsonError`` if it has more digits than Python writes."""
    try:
        return str(value)
    except ValueError:
        raise NoJsonError("a whole number has more digits than can be written") from None


def _to_valid_unicode(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded as UTF-8."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


_MAX_RESPONSE_DEPTH = 60
"""Maximum nesting of a value; a deeper one is passed on as the original text."""
_MAX_REASON_LENGTH = 160
"""Maximum number of characters of a failed call's reason."""
_LONG_INTEGER = re.compile(r"\d{19}")
"""Matches whole numbers that may exceed 64 bits, which ``orjson`` would turn into floats."""
_CUT_NOTE = "cut at "
"""Start of the note on a response that was longer than what was read."""


def to_answer(tool: ToolDoc, result: StepResult) -> JsonValue | CallFailure:
    """Return the whole response as a value, or a failure with the status and the reason.

    JSON becomes the value that it holds, an empty response None, and anything else text. A response that was cut or is
    too long to parse is a failure: the program must not continue with a part as if it were the whole.
    """
    if result.status != "ok":
        return CallFailure(_describe_failed_call(tool, result))
    value = _parse_call_response(result.response)
    is_unparsed_json = isinstance(value, str) and result.response.lstrip()[:1] in ("{", "[")
    if len(result.response) > MAX_CHARACTERS or (
        _CUT_NOTE in result.note and (is_unparsed_json or not _is_complete_json(result.response))
    ):
        return CallFailure(f"{clean_text(tool.api, 80)} answered more than can be read at once; ask it for less")
    return value


def find_final_error(tool: ToolDoc, result: StepResult, line: int) -> ProgramError | None:
    """Return the error that ends the program and that it cannot catch; None if the program may continue.

    A program ends if a call was not allowed, if no value was found for an argument that the text leaves open, or if it
    is not known whether a change took effect. ``line``: line of the call in the program's text.
    """
    if result.status == "skipped":
        return ProgramError("NotAllowedError", result.note, line, final=True)
    if result.status == "missing":
        return ProgramError("MissingValueError", result.note, line, final=True)
    if result.status == "unknown" and not tool.safe:
        note = result.note or "Nobody knows whether it took effect."
        return ProgramError("UnknownOutcomeError", f"{clean_text(tool.api, 80)}: {note}", line, final=True)
    return None


def _describe_failed_call(tool: ToolDoc, result: StepResult) -> str:
    """Return the message of a failed call: its tool, its status and a shortened reason."""
    status = f"HTTP {result.http_status}" if result.http_status else result.outcome or result.status
    # Without an attempt, the note is our own complaint about the arguments, which the author needs in full.
    reason = clean_text(result.note, _MAX_REASON_LENGTH if result.attempts else 4 * _MAX_REASON_LENGTH)
    return f"{clean_text(tool.api, 80)}: {status}{': ' + reason if reason else ''}"


def _parse_call_response(text: str) -> JsonValue:
    """Parse a response as JSON, tolerating small defects; return it as text where that fails."""
    if not text.strip():
        return None
    value: JsonValue
    try:
        # `orjson` is faster, but loses the digits of integers beyond 64 bits.
        value = json.loads(text, parse_constant=_reject_constant) if _LONG_INTEGER.search(text) else orjson.loads(text)
    except (ValueError, RecursionError):
        value = read_value(text)
        if value is None:
            return text
    return text if is_too_deep(value, _MAX_RESPONSE_DEPTH) else value


def _reject_constant(name: str) -> NoReturn:
    """Reject ``NaN`` and ``Infinity``, which :mod:`json` would accept."""
    raise ValueError(f"{name} is no JSON")


def _is_complete_json(text: str) -> bool:
    """Return True if a text is complete JSON, or is not JSON at all."""
    try:
        orjson.loads(text)
    except (orjson.JSONDecodeError, ValueError):
        return text.lstrip()[:1] not in ("{", "[")
    return True
