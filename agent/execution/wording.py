"""Descriptions of calls for people, built only from facts: the tool's name, its values, and names of identified things.

Text in “curly quotes” comes from a service or its document. Values are shown as they are sent, strings in "straight
quotes". The names of things that ids stand for are taken from the response items that hold the ids.
"""

import re
from collections.abc import Iterable
from datetime import date, datetime

from pydantic.types import JsonValue

from agent.parameters.needs import need_of
from agent.text import clean, format_scalar, short_tool_name
from domain.model import JsonObject
from domain.provenance import ValueOrigin
from domain.tool import Parameter, ToolDoc
from graph.entity_vocabulary import IDENTITY

_MAX_TITLE = 80
_MAX_VALUE = 80
_MAX_ARGUMENTS = 6
"""Most arguments of one call that a summary shows."""
_MAX_ITEMS = 3
"""Most items of a list that are shown."""
_WORD_PARTS = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[^\W\d_]?[^\W\d_A-Z]+|\d+")
_SENTENCE_END = re.compile(r"(?<=[^\W\d_]{2}[.!?])\s|\s[-–—]\s")
_DAY_PATTERN = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT_PATTERN = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_QUOTES = re.compile('[“”„"]')
_ID_WORDS = IDENTITY | {"ids", "uid", "uuid", "identifier"}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
HIDDEN = "•••"
"""Shown in place of a secret."""


def build_title(tool: ToolDoc) -> str:
    """Build the title of an operation: ``cancelBooking`` gives “Cancel booking”.

    An operation named by a path gets the first sentence of its description.
    """
    name = clean(short_tool_name(tool), _MAX_TITLE)
    if any(char.isspace() for char in name) and not _is_path(name):
        return name
    first_sentence = clean(_SENTENCE_END.split(tool.description.strip(), maxsplit=1)[0], _MAX_TITLE).rstrip(".!")
    return (first_sentence if _is_path(name) else title_from_identifier(name)) or name


def title_from_identifier(identifier: str) -> str:
    """Return an identifier as a title: ``cancelBooking`` gives “Cancel booking”."""
    return _capitalize(split_identifier(identifier))


def split_identifier(identifier: str) -> str:
    """Return an identifier as words: ``dueDate`` and ``due_date`` give “due date”."""
    pieces = _WORD_PARTS.findall(identifier[:200])
    return " ".join(piece if len(piece) > 1 and piece.isupper() else piece.lower() for piece in pieces)


def quote_text(text: str, limit: int = _MAX_VALUE) -> str:
    """Quote untrusted text: on one line, truncated, without quotation marks that could end it."""
    return "“" + clean(_QUOTES.sub("'", text[: 4 * limit]), limit) + "”"


def format_for_people(value: JsonValue) -> str:
    """Format a value for people: a date with its weekday, a string in quotes, the first items of a list."""
    match value:
        case str() if _DAY_PATTERN.fullmatch(value) and (day := _format_day(value)):
            return day
        case str() if _MOMENT_PATTERN.fullmatch(value) and (moment := _format_moment(value)):
            return moment
        case str() if value and value.replace("-", "").replace("_", "").isalnum() and value.isascii():
            return clean(value, _MAX_VALUE)
        case str():
            return f'"{clean(value, _MAX_VALUE)}"'
        case list() if value:
            more = f" and {len(value) - _MAX_ITEMS} more" if len(value) > _MAX_ITEMS else ""
            return ", ".join(format_for_people(one) for one in value[:_MAX_ITEMS]) + more
        case list():
            return "none"
        case _:
            return format_scalar(value, _MAX_VALUE)


def summarize_call(tool: ToolDoc, arguments: JsonObject, origins: Iterable[ValueOrigin] = ()) -> str:
    """Summarize what a call will do: ``Cancel booking: “Hotel Norrhavn” (id b-17), nights 2, from Thu 3 Dec 2026``.

    ``origins`` supplies the names of the things that arguments identify. Secrets are never shown.
    """
    title, parameters = build_title(tool), {one.name: one for one in tool.parameters}
    things = {one.parameter: one.thing for one in origins if one.thing}
    parts = [
        _format_argument(title, name, value, parameters.get(name), things.get(name, ""))
        for name, value in arguments.items()
    ]
    more = f" and {len(parts) - _MAX_ARGUMENTS} more" if len(parts) > _MAX_ARGUMENTS else ""
    return f"{title}: {', '.join(parts[:_MAX_ARGUMENTS])}{more}" if parts else title


def _format_argument(title: str, name: str, value: JsonValue, parameter: Parameter | None, thing: str) -> str:
    """Format one value with its label; the kind of a named thing is left out if the title says it already."""
    label = split_identifier(clean(name, 60))
    if parameter is not None and need_of(parameter).kind == "secret":
        return f"{label} {HIDDEN}"
    if not thing:
        return f"{label} {format_for_people(value)}"
    kind = " ".join(word for word in label.split() if word not in _ID_WORDS)
    named_value = f"{quote_text(thing)} ({label} {format_for_people(value)})"
    return named_value if not kind or set(kind.split()) <= set(title.lower().split()) else f"{kind} {named_value}"


def _is_path(name: str) -> bool:
    return "/" in name


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _format_day(value: str) -> str:
    try:
        return _format_date(date.fromisoformat(value))
    except ValueError:
        return ""


def _format_moment(value: str) -> str:
    """Format date and time as written, with the zone if there is one; empty if they are not valid."""
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return ""
    zone = at.strftime("%z")
    zone_text = "" if not zone else " UTC" if zone == "+0000" else f" UTC{zone[:3]}:{zone[3:5]}"
    return f"{_format_date(at)} {at:%H:%M}{zone_text}"


def _format_date(day: date) -> str:
    return f"{_DAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]} {day.year}"
