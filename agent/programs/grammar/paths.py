"""Paths into the results of earlier steps, and texts that contain them in braces."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_SEGMENTS = 12
_NAME = r"[^\W\d]\w*"
_SEGMENT = re.compile(r"""\.([^\s.\[\]{}"']+)|\[(\d{1,4})\]|(\[\])|\["([^"\[\]{}]+)"\]|\['([^'\[\]{}]+)'\]""")
_ROOT = re.compile(_NAME)
_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class FieldKey:
    """A field of an object."""

    name: str


@dataclass(frozen=True, slots=True)
class ValuePath:
    """A path from a step to a part of its result."""

    root: str
    """Name of the step."""
    parts: tuple[FieldKey | int | None, ...]
    """Fields, list indexes, and ``None`` for every item of a list."""

    def __str__(self) -> str:
        return self.root + "".join(_render_part(part) for part in self.parts)


def _render_part(part: FieldKey | int | None) -> str:
    """Return a part of a path as text."""
    if isinstance(part, FieldKey):
        return f".{part.name}" if re.fullmatch(r"[\w-]+", part.name) else f'["{part.name}"]'
    return "[]" if part is None else f"[{part}]"


def parse_path(text: str) -> ValuePath | None:
    """Parse a path, with or without braces around it; None if the text is no path."""
    text = text.strip().removeprefix("{").removesuffix("}").strip()
    root = _ROOT.match(text)
    if root is None:
        return None
    parts: list[FieldKey | int | None] = []
    at = root.end()
    while at < len(text):
        match = _SEGMENT.match(text, at)
        if match is None or len(parts) >= MAX_SEGMENTS:
            return None
        parts.append(_parse_part(match))
        at = match.end()
    return ValuePath(root.group(), tuple(parts))


def _parse_part(match: re.Match[str]) -> FieldKey | int | None:
    """Return the part of a path that the pattern matched."""
    plain, place, every, *quoted = match.groups()
    if place is not None:
        return int(place)
    return None if every is not None else FieldKey(next(one for one in (plain, *quoted) if one is not None))


def split_pieces(text: str) -> list[str | ValuePath]:
    """Split a text into literal texts and paths in braces.

    Doubled braces are an escaped brace; braces around anything but a path are literal.
    """
    merged: list[str | ValuePath] = []
    for piece in _iterate_pieces(text):
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        elif piece != "":
            merged.append(piece)
    return merged


def _iterate_pieces(text: str) -> Iterator[str | ValuePath]:
    """Yield the pieces of a text, without joining adjacent literals."""
    at = 0
    for braces in _BRACES.finditer(text):
        yield text[at : braces.start()]
        yield _parse_braces(braces)
        at = braces.end()
    yield text[at:]


def _parse_braces(match: re.Match[str]) -> str | ValuePath:
    """Return the path in braces, or the text that the braces stand for."""
    inner = match.group(1)
    if inner is None:
        return match.group()[0]
    return parse_path(inner) or match.group()
