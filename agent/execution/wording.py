"""Calls in words for people, from facts alone: the tool's name, its values, the names behind its ids.

Text in “curly quotes” comes from a service or its document; a value is shown as it is sent, in "straight quotes" where it is a text.
"""

import re
from collections.abc import Iterable
from datetime import date, datetime

from pydantic.types import JsonValue

from agent.parameters.needs import need_of
from agent.text import clean, given_name, shown
from domain.model import JsonObject
from domain.origin import ValueOrigin
from domain.tool import Parameter, ToolDoc
from graph.vocabulary import IDENTITY

_TITLE = 80
_VALUE = 80
_SHOWN = 6
"""Arguments of one call that a summary shows."""
_LISTED = 3
"""Items of a list that are shown."""
_PIECES = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[^\W\d_]?[^\W\d_A-Z]+|\d+")
_SENTENCE = re.compile(r"(?<=[^\W\d_]{2}[.!?])\s|\s[-–—]\s")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_QUOTES = re.compile('[“”„"]')
_ID = IDENTITY | {"ids", "uid", "uuid", "identifier"}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
HIDDEN = "•••"
"""Shown in place of a secret."""


def title_of(tool: ToolDoc) -> str:
    """Return the title of an operation: ``cancelBooking`` gives “Cancel booking”.

    An operation named by a path gets the first sentence of its description.
    """
    name = clean(given_name(tool), _TITLE)
    if any(char.isspace() for char in name) and not _is_path(name):
        return name
    said = clean(_SENTENCE.split(tool.description.strip(), maxsplit=1)[0], _TITLE).rstrip(".!")
    return (said if _is_path(name) else titled(name)) or name


def titled(identifier: str) -> str:
    """Return an identifier as a title: ``cancelBooking`` gives “Cancel booking”."""
    return _first_up(spoken(identifier))


def spoken(identifier: str) -> str:
    """Return an identifier as words: ``dueDate`` and ``due_date`` give “due date”."""
    pieces = _PIECES.findall(identifier[:200])
    return " ".join(piece if len(piece) > 1 and piece.isupper() else piece.lower() for piece in pieces)


def quoted(text: str, limit: int = _VALUE) -> str:
    """Quote untrusted text: on one line, truncated, without quotation marks that could end it."""
    return "“" + clean(_QUOTES.sub("'", text[: 4 * limit]), limit) + "”"


def for_people(value: JsonValue) -> str:
    """Return a value as people write it: a day with its weekday, a text in quotes, the first items of a list."""
    match value:
        case str() if _DAY.fullmatch(value) and (day := _day(value)):
            return day
        case str() if _MOMENT.fullmatch(value) and (moment := _moment(value)):
            return moment
        case str() if value and value.replace("-", "").replace("_", "").isalnum() and value.isascii():
            return clean(value, _VALUE)
        case str():
            return f'"{clean(value, _VALUE)}"'
        case list() if value:
            more = f" and {len(value) - _LISTED} more" if len(value) > _LISTED else ""
            return ", ".join(for_people(one) for one in value[:_LISTED]) + more
        case list():
            return "none"
        case _:
            return shown(value, _VALUE)


def summary_of(tool: ToolDoc, arguments: JsonObject, origins: Iterable[ValueOrigin] = ()) -> str:
    """Summarize what a call will do: ``Cancel booking: “Hotel Norrhavn” (id b-17), nights 2, from Thu 3 Dec 2026``.

    ``origins``: origins of its arguments, with the names of the things that they stand for. Secrets are never shown.
    """
    title, known = title_of(tool), {one.name: one for one in tool.parameters}
    things = {one.parameter: one.thing for one in origins if one.thing}
    said = [_said(title, name, value, known.get(name), things.get(name, "")) for name, value in arguments.items()]
    more = f" and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
    return f"{title}: {', '.join(said[:_SHOWN])}{more}" if said else title


def _said(title: str, name: str, value: JsonValue, parameter: Parameter | None, thing: str) -> str:
    """Return one value with its label; the kind of a named thing is left out where the title says it already."""
    label = spoken(clean(name, 60))
    if parameter is not None and need_of(parameter).kind == "secret":
        return f"{label} {HIDDEN}"
    if not thing:
        return f"{label} {for_people(value)}"
    kind = " ".join(word for word in label.split() if word not in _ID)
    named = f"{quoted(thing)} ({label} {for_people(value)})"
    return named if not kind or set(kind.split()) <= set(title.lower().split()) else f"{kind} {named}"


def _is_path(name: str) -> bool:
    return "/" in name


def _first_up(text: str) -> str:
    return text[:1].upper() + text[1:]


def _day(value: str) -> str:
    try:
        return _named(date.fromisoformat(value))
    except ValueError:
        return ""


def _moment(value: str) -> str:
    """Return day and time as written, with the zone where there is one; empty where it is no valid moment."""
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return ""
    zone = at.strftime("%z")
    told = "" if not zone else " UTC" if zone == "+0000" else f" UTC{zone[:3]}:{zone[3:5]}"
    return f"{_named(at)} {at:%H:%M}{told}"


def _named(day: date) -> str:
    return f"{_DAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]} {day.year}"
