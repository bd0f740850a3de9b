"""Structures of values as Python writes types: in line, as short as can be, and as definitions that a type checker reads."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol

from pydantic.types import JsonValue

from agent.programs.names import identifier, named
from graph.shapes import Kind, Shape

_SCALARS: dict[Kind, str] = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_ORDER: tuple[Kind, ...] = ("object", "array", "string", "number", "integer", "boolean")
_LONGEST_KEY = 60
_LONGEST_VALUE = 80
_VALUES = 200
"""Characters of allowed values that are shown."""
_AROUND_KEY = 8
"""Characters that a field takes besides its name: quotes, a type, a comma."""

Place = tuple[str, ...]
"""Names of fields from the outermost object inwards; lists are seen through."""


class Writer(Protocol):
    """How objects are written, and those of which nothing is known. ``values``: characters of allowed values that a type may name."""

    @property
    def values(self) -> int: ...

    @property
    def any_list(self) -> str: ...

    @property
    def any_object(self) -> str: ...

    def object(self, shape: Shape, place: Place) -> str:
        """The type of an object whose fields are known."""
        ...


def annotation(shape: Shape, writer: Writer, place: Place = ()) -> str:
    """The type of a value."""
    if not shape.known:
        return "Any"
    if literal(shape.enum, writer.values):
        written = [f"Literal[{', '.join(map(repr, shape.enum))}]"]
    else:
        written = [_one(kind, shape, writer, place) for kind in _ORDER if kind in shape.kinds]
    return " | ".join((*written, "None") if shape.nullable else written)


def _one(kind: Kind, shape: Shape, writer: Writer, place: Place) -> str:
    if kind in _SCALARS:
        return _SCALARS[kind]
    if kind == "array":
        return (
            f"list[{annotation(shape.items, writer, place)}]" if shape.items and shape.items.known else writer.any_list
        )
    if shape.fields:
        return writer.object(shape, place)
    if shape.values and shape.values.known:
        return f"dict[str, {annotation(shape.values, writer, (*place, ''))}]"
    return writer.any_object


def literal(values: Collection[JsonValue], characters: int = _VALUES) -> bool:
    """Whether values can stand in a ``Literal`` of that length."""
    return 0 < sum(len(str(one)) + 4 for one in values) <= characters and all(
        (isinstance(one, str) and len(one) <= _LONGEST_VALUE) or (isinstance(one, int) and abs(one) < 2**63)
        for one in values
    )


def in_line(shape: Shape, characters: int, *, optional: bool = False) -> str:
    """The type in one expression, objects as ``{"name": type}``.

    The outermost fields first, as many as fit into ``characters``; what is cut ends with ``...:...``. ``optional``: a field that may be
    missing says so.
    """
    return annotation(shape, _InLine(_fitting(shape, characters), optional))


@dataclass(frozen=True, slots=True)
class _InLine:
    kept: Collection[Place]
    optional: bool
    values: int = _VALUES
    any_list: str = "list"
    any_object: str = "dict"

    def object(self, shape: Shape, place: Place) -> str:
        inner = [(name, (*place, name)) for name in shape.fields if (*place, name) in self.kept]
        if not inner:
            return self.any_object
        parts = [
            _field(name, shape, annotation(shape.fields[name], self, at), optional=self.optional) for name, at in inner
        ]
        return "{" + ",".join(parts if len(inner) == len(shape.fields) else [*parts, "...:..."]) + "}"


def _field(name: str, holder: Shape, kind: str, *, optional: bool) -> str:
    return f"{name!r}:{f'NotRequired[{kind}]' if optional and name not in holder.required else kind}"


def _fitting(shape: Shape, characters: int) -> set[Place]:
    """The places of the fields that fit, those further out before those further in."""
    kept: set[Place] = set()
    level: list[tuple[Shape, Place]] = [(shape, ())]
    while level:
        inner: list[tuple[Shape, Place]] = []
        for one, place in level:
            for name, part in one.fields.items():
                characters -= len(name) + _AROUND_KEY
                if characters < 0:
                    return kept
                if len(name) <= _LONGEST_KEY:
                    kept.add((*place, name))
                    inner.append((part, (*place, name)))
            inner += [(part, place) for part in (one.items,) if part]
            inner += [(part, (*place, "")) for part in (one.values,) if part]
        level = inner
    return kept


@dataclass(slots=True)
class Definitions:
    """Objects as ``TypedDict``, each with a name of its own that begins with ``_`` and ``prefix``, as no tool's does."""

    prefix: str
    optional: bool = False
    values: int = 100_000
    any_list: str = "list[Any]"
    any_object: str = "dict[str, Any]"
    lines: list[str] = field(default_factory=list[str])

    def object(self, shape: Shape, place: Place) -> str:
        """Define an object; what its fields hold is defined before it."""
        parts = [
            _field(name, shape, annotation(part, self, (*place, name)), optional=self.optional)
            for name, part in shape.fields.items()
            if name  # a TypedDict has no field without one
        ]
        name = f"_{self.prefix}_{len(self.lines) + 1}"
        self.lines.append(f"{name} = TypedDict({name!r}, {{{','.join(parts)}}})")
        return name


def own_names(names: Collection[str], otherwise: str) -> list[tuple[str, str]]:
    """Names of parameters as names of Python, each of its own, with what they stand for."""
    return named(names, lambda name: (identifier(name, otherwise),))
