"""Values that can be read from a request without a model, in any language; all others are left to a model."""

import re
from datetime import date

from pydantic.types import JsonValue

from agent.plans.request_template import allowed_values
from agent.solutions.alignment import SaidValue
from domain.model import JsonObject

LOOKS = "x-looks"
"""Keyword of an input's schema: shape of its value in the request that the solution is from (:func:`looks`).

A value of another shape may have another meaning.
"""

_INTEGER = re.compile(r"[+-]?(?:0|[1-9]\d{0,14})")
_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d{0,14})(?:\.\d{1,12})?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")
"""Ambiguous numbers such as ``1.500``: the point may separate thousands or decimals."""
_SHAPES = (
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("url", re.compile(r"https?://\S+")),
    ("digits", re.compile(r"\d[\d.,:/+-]*")),
    ("code", re.compile(r"(?=[\w-]*[^\W\d_])(?=[\w-]*\d)\w[\w-]*")),
)
_MOST_WORDS = 6
_PARTS = ("anyOf", "oneOf", "allOf")
_OF_ANOTHER = ("'s", "’s")


def plain(said: SaidValue, schema: JsonObject) -> JsonValue:
    """Return the value of an input that these words are; None if that takes more to decide."""
    allowed = allowed_values(schema)
    if allowed:
        return _member(said.text, allowed)
    kinds = _kinds(schema)
    if not kinds <= {"string", "integer", "number"}:
        return None
    if "string" not in kinds:
        return _number(said, whole="number" not in kinds)
    return said.text if _is_plain_text(said, schema) else None


def looks(value: JsonValue, *, quoted: bool = False) -> str:
    """Return the shape of a value; empty if it has none.

    Shapes are ``digits 0000-00-00``, ``capitals 3``, ``name``, ``code``, ``quoted``, ``email`` and ``url``.
    """
    if not isinstance(value, str):
        return ""
    shape = next((name for name, shape in _SHAPES if shape.fullmatch(value)), "")
    if shape == "digits":
        return "digits " + re.sub(r"\d", "0", value)
    if shape:
        return shape
    if re.fullmatch(r"[^\W\d_]+", value) and value.isupper():
        return f"capitals {len(value)}"
    return "quoted" if quoted else "name" if _is_name(value) else ""


def _is_plain_text(said: SaidValue, schema: JsonObject) -> bool:
    """Return True if a text is quoted or of a recognizable shape, and of the expected shape if one is known."""
    text, told = said.text, schema.get(LOOKS)
    form = _format(schema)
    if form == "date":
        return _is_day(text)
    if form == "email":
        return looks(text) == "email"
    if form in ("date-time", "time"):
        return False
    seen = looks(text, quoted=said.quoted)
    if told in (None, ""):
        return seen in ("quoted", "name", "email", "url", "code") and not (said.opens and seen == "name")
    if seen == "name" and said.opens and not said.quoted:
        return False  # any word at the beginning of a sentence has a capital
    named = ("name", "quoted")
    return seen == told or (seen in named and told in named) or (told in named and seen.startswith("capitals"))


def _is_name(text: str) -> bool:
    """Return True if each word has a capital; with other words beside it, a name could not be told from them."""
    words = text.split(" ")
    return len(words) <= _MOST_WORDS and all(
        re.fullmatch(r"[^\W\d_](?:[^\W\d_]|[-.'’&])*", word) and word[0].isupper() and not word.endswith(_OF_ANOTHER)
        for word in words
    )


def _is_day(text: str) -> bool:
    try:
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", text)) and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _member(text: str, allowed: list[JsonValue]) -> JsonValue:
    """Return the allowed value that a text names; None if there is none, or more than one."""
    same = [
        one
        for one in allowed
        if isinstance(one, str | int | float) and str(one).replace("_", " ").casefold() == text.casefold()
    ]
    return same[0] if len(same) == 1 else None


def _number(said: SaidValue, *, whole: bool) -> JsonValue:
    if whole:
        return int(said.text) if _INTEGER.fullmatch(said.text) else None
    if not _NUMBER.fullmatch(said.text) or _THOUSANDS.fullmatch(said.text):
        return None
    return float(said.text) if "." in said.text else int(said.text)


def _format(schema: JsonObject) -> str:
    """Return the format that a schema names, itself or in one of its parts."""
    own = schema.get("format")
    parts = [part for key in _PARTS for part in _listed(schema.get(key)) if isinstance(part, dict)]
    return own if isinstance(own, str) else next((form for part in parts if (form := _format(part))), "")


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _kinds(schema: JsonObject) -> set[str]:
    """Return the types that a schema allows except null; ``any`` if it names none."""
    own = schema.get("type")
    kinds = {one for one in (own if isinstance(own, list) else [own]) if isinstance(one, str)}
    for key in _PARTS:
        for part in _listed(schema.get(key)):
            kinds |= _kinds(part) if isinstance(part, dict) else set()
    return (kinds - {"null"}) or {"any"}
