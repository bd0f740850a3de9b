"""Render the shapes of values as Python types: inline for a prompt, or as definitions for a type checker."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from pydantic.types import JsonValue

from agent.parameters.needs import need_of
from agent.programs.names import assign_names, to_identifier
from domain.tool import Parameter
from graph.shapes import JsonShape, Kind

_SCALARS: dict[Kind, str] = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
"""Python types of the kinds that hold no other values."""
_ORDER: tuple[Kind, ...] = ("object", "array", "string", "number", "integer", "boolean")
"""Order of the alternatives in a union, so that the same shape always gives the same text."""
_MADE_OF_OTHERS: frozenset[Kind] = frozenset({"object", "array"})
_LONGEST_KEY = 60
"""Fields with longer names are not shown."""
_LONGEST_VALUE = 80
"""Maximum number of characters of one value in a ``Literal``."""
_VALUES = 200
"""Maximum number of characters of all values in a ``Literal`` that is shown."""
_AROUND_KEY = 8
"""Estimated characters of a field besides its name: quotes, a colon, a type, a comma."""

Place = tuple[str, ...]
"""Field names from the outermost object inwards; lists add nothing, and the values of a mapping add an empty name."""


class TypeWriter(Protocol):
    """Interface of a style of types: how objects, lists and values of unknown type are written."""

    @property
    def values(self) -> int:
        """Maximum number of characters of allowed values that a type may list."""
        ...

    @property
    def any_list(self) -> str:
        """Type of a list whose items are unknown."""
        ...

    @property
    def any_object(self) -> str:
        """Type of an object whose fields are unknown."""
        ...

    def object(self, shape: JsonShape, place: Place) -> str:
        """Return the type of an object whose fields are known."""
        ...


def render_annotation(shape: JsonShape, writer: TypeWriter, place: Place = ()) -> str:
    """Return the type annotation of a shape; ``Any`` where nothing is known of it.

    ``place`` is the path of the shape within the outermost one, which the writer may need.
    """
    if not shape.is_known:
        return "Any"
    if fits_literal(shape.enum, writer.values):
        written = [f"Literal[{', '.join(map(repr, shape.enum))}]"]
    else:
        written = [_render_kind(kind, shape, writer, place) for kind in _ORDER if kind in shape.kinds]
    return " | ".join((*written, "None") if shape.nullable else written)


def _render_kind(kind: Kind, shape: JsonShape, writer: TypeWriter, place: Place) -> str:
    """Return the annotation of one kind of value that the shape allows."""
    if kind in _SCALARS:
        return _SCALARS[kind]
    if kind == "array":
        return (
            f"list[{render_annotation(shape.items, writer, place)}]"
            if shape.items and shape.items.is_known
            else writer.any_list
        )
    if shape.fields:
        return writer.object(shape, place)
    if shape.values and shape.values.is_known:
        return f"dict[str, {render_annotation(shape.values, writer, (*place, ''))}]"
    return writer.any_object


def fits_literal(values: Collection[JsonValue], characters: int = _VALUES) -> bool:
    """Return True if the values can be written as a ``Literal`` of at most that many characters."""
    # Four characters for the quotes and the separator. Floats and the like are not valid in a Literal.
    return 0 < sum(len(str(one)) + 4 for one in values) <= characters and all(
        (isinstance(one, str) and len(one) <= _LONGEST_VALUE) or (isinstance(one, int) and abs(one) < 2**63)
        for one in values
    )


def render_inline(shape: JsonShape, characters: int, *, optional: bool = False) -> str:
    """Return the type as one expression, with objects written as ``{"name": type}``.

    As many fields as fit into ``characters`` are kept. For a response, fields that identify a thing are kept first; for
    an input (``optional``), the required ones. Then outer fields go before inner ones. An object whose fields were cut
    ends with ``...:...``. With ``optional``, fields that are not required are marked ``NotRequired``.
    """
    return render_annotation(shape, _InlineWriter(_select_fitting(shape, characters, optional=optional), optional))


@dataclass(frozen=True, slots=True)
class _InlineWriter:
    """Writes objects inline, with the selected fields only."""

    shown_places: Collection[Place]
    """Places of the fields that are shown."""
    optional: bool
    """Mark fields that are not required with ``NotRequired``."""
    values: int = _VALUES
    any_list: str = "list"
    any_object: str = "dict"

    def object(self, shape: JsonShape, place: Place) -> str:
        """Return the object with its selected fields; a cut is marked by ``...:...``."""
        inner = [(name, (*place, name)) for name in shape.fields if (*place, name) in self.shown_places]
        if not inner:
            return self.any_object
        parts = [
            _render_field(name, shape, render_annotation(shape.fields[name], self, at), optional=self.optional)
            for name, at in inner
        ]
        return "{" + ",".join(parts if len(inner) == len(shape.fields) else [*parts, "...:..."]) + "}"


def _render_field(name: str, holder: JsonShape, kind: str, *, optional: bool) -> str:
    """Return one field of an object.

    With ``optional``, a field that the object does not require is marked ``NotRequired``.
    """
    return f"{name!r}:{f'NotRequired[{kind}]' if optional and name not in holder.required else kind}"


def _select_fitting(shape: JsonShape, characters: int, *, optional: bool) -> set[Place]:
    """Return the places of the fields that fit into ``characters``.

    Fields of :func:`_is_needed` go first, however deep they are, then all others; outer fields before inner ones.
    """
    levels = list(_iterate_levels(shape))
    everything = [(place, size) for place, size, _ in levels]
    if sum(size for _, size in everything) <= characters:
        return {place for place, _ in everything}
    needed = [place for place, _, one in levels if _is_needed(one, place[-1], optional=optional)]
    sizes, selected, remaining = dict(everything), set[Place](), characters
    for place in (*needed, *sizes):
        # A field can only be shown inside its outer fields, so their size counts too.
        within = [outer for outer in _iterate_prefixes(place) if outer in sizes and outer not in selected]
        size = sum(sizes[outer] for outer in within)
        if size > remaining:
            break
        selected.update(within)
        remaining -= size
    return selected


def _is_needed(holder: JsonShape, name: str, *, optional: bool) -> bool:
    """Return True for fields to show first: required inputs, or scalar outputs that identify a thing."""
    if optional:
        return name in holder.required
    return not holder.fields[name].kinds & _MADE_OF_OTHERS and _is_distinguishing(name)


def _iterate_levels(shape: JsonShape) -> Iterator[tuple[Place, int, JsonShape]]:
    """Yield every field, level by level: its place, the characters that it takes, and the object that holds it."""
    level: list[tuple[JsonShape, Place]] = [(shape, ())]
    while level:
        inner: list[tuple[JsonShape, Place]] = []
        for holder, place in level:
            for name, part in holder.fields.items():
                if len(name) <= _LONGEST_KEY:
                    yield (*place, name), len(name) + _AROUND_KEY, holder
                    inner.append((part, (*place, name)))
            inner += [(part, place) for part in (holder.items,) if part]
            inner += [(part, (*place, "")) for part in (holder.values,) if part]
        level = inner


def _iterate_prefixes(place: Place) -> Iterator[Place]:
    """Yield the places of the fields around a field and then its own, outermost first."""
    return (place[:end] for end in range(1, len(place) + 1))


@lru_cache(maxsize=8192)
def _is_distinguishing(name: str) -> bool:
    """Return True if a field identifies a thing, as an id or a name does: other calls take it as an argument."""
    return need_of(Parameter(name=name)).kind in ("identifier", "query")


@dataclass(slots=True)
class TypedDictDefinitions:
    """Writes each object as a ``TypedDict`` definition and collects these in ``lines``."""

    prefix: str
    """Part of the generated names: ``_<prefix>_<number>``. The leading ``_`` keeps them apart from names of tools."""
    optional: bool = False
    """Mark fields that are not required with ``NotRequired``."""
    values: int = 100_000
    any_list: str = "list[Any]"
    any_object: str = "dict[str, Any]"
    lines: list[str] = field(default_factory=list[str])
    """Definitions written so far, inner objects before those that use them."""

    def object(self, shape: JsonShape, place: Place) -> str:
        """Define an object after the objects in its fields, and return the name of the definition."""
        parts = [
            _render_field(name, shape, render_annotation(part, self, (*place, name)), optional=self.optional)
            for name, part in shape.fields.items()
            if name  # a TypedDict cannot have a field with an empty name
        ]
        name = f"_{self.prefix}_{len(self.lines) + 1}"
        self.lines.append(f"{name} = TypedDict({name!r}, {{{','.join(parts)}}})")
        return name


def assign_parameter_names(names: Collection[str], otherwise: str) -> list[tuple[str, str]]:
    """Return a unique Python name for each parameter, paired with the parameter's own name.

    ``otherwise`` is the name, or its prefix, where a parameter's own is no valid identifier.
    """
    return assign_names(names, lambda name: (to_identifier(name, otherwise),))
