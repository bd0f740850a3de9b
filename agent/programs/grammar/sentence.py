"""Sentences of the grammar: a flat list of named steps, each of one kind with few fields, and an answer.

A *path* names an earlier step and a part of its result: ``people[0].id``, ``people[].id`` (of all items),
``people[].papers[].title``. A *value* is a constant, or a text in which ``{path}`` stands for the value at that path; a
text that is exactly one ``{path}`` is that value itself, with its type. The JSON schema has no recursion, no optional
fields and no bounds, so that every model endpoint with structured output accepts it; bounds are checked here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, FiniteFloat, model_validator

from domain.model import Model
from domain.program import Answered

MAX_STEPS = 24
_MAX_ARGUMENTS = 24
_MAX_NAME_LENGTH = 60
_MAX_LENGTH = 16_000

Constant = str | int | FiniteFloat | bool
Value = Constant | list[str | int | FiniteFloat]
Test = Literal["=", "!=", ">", ">=", "<", "<=", "contains"]
Operator = Literal["+", "-", "*", "/"]


# The names of these classes are keys in the JSON schema that a model is given, so renaming one changes the prompt.
class Argument(Model):
    """An argument of a function."""

    parameter: str
    """Name of the parameter, or the path of a field in it, such as ``body.city``."""
    value: Value


class Call(Model):
    """Step that calls a function once."""

    do: Literal["call"]
    name: str
    function: str
    arguments: list[Argument]


class ForEach(Model):
    """Step that calls a function for each item of the list ``of``.

    Values refer to the item by ``{item.…}``. The result is a list of pairs of ``item`` and ``result``.
    """

    do: Literal["for_each"]
    name: str
    of: str
    function: str
    arguments: list[Argument]


class Listed(Model):
    """Step that makes a list of values, for example of two names that a ``for_each`` step looks up."""

    do: Literal["list"]
    name: str
    values: list[str | int | FiniteFloat]


class FieldOf(Model):
    """Step that names the value at a path."""

    do: Literal["field"]
    name: str
    of: str


class First(Model):
    """Step that takes the first item of a list."""

    do: Literal["first"]
    name: str
    of: str


class Pick(Model):
    """Step that takes the item of a list whose ``field`` is most similar to a text."""

    do: Literal["pick"]
    name: str
    of: str
    field: str
    like: str


class Where(Model):
    """Step that keeps the items of a list whose ``field`` passes a test."""

    do: Literal["where"]
    name: str
    of: str
    field: str
    test: Test
    value: Value


class Ranked(Model):
    """Step that takes the item of a list with the most or the least in ``field``."""

    do: Literal["most", "least"]
    name: str
    of: str
    field: str
    how_many: int
    """Number of items to take; above 1, the result is a list, best first."""


class Figure(Model):
    """Step that counts the items of a list, or computes the sum or the average of a list of numbers."""

    do: Literal["count", "sum", "average"]
    name: str
    of: str


class Calculate(Model):
    """Step that computes a number from two."""

    do: Literal["calculate"]
    name: str
    left: Value
    operator: Operator
    right: Value


class Compare(Model):
    """Step that chooses one of three texts: ``left`` is more than ``right``, less, or equal to it."""

    do: Literal["compare"]
    name: str
    left: Value
    right: Value
    more: str
    less: str
    equal: str


class Join(Model):
    """Step that joins a list to one text."""

    do: Literal["join"]
    name: str
    of: str
    text: str
    """Text for each item, which it refers to by ``{item.…}``."""
    by: str
    """Text between the items."""


class Look(Model):
    """Last step: show the structure of the value at a path before anything more is written."""

    do: Literal["look"]
    name: str
    of: str


Step = Call | ForEach | Listed | FieldOf | First | Pick | Where | Ranked | Figure | Calculate | Compare | Join | Look


class Sentence(Model):
    """A program as steps and an answer."""

    steps: list[Annotated[Step, Field(discriminator="do")]]
    answered: Answered
    answer: Value
    """Text or value that may contain ``{path}``."""
    missing: str
    """Description of what could not be served, and of what is lacking if a step finds nothing."""

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        """Check the bounds that the JSON schema does not express."""
        if len(self.steps) > MAX_STEPS:
            raise ValueError(f"there may be {MAX_STEPS} steps at most")
        for step in self.steps:
            if not 0 < len(step.name) <= _MAX_NAME_LENGTH:
                raise ValueError(f"the name of a step has 1 to {_MAX_NAME_LENGTH} characters")
            if isinstance(step, (Call, ForEach)) and len(step.arguments) > _MAX_ARGUMENTS:
                raise ValueError(f"{step.name}: there may be {_MAX_ARGUMENTS} arguments at most")
        if len(self.model_dump_json()) > _MAX_LENGTH:
            raise ValueError(f"it may have {_MAX_LENGTH} characters at most")
        return self


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
    position = root.end()
    while position < len(text):
        match = _SEGMENT.match(text, position)
        if match is None or len(parts) >= MAX_SEGMENTS:
            return None
        parts.append(_parse_part(match))
        position = match.end()
    return ValuePath(root.group(), tuple(parts))


def _parse_part(match: re.Match[str]) -> FieldKey | int | None:
    """Return the part of a path that the pattern matched."""
    bare, index, every_item, *quoted = match.groups()
    if index is not None:
        return int(index)
    return None if every_item is not None else FieldKey(next(name for name in (bare, *quoted) if name is not None))


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
    position = 0
    for braces in _BRACES.finditer(text):
        yield text[position : braces.start()]
        yield _parse_braces(braces)
        position = braces.end()
    yield text[position:]


def _parse_braces(match: re.Match[str]) -> str | ValuePath:
    """Return the path in braces, or the text that the braces stand for."""
    inner = match.group(1)
    if inner is None:
        return match.group()[0]
    return parse_path(inner) or match.group()
