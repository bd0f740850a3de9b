"""Paths into earlier results, and texts that contain them in braces."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_SEGMENTS = 12
_NAME = r"[^\W\d]\w*"
_SEGMENT = re.compile(r"""\.([^\s.\[\]{}"']+)|\[(\d{1,4})\]|(\[\])|\["([^"\[\]{}]+)"\]|\['([^'\[\]{}]+)'\]""")
_ROOT = re.compile(_NAME)
_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Key:
    """A field of an object."""

    name: str


@dataclass(frozen=True, slots=True)
class Path:
    """A path from a step to a part of its result."""

    root: str
    """Name of the step."""
    parts: tuple[Key | int | None, ...]
    """Fields, list indexes, and ``None`` for every item of a list."""

    def __str__(self) -> str:
        return self.root + "".join(_written(part) for part in self.parts)


def _written(part: Key | int | None) -> str:
    """Return a part of a path as text."""
    if isinstance(part, Key):
        return f".{part.name}" if re.fullmatch(r"[\w-]+", part.name) else f'["{part.name}"]'
    return "[]" if part is None else f"[{part}]"


def path_of(text: str) -> Path | None:
    """Parse a path, with or without braces around it; None if the text is no path."""
    text = text.strip().removeprefix("{").removesuffix("}").strip()
    root = _ROOT.match(text)
    if root is None:
        return None
    parts: list[Key | int | None] = []
    at = root.end()
    while at < len(text):
        found = _SEGMENT.match(text, at)
        if found is None or len(parts) >= MOST_SEGMENTS:
            return None
        parts.append(_part(found))
        at = found.end()
    return Path(root.group(), tuple(parts))


def _part(found: re.Match[str]) -> Key | int | None:
    """Return the part of a path that the pattern matched."""
    plain, place, every, *quoted = found.groups()
    if place is not None:
        return int(place)
    return None if every is not None else Key(next(one for one in (plain, *quoted) if one is not None))


def pieces(text: str) -> list[str | Path]:
    """Split a text into words and paths in braces; doubled braces and braces around no path stay text."""
    found: list[str | Path] = []
    for piece in _split(text):
        if isinstance(piece, str) and found and isinstance(found[-1], str):
            found[-1] += piece
        elif piece != "":
            found.append(piece)
    return found


def _split(text: str) -> Iterator[str | Path]:
    """Yield the pieces of a text, of which neighbouring texts are not joined yet."""
    at = 0
    for braces in _BRACES.finditer(text):
        yield text[at : braces.start()]
        yield _meant(braces)
        at = braces.end()
    yield text[at:]


def _meant(braces: re.Match[str]) -> str | Path:
    """Return the path in braces, or the text that the braces stand for."""
    inner = braces.group(1)
    if inner is None:
        return braces.group()[0]
    return path_of(inner) or braces.group()
