"""Previews of values whose structure was not known: names of fields, types, and a clipped sample."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from pydantic.types import JsonValue

from agent.programs.annotations import in_line
from agent.text import clean
from graph.shapes import shape_of_value

_STRUCTURE = 900
"""Maximum number of characters of the structure of one value."""
_SAMPLE = 900
"""Maximum number of characters of the sample of one value."""
_VALUES = 4
_ITEMS = 2
_FIELDS = 24
_TEXT = 80
_NAME = 40
_DEEPEST = 5


@dataclass(frozen=True, slots=True)
class Shown:
    """Text for the author of a program."""

    text: str
    foreign: bool
    """It holds words of a response: the prompt fences it, and a program written after it is tainted."""


def shown(*values: JsonValue) -> Shown:
    """Preview the first few values."""
    kept = values[:_VALUES]
    lines = [line for number, value in enumerate(kept, start=1) for line in _lines(value, number if kept[1:] else 0)]
    if len(values) > _VALUES:
        lines.append(f"({len(values) - _VALUES} more values: look at fewer at a time)")
    return Shown("\n".join(lines), any(map(_has_words, kept)))


def _lines(value: JsonValue, number: int) -> Iterator[str]:
    """Yield the structure of a value and a sample of it."""
    head = f"value {number}: " if number else ""
    yield f"{head}{in_line(shape_of_value(value), _STRUCTURE)}{_size(value)}"
    yield f"sample: {sample(value, _SAMPLE)}"


def sample(value: JsonValue, characters: int) -> str:
    """Return a value as Python writes it, with long parts shortened, in at most that many characters."""
    told = _sample(value, _DEEPEST)
    return told if len(told) <= characters else told[: characters - 1] + "…"


def _size(value: JsonValue) -> str:
    """Return the size of a list, an object or a text."""
    match value:
        case list() | dict():
            return f", {len(value)} {'items' if isinstance(value, list) else 'fields'}"
        case str():
            return f", {len(value):,} characters"
        case _:
            return ""


def _sample(value: JsonValue, depth: int) -> str:
    """Return a value as Python writes it, with fewer items, fields and characters, to a fixed depth."""
    match value:
        case str():
            return repr(clean(value, _TEXT))
        case list() | dict() if not depth:
            return "…"
        case list():
            items = [_sample(item, depth - 1) for item in value[:_ITEMS]]
            return f"[{', '.join([*items, *_more(len(value), _ITEMS)])}]"
        case dict():
            fields = [
                f"{clean(name, _NAME)!r}: {_sample(item, depth - 1)}" for name, item in islice(value.items(), _FIELDS)
            ]
            return f"{{{', '.join([*fields, *_more(len(value), _FIELDS)])}}}"
        case _:
            return repr(value)[:_NAME]


def _more(there: int, kept: int) -> list[str]:
    """Return a note on how many items were left out, if any."""
    return [f"…{there - kept} more"] if there > kept else []


def _has_words(value: JsonValue) -> bool:
    """Return True if there is any text in a value.

    Names of fields count: they are those of one response, and no filter has seen them.
    """
    stack = [value]
    while stack:
        match stack.pop():
            case str() as text if text:
                return True
            case list() as items:
                stack.extend(items)
            case dict() as held if held:
                return True
            case _:
                continue
    return False
