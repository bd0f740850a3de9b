"""Render the shapes of values as Python types: inline for a prompt, or as definitions for a type checker."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from pydantic.types import JsonValue

from agent.parameter_needs import derive_need
from agent.programs.function_names import assign_names, to_identifier
from domain.tool import Parameter
from graph.shapes import JsonShape, Kind

_SCALAR_TYPES: dict[Kind, str] = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
"""Python types of the kinds that hold no other values."""
_KIND_ORDER: tuple[Kind, ...] = ("object", "array", "string", "number", "integer", "boolean")
"""Order of the alternatives in a union, so that the same shape always gives the same text."""
_CONTAINER_KINDS: frozenset[Kind] = frozenset({"object", "array"})
_MAX_KEY_LENGTH = 60
"""Fields with longer names are not shown."""
_MAX_LITERAL_LENGTH = 80
"""Maximum number of characters of one value in a ``Literal``."""
_MAX_LITERAL_CHARACTERS = 200
"""Maximum number of characters of all values in a ``Literal`` that is shown."""
_FIELD_OVERHEAD = 8
"""Estimated characters of a field besides its name: quotes, a colon, a type, a comma."""

FieldPath = tuple[str, ...]
"""Field names from the outermost object inwards; lists add nothing, and the values of a mapping add an empty name."""


class TypeWriter(Protocol):
    """Interface of a style of types: how objects, lists and values of unknown type are written."""

    @property
    def literal_limit(self) -> int:
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

    def write_object(self, shape: JsonShape, path: FieldPath) -> str:
        """Return the type of an object whose fields are known."""
        ...


def render_annotation(shape: JsonShape, writer: TypeWriter, path: FieldPath = ()) -> str:
    """Return the type annotation of a shape; ``Any`` where nothing is known of it.

    ``path`` is the path of the shape within the outermost one, which the writer may need.
    """
    if not shape.is_known:
        return "Any"
    if fits_literal(shape.enum, writer.literal_limit):
        alternatives = [f"Literal[{', '.join(map(repr, shape.enum))}]"]
    else:
        alternatives = [_render_kind(kind, shape, writer, path) for kind in _KIND_ORDER if kind in shape.kinds]
    return " | ".join((*alternatives, "None") if shape.nullable else alternatives)


def _render_kind(kind: Kind, shape: JsonShape, writer: TypeWriter, path: FieldPath) -> str:
    """Return the annotation of one kind of value that the shape allows."""
    if kind in _SCALAR_TYPES:
        return _SCALAR_TYPES[kind]
    if kind == "array":
        return (
            f"list[{render_annotation(shape.items, writer, path)}]"
            if shape.items and shape.items.is_known
            else writer.any_list
        )
    if shape.fields:
        return writer.write_object(shape, path)
    if shape.values and shape.values.is_known:
        return f"dict[str, {render_annotation(shape.values, writer, (*path, ''))}]"
    return writer.any_object


def fits_literal(values: Collection[JsonValue], max_characters: int = _MAX_LITERAL_CHARACTERS) -> bool:
    """Return True if the values can be written as a ``Literal`` of at most that many characters."""
    # Four characters for the quotes and the separator. Floats and the like are not valid in a Literal.
    return 0 < sum(len(str(value)) + 4 for value in values) <= max_characters and all(
        (isinstance(value, str) and len(value) <= _MAX_LITERAL_LENGTH)
        or (isinstance(value, int) and abs(value) < 2**63)
        for value in values
    )


def render_inline(shape: JsonShape, max_characters: int, *, optional: bool = False) -> str:
    """Return the type as one expression, with objects written as ``{"name": type}``.

    As many fields as fit into ``max_characters`` are kept. For a response, fields that identify a thing are kept first; for
    an input (``optional``), the required ones. Then outer fields go before inner ones. An object whose fields were cut
    ends with ``...:...``. With ``optional``, fields that are not required are marked ``NotRequired``.
    """
    return render_annotation(shape, _InlineWriter(_select_fitting(shape, max_characters, optional=optional), optional))


@dataclass(frozen=True, slots=True)
class _InlineWriter:
    """Writes objects inline, with the selected fields only."""

    shown_paths: Collection[FieldPath]
    """Places of the fields that are shown."""
    optional: bool
    """Mark fields that are not required with ``NotRequired``."""
    literal_limit: int = _MAX_LITERAL_CHARACTERS
    any_list: str = "list"
    any_object: str = "dict"

    def write_object(self, shape: JsonShape, path: FieldPath) -> str:
        """Return the object with its selected fields; a cut is marked by ``...:...``."""
        shown_fields = [(name, (*path, name)) for name in shape.fields if (*path, name) in self.shown_paths]
        if not shown_fields:
            return self.any_object
        parts = [
            _render_field(name, shape, render_annotation(shape.fields[name], self, field_path), optional=self.optional)
            for name, field_path in shown_fields
        ]
        return "{" + ",".join(parts if len(shown_fields) == len(shape.fields) else [*parts, "...:..."]) + "}"


def _render_field(name: str, holder: JsonShape, annotation: str, *, optional: bool) -> str:
    """Return one field of an object.

    With ``optional``, a field that the object does not require is marked ``NotRequired``.
    """
    return f"{name!r}:{f'NotRequired[{annotation}]' if optional and name not in holder.required else annotation}"


def _select_fitting(shape: JsonShape, max_characters: int, *, optional: bool) -> set[FieldPath]:
    """Return the places of the fields that fit into ``max_characters``.

    Fields of :func:`_is_needed` go first, however deep they are, then all others; outer fields before inner ones.
    """
    levels = list(_iterate_levels(shape))
    all_sizes = [(path, size) for path, size, _ in levels]
    if sum(size for _, size in all_sizes) <= max_characters:
        return {path for path, _ in all_sizes}
    needed_paths = [path for path, _, holder in levels if _is_needed(holder, path[-1], optional=optional)]
    sizes, selected, remaining = dict(all_sizes), set[FieldPath](), max_characters
    for path in (*needed_paths, *sizes):
        # A field can only be shown inside its outer fields, so their size counts too.
        missing_paths = [prefix for prefix in _iterate_prefixes(path) if prefix in sizes and prefix not in selected]
        size = sum(sizes[prefix] for prefix in missing_paths)
        if size > remaining:
            break
        selected.update(missing_paths)
        remaining -= size
    return selected


def _is_needed(holder: JsonShape, name: str, *, optional: bool) -> bool:
    """Return True for fields to show first: required inputs, or scalar outputs that identify a thing."""
    if optional:
        return name in holder.required
    return not holder.fields[name].kinds & _CONTAINER_KINDS and _identifies_thing(name)


def _iterate_levels(shape: JsonShape) -> Iterator[tuple[FieldPath, int, JsonShape]]:
    """Yield every field, level by level: its place, the characters that it takes, and the object that holds it."""
    level: list[tuple[JsonShape, FieldPath]] = [(shape, ())]
    while level:
        next_level: list[tuple[JsonShape, FieldPath]] = []
        for holder, path in level:
            for name, field_shape in holder.fields.items():
                if len(name) <= _MAX_KEY_LENGTH:
                    yield (*path, name), len(name) + _FIELD_OVERHEAD, holder
                    next_level.append((field_shape, (*path, name)))
            next_level += [(field_shape, path) for field_shape in (holder.items,) if field_shape]
            next_level += [(field_shape, (*path, "")) for field_shape in (holder.values,) if field_shape]
        level = next_level


def _iterate_prefixes(path: FieldPath) -> Iterator[FieldPath]:
    """Yield the places of the fields around a field and then its own, outermost first."""
    return (path[:end] for end in range(1, len(path) + 1))


@lru_cache(maxsize=8192)
def _identifies_thing(name: str) -> bool:
    """Return True if a field identifies a thing, as an id or a name does: other calls take it as an argument."""
    return derive_need(Parameter(name=name)).kind in ("identifier", "query")


@dataclass(slots=True)
class TypedDictDefinitions:
    """Writes each object as a ``TypedDict`` definition and collects these in ``lines``."""

    prefix: str
    """Part of the generated names: ``_<prefix>_<number>``. The leading ``_`` keeps them apart from names of tools."""
    optional: bool = False
    """Mark fields that are not required with ``NotRequired``."""
    literal_limit: int = 100_000
    any_list: str = "list[Any]"
    any_object: str = "dict[str, Any]"
    lines: list[str] = field(default_factory=list[str])
    """Definitions written so far, inner objects before those that use them."""

    def write_object(self, shape: JsonShape, path: FieldPath) -> str:
        """Define an object after the objects in its fields, and return the name of the definition."""
        parts = [
            _render_field(name, shape, render_annotation(field_shape, self, (*path, name)), optional=self.optional)
            for name, field_shape in shape.fields.items()
            if name  # a TypedDict cannot have a field with an empty name
        ]
        name = f"_{self.prefix}_{len(self.lines) + 1}"
        self.lines.append(f"{name} = TypedDict({name!r}, {{{','.join(parts)}}})")
        return name


def assign_parameter_names(names: Collection[str], prefix: str) -> list[tuple[str, str]]:
    """Return a unique Python name for each parameter, paired with the parameter's own name.

    ``prefix`` is the name, or its prefix, where a parameter's own is no valid identifier.
    """
    return assign_names(names, lambda name: (to_identifier(name, prefix),))
