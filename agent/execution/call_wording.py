"""Descriptions of calls for people, built only from facts: the tool's name, its values, and names of identified things.

Text in “curly quotes” comes from a service or its document. Values are shown as they are sent, strings in "straight
quotes". The names of things that ids stand for are taken from the response items that hold the ids.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime

from pydantic.types import JsonValue

from agent.parameter_needs import derive_need
from agent.text import clean_text, format_scalar, shorten_tool_name
from domain.model import JsonObject
from domain.provenance import ValueOrigin
from domain.tool import Parameter, ToolDoc
from graph.entity_vocabulary import IDENTITY
from graph.identifiers import split_words

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
MASK = "•••"
"""Shown in place of a secret."""


def build_tool_title(tool: ToolDoc) -> str:
    """Build the title of an operation: ``cancelBooking`` gives “Cancel booking”.

    An operation named by a path gets the first sentence of its description.
    """
    name = clean_text(shorten_tool_name(tool), _MAX_TITLE)
    if any(char.isspace() for char in name) and not _is_path_name(name):
        return name
    first_sentence = clean_text(_SENTENCE_END.split(tool.description.strip(), maxsplit=1)[0], _MAX_TITLE).rstrip(".!")
    return (first_sentence if _is_path_name(name) else build_title_from_identifier(name)) or name


def build_title_from_identifier(identifier: str) -> str:
    """Return an identifier as a title: ``cancelBooking`` gives “Cancel booking”."""
    return _capitalize(split_identifier(identifier))


def split_identifier(identifier: str) -> str:
    """Return an identifier as words: ``dueDate`` and ``due_date`` give “due date”."""
    pieces = _WORD_PARTS.findall(identifier[:200])
    return " ".join(piece if len(piece) > 1 and piece.isupper() else piece.lower() for piece in pieces)


def quote_text(text: str, limit: int = _MAX_VALUE) -> str:
    """Quote untrusted text: on one line, truncated, without quotation marks that could end it."""
    return "“" + clean_text(_QUOTES.sub("'", text[: 4 * limit]), limit) + "”"


def format_value_for_people(value: JsonValue) -> str:
    """Format a value for people: a date with its weekday, a string in quotes, the first items of a list."""
    match value:
        case str() if _DAY_PATTERN.fullmatch(value) and (day := _format_day(value)):
            return day
        case str() if _MOMENT_PATTERN.fullmatch(value) and (moment := _format_moment(value)):
            return moment
        case str() if value and value.replace("-", "").replace("_", "").isalnum() and value.isascii():
            return clean_text(value, _MAX_VALUE)
        case str():
            return f'"{clean_text(value, _MAX_VALUE)}"'
        case list() if value:
            more = f" and {len(value) - _MAX_ITEMS} more" if len(value) > _MAX_ITEMS else ""
            return ", ".join(format_value_for_people(item) for item in value[:_MAX_ITEMS]) + more
        case list():
            return "none"
        case _:
            return format_scalar(value, _MAX_VALUE)


def summarize_call(tool: ToolDoc, arguments: JsonObject, origins: Iterable[ValueOrigin] = ()) -> str:
    """Summarize what a call will do: ``Cancel booking: “Hotel Norrhavn” (id b-17), nights 2, from Thu 3 Dec 2026``.

    ``origins`` supplies the names of the things that arguments identify. Secrets are never shown.
    """
    title, parameters = build_tool_title(tool), {parameter.name: parameter for parameter in tool.parameters}
    thing_by_parameter = {origin.parameter: origin.thing for origin in origins if origin.thing}
    parts = [
        _format_argument(title, name, value, parameters.get(name), thing_by_parameter.get(name, ""))
        for name, value in arguments.items()
    ]
    more = f" and {len(parts) - _MAX_ARGUMENTS} more" if len(parts) > _MAX_ARGUMENTS else ""
    return f"{title}: {', '.join(parts[:_MAX_ARGUMENTS])}{more}" if parts else title


def _format_argument(title: str, name: str, value: JsonValue, parameter: Parameter | None, thing: str) -> str:
    """Format one value with its label; the kind of a named thing is left out if the title says it already."""
    label = split_identifier(clean_text(name, 60))
    if parameter is not None and derive_need(parameter).kind == "secret":
        return f"{label} {MASK}"
    if not thing:
        return f"{label} {format_value_for_people(value)}"
    kind = " ".join(word for word in label.split() if word not in _ID_WORDS)
    named_value = f"{quote_text(thing)} ({label} {format_value_for_people(value)})"
    return named_value if not kind or set(kind.split()) <= set(title.lower().split()) else f"{kind} {named_value}"


def _is_path_name(name: str) -> bool:
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
        moment = datetime.fromisoformat(value)
    except ValueError:
        return ""
    zone = moment.strftime("%z")
    zone_text = "" if not zone else " UTC" if zone == "+0000" else f" UTC{zone[:3]}:{zone[3:5]}"
    return f"{_format_date(moment)} {moment:%H:%M}{zone_text}"


def _format_date(day: date) -> str:
    return f"{_DAYS[day.weekday()]} {day.day} {_MONTHS[day.month - 1]} {day.year}"


_IDENTIFYING_WORDS = IDENTITY | {"code", "key", "number", "symbol", "reference"}
"""Last words of fields that identify a thing."""
_NAME_WORDS = ("name", "title", "label", "subject", "summary")
"""Last words of fields that hold the name of a thing, the most common one first."""
_MAX_DETAILS = 3
_MAX_NAME_LENGTH = 80
_ADDRESS_PATTERN = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def is_identifying_field(place: str) -> bool:
    """Return whether a field's name says that it identifies a thing, such as ``id`` or ``order_number``."""
    name_words = split_words(place.rpartition(".")[2])
    return bool(name_words) and name_words[-1] in _IDENTIFYING_WORDS


def is_named_after(place: str, parameter: str) -> bool:
    """Return whether a parameter such as ``task_id`` is named after a field: ``task_id``, or ``id`` in ``tasks``."""
    parameter_words, (*holders, field_words) = (
        split_words(parameter),
        [split_words(part.partition("[")[0]) for part in place.split(".")],
    )
    return field_words == parameter_words or (bool(holders) and (*holders[-1], *field_words) == parameter_words)


def find_thing_name_at(document: JsonValue, place: str) -> str:
    """Return the name or details of the item that holds the field at a place such as ``items[2].id``.

    It is empty if the field identifies nothing, or if the item has neither a name nor details.
    """
    holder, _, field = place.rpartition(".")
    item = _find_value_at(document, holder)
    if not isinstance(item, dict) or not is_identifying_field(field):
        return ""
    return _find_thing_name(item) or _format_details(item, field)


def _find_thing_name(item: Mapping[str, JsonValue]) -> str:
    """Return an item's own name, else that of its only named inner object followed by details of the item."""
    own_name = _find_own_name(item)
    inner_names = (
        [(name, _find_own_name(value)) for name, value in item.items() if isinstance(value, dict)]
        if not own_name
        else []
    )
    named_parts = [(name, thing_name) for name, thing_name in inner_names if thing_name]
    if len(named_parts) != 1:
        return own_name
    details = _format_details(
        {name: value for name, value in item.items() if name != named_parts[0][0]}, "", _MAX_DETAILS - 1
    )
    return ", ".join(part for part in (named_parts[0][1], details) if part)


def _find_own_name(item: Mapping[str, JsonValue]) -> str:
    texts = {split_words(name): value for name, value in item.items() if isinstance(value, str) and value.strip()}
    exact = (texts[(word,)] for word in _NAME_WORDS if (word,) in texts)
    ending = (
        value for word in _NAME_WORDS for name_words, value in texts.items() if name_words and name_words[-1] == word
    )
    return clean_text(next(exact, next(ending, "")), _MAX_NAME_LENGTH)


def _format_details(item: Mapping[str, JsonValue], field: str, limit: int = _MAX_DETAILS) -> str:
    """Describe an item that has no name by its first informative values."""
    parts = (
        f"{split_identifier(clean_text(name, 40))} {format_value_for_people(value)}"
        for name, value in _iterate_details(item)
        if name != field
    )
    return clean_text(", ".join(part for part, _ in zip(parts, range(limit), strict=False)), 2 * _MAX_NAME_LENGTH)


def _iterate_details(item: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    for name, value in item.items():
        single = isinstance(value, (int, float)) and not isinstance(value, bool)
        text = (
            isinstance(value, str) and 0 < len(value.strip()) <= _MAX_NAME_LENGTH and not _ADDRESS_PATTERN.match(value)
        )
        if (single or text) and not is_identifying_field(name):
            yield name, value


def _find_value_at(document: JsonValue, place: str) -> JsonValue:
    """Return the value at a place; None if there is none."""
    value = document
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", place):
        if name and isinstance(value, dict):
            value = value.get(name)
        elif index and isinstance(value, list) and int(index) < len(value):
            value = value[int(index)]
        else:
            return None
    return value
