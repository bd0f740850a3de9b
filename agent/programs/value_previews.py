"""Preview values for the author of a program: names and types of fields, and a shortened sample."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from pydantic.types import JsonValue

from agent.programs.type_annotations import render_inline
from agent.text import clean_text
from graph.shapes import infer_shape

_MAX_STRUCTURE_LENGTH = 900
"""Maximum number of characters of the structure of one value."""
_MAX_SAMPLE_LENGTH = 900
"""Maximum number of characters of the sample of one value."""
# Limits of a preview: values, items of a list, fields of an object, characters, and levels.
_MAX_VALUES = 4
_MAX_ITEMS = 2
_MAX_FIELDS = 24
_MAX_TEXT_LENGTH = 80
_MAX_NAME_LENGTH = 40
_MAX_DEPTH = 5


@dataclass(frozen=True, slots=True)
class AuthorText:
    """Text for the author of a program, marked if it contains words of others."""

    text: str
    foreign: bool
    """It contains words of a response: prompts fence it, and a program written after it is tainted."""


def preview_values(*values: JsonValue) -> AuthorText:
    """Describe the structure of the first few values, each with a sample."""
    previewed = values[:_MAX_VALUES]
    lines = [
        line
        for number, value in enumerate(previewed, start=1)
        for line in _preview_value(value, number if previewed[1:] else 0)
    ]
    if len(values) > _MAX_VALUES:
        lines.append(f"({len(values) - _MAX_VALUES} more values: look at fewer at a time)")
    return AuthorText("\n".join(lines), any(map(_has_words, previewed)))


def _preview_value(value: JsonValue, number: int) -> Iterator[str]:
    """Yield the structure of a value and a sample of it; ``number`` is 0 for a single value."""
    head = f"value {number}: " if number else ""
    yield f"{head}{render_inline(infer_shape(value), _MAX_STRUCTURE_LENGTH)}{_describe_size(value)}"
    yield f"sample: {render_sample(value, _MAX_SAMPLE_LENGTH)}"


def render_sample(value: JsonValue, max_characters: int) -> str:
    """Return a value as Python source, with long parts shortened, in at most that many characters."""
    text = _render_nested(value, _MAX_DEPTH)
    return text if len(text) <= max_characters else text[: max_characters - 1] + "…"


def _describe_size(value: JsonValue) -> str:
    """Return the size of a list, an object or a text as the end of a line."""
    match value:
        case list() | dict():
            return f", {len(value)} {'items' if isinstance(value, list) else 'fields'}"
        case str():
            return f", {len(value):,} characters"
        case _:
            return ""


def _render_nested(value: JsonValue, depth: int) -> str:
    """Return a value as Python source, with limited items, fields, characters and levels."""
    match value:
        case str():
            return repr(clean_text(value, _MAX_TEXT_LENGTH))
        case list() | dict() if not depth:
            return "…"
        case list():
            items = [_render_nested(item, depth - 1) for item in value[:_MAX_ITEMS]]
            return f"[{', '.join([*items, *_note_omitted(len(value), _MAX_ITEMS)])}]"
        case dict():
            fields = [
                f"{clean_text(name, _MAX_NAME_LENGTH)!r}: {_render_nested(item, depth - 1)}"
                for name, item in islice(value.items(), _MAX_FIELDS)
            ]
            return f"{{{', '.join([*fields, *_note_omitted(len(value), _MAX_FIELDS)])}}}"
        case _:
            return repr(value)[:_MAX_NAME_LENGTH]


def _note_omitted(total: int, limit: int) -> list[str]:
    """Return a note on how many items were left out, if any."""
    return [f"…{total - limit} more"] if total > limit else []


def _has_words(value: JsonValue) -> bool:
    """Return True if a value contains any text.

    Names of fields count as well: unlike those of a documented schema, they come from a response unfiltered.
    """
    stack = [value]
    while stack:
        match stack.pop():
            case str() as text if text:
                return True
            case list() as items:
                stack.extend(items)
            case dict() as fields if fields:
                return True
            case _:
                continue
    return False
