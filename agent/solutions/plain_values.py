"""Values that code can read from a request in any language, without doubt; all others are left to a model."""

import re
from datetime import date

from pydantic.types import JsonValue

from agent.plans.request_words import collect_allowed_values
from agent.solutions.patterns import RequestValue
from domain.model import JsonObject

SHAPE_KEYWORD = "x-looks"
"""Schema keyword for the shape that an input's value had in the request of its solution (:func:`describe_shape`).

A value of another shape may have another meaning.
"""

_INTEGER = re.compile(r"[+-]?(?:0|[1-9]\d{0,14})")
_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d{0,14})(?:\.\d{1,12})?")
_AMBIGUOUS_NUMBER = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")
"""Ambiguous numbers such as ``1.500``: the point may separate thousands or decimals."""
_SHAPE_PATTERNS = (
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("url", re.compile(r"https?://\S+")),
    ("digits", re.compile(r"\d[\d.,:/+-]*")),
    ("code", re.compile(r"(?=[\w-]*[^\W\d_])(?=[\w-]*\d)\w[\w-]*")),
)
_MAX_NAME_WORDS = 6
"""Limit of words in a name."""
_SUBSCHEMA_KEYWORDS = ("anyOf", "oneOf", "allOf")
_POSSESSIVE = ("'s", "’s")


def read_plain_value(request_value: RequestValue, schema: JsonObject) -> JsonValue:
    """Return the value that words of a request have for an input; None if code cannot tell."""
    allowed = collect_allowed_values(schema)
    if allowed:
        return _match_allowed_value(request_value.text, allowed)
    kinds = _collect_types(schema)
    if not kinds <= {"string", "integer", "number"}:
        return None
    if "string" not in kinds:
        return _parse_number(request_value, is_integer="number" not in kinds)
    return request_value.text if _is_plain_text(request_value, schema) else None


def describe_shape(value: JsonValue, *, quoted: bool = False) -> str:
    """Return the shape of a value; empty if it has none.

    Shapes are ``digits 0000-00-00``, ``capitals 3``, ``name``, ``code``, ``quoted``, ``email`` and ``url``.
    """
    if not isinstance(value, str):
        return ""
    shape = next((name for name, shape in _SHAPE_PATTERNS if shape.fullmatch(value)), "")
    if shape == "digits":
        return "digits " + re.sub(r"\d", "0", value)
    if shape:
        return shape
    if re.fullmatch(r"[^\W\d_]+", value) and value.isupper():
        return f"capitals {len(value)}"
    return "quoted" if quoted else "name" if _is_name(value) else ""


def _is_plain_text(request_value: RequestValue, schema: JsonObject) -> bool:
    """Return whether a text has the shape that the schema expects, or any recognizable shape if it expects none."""
    text, expected_shape = request_value.text, schema.get(SHAPE_KEYWORD)
    schema_format = _find_format(schema)
    if schema_format == "date":
        return _is_day(text)
    if schema_format == "email":
        return describe_shape(text) == "email"
    if schema_format in ("date-time", "time"):
        return False
    shape = describe_shape(text, quoted=request_value.quoted)
    if expected_shape in (None, ""):
        return shape in ("quoted", "name", "email", "url", "code") and not (
            request_value.opens_sentence and shape == "name"
        )
    if shape == "name" and request_value.opens_sentence and not request_value.quoted:
        return False  # any word at the beginning of a sentence has a capital
    name_shapes = ("name", "quoted")
    return (
        shape == expected_shape
        or (shape in name_shapes and expected_shape in name_shapes)
        or (expected_shape in name_shapes and shape.startswith("capitals"))
    )


def _is_name(text: str) -> bool:
    """Return whether each word has a capital, so that the name cannot include other words of the request."""
    words = text.split(" ")
    return len(words) <= _MAX_NAME_WORDS and all(
        re.fullmatch(r"[^\W\d_](?:[^\W\d_]|[-.'’&])*", word) and word[0].isupper() and not word.endswith(_POSSESSIVE)
        for word in words
    )


def _is_day(text: str) -> bool:
    try:
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", text)) and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _match_allowed_value(text: str, allowed: list[JsonValue]) -> JsonValue:
    """Return the allowed value that a text names; None if there is none or several."""
    matches = [
        value
        for value in allowed
        if isinstance(value, str | int | float) and str(value).replace("_", " ").casefold() == text.casefold()
    ]
    return matches[0] if len(matches) == 1 else None


def _parse_number(request_value: RequestValue, *, is_integer: bool) -> JsonValue:
    if is_integer:
        return int(request_value.text) if _INTEGER.fullmatch(request_value.text) else None
    if not _NUMBER.fullmatch(request_value.text) or _AMBIGUOUS_NUMBER.fullmatch(request_value.text):
        return None
    return float(request_value.text) if "." in request_value.text else int(request_value.text)


def _find_format(schema: JsonObject) -> str:
    """Return the format that a schema names, itself or in one of its parts."""
    own_format = schema.get("format")
    parts = [part for key in _SUBSCHEMA_KEYWORDS for part in _get_list(schema.get(key)) if isinstance(part, dict)]
    return (
        own_format
        if isinstance(own_format, str)
        else next((form for part in parts if (form := _find_format(part))), "")
    )


def _get_list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _collect_types(schema: JsonObject) -> set[str]:
    """Return the types that a schema allows except null; ``any`` if it names none."""
    own_type = schema.get("type")
    kinds = {
        type_name
        for type_name in (own_type if isinstance(own_type, list) else [own_type])
        if isinstance(type_name, str)
    }
    for key in _SUBSCHEMA_KEYWORDS:
        for part in _get_list(schema.get(key)):
            kinds |= _collect_types(part) if isinstance(part, dict) else set()
    return (kinds - {"null"}) or {"any"}
