"""Paths into earlier results, and texts that hold them in braces."""

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
    """``root``: a step. ``parts``: fields, places in lists, and ``None`` for every item of a list."""

    root: str
    parts: tuple[Key | int | None, ...]

    def __str__(self) -> str:
        return self.root + "".join(_written(part) for part in self.parts)


def _written(part: Key | int | None) -> str:
    if isinstance(part, Key):
        return f".{part.name}" if re.fullmatch(r"[\w-]+", part.name) else f'["{part.name}"]'
    return "[]" if part is None else f"[{part}]"


def path_of(text: str) -> Path | None:
    """The path that a text writes, braces around it or not; None where it writes none."""
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
    plain, place, every, *quoted = found.groups()
    if place is not None:
        return int(place)
    return None if every is not None else Key(next(one for one in (plain, *quoted) if one is not None))


def pieces(text: str) -> list[str | Path]:
    """A text as what stands in it and the paths in braces; doubled braces stand for themselves, as do those around no path."""
    found: list[str | Path] = []
    for piece in _split(text):
        if isinstance(piece, str) and found and isinstance(found[-1], str):
            found[-1] += piece
        elif piece != "":
            found.append(piece)
    return found


def _split(text: str) -> Iterator[str | Path]:
    at = 0
    for braces in _BRACES.finditer(text):
        yield text[at : braces.start()]
        yield _meant(braces)
        at = braces.end()
    yield text[at:]


def _meant(braces: re.Match[str]) -> str | Path:
    inner = braces.group(1)
    if inner is None:
        return braces.group()[0]
    return path_of(inner) or braces.group()
