"""Input schemas of MCP tools as parameters: the fields of all alternatives, and an object for additional ones.

A call sends one object of arguments, so everything that JSON Schema spreads over ``allOf``, ``anyOf``, ``oneOf`` and ``if`` becomes
one list of parameters. No value that the schema accepts is refused; which fields may be combined is checked by the server.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import orjson

from domain.tool import Parameter
from graph.importers.openapi_nodes import Schema, items, mapping
from graph.importers.openapi_parameters import line, parameter, unique
from graph.importers.openapi_schema import Schemas, UnsupportedError
from graph.importers.openapi_values import value_schema

MAX_NAME = 128
MAX_FIELDS = 300
MAX_NESTING = 6
"""Levels of nested alternatives."""
MAX_READ = 5_000
"""Fields read for one tool. Alternatives that refer to one large schema again and again would take minutes."""
MAX_ALTERNATIVES = 50
"""Different schemas of one field. A field with more is left open, for the server to check."""
ADDITIONAL_FIELDS = "additional_fields"
"""The parameter for fields without names of their own; its entries are sent beside the named ones."""
_UNREAD = ("dependentSchemas", "dependencies", "not")
"""Keywords that may hold fields or conditions, and are left to the server."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Parameters of a tool."""

    parameters: tuple[Parameter, ...]
    notes: tuple[str, ...] = ()
    """Sentences on the parts of the schema that the parameters do not cover."""


@dataclass(slots=True)
class _Fields:
    """Fields that one schema, or several together, declare."""

    declared: dict[str, list[object]] = field(default_factory=dict[str, list[object]])
    """The schemas of each field, all of which apply, in the document's order."""
    required: set[str] = field(default_factory=set[str])
    further: list[object] = field(default_factory=list[object])
    """Schemas of fields without a name of their own, any of which may apply; ``True`` allows every value."""
    closed: bool = False
    """No further field is allowed (``additionalProperties: false``)."""


def read_inputs(schemas: Schemas, schema: Schema) -> Inputs:
    """Read the parameters of an input schema.

    Raises:
        UnsupportedError: a required input is not described, there are too many inputs, or the input is not an object.
    """
    reader = _Reader(schemas)
    fields = reader.read(schema)
    if fields is None:
        raise UnsupportedError("its input is no object, and a call sends an object of named values")
    declared = {name: found for name, found in fields.declared.items() if name and not _never(found)}
    if fields.further:  # a required field that is not declared must be one of the additional ones
        declared |= {name: [_either(schemas, fields.further)] for name in sorted(fields.required - declared.keys())}
    if len(declared) > MAX_FIELDS:
        raise UnsupportedError(f"it has {len(declared)} inputs, more than {MAX_FIELDS}")
    if unknown := sorted(fields.required - declared.keys()):
        raise UnsupportedError(f"it needs {', '.join(unknown)[:200]}, of which its document says nothing")
    named = [_parameter(schemas, name, found, needed=name in fields.required) for name, found in declared.items()]
    return Inputs(unique([*named, *_spread(schemas, fields, declared)]), tuple(dict.fromkeys(reader.notes)))


class _Reader:
    """Collector of the fields of one schema."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._left = MAX_READ
        self.notes: list[str] = []

    def read(self, given: object, stack: frozenset[str] = frozenset(), level: int = 0) -> _Fields | None:
        """Return the fields of an object, or None for a schema that no object satisfies."""
        if given is False:
            return None
        schema, passed = self._schemas.target(mapping(given))
        if not _is_object(schema):
            return None
        if level > MAX_NESTING or passed & stack:
            self.notes.append(
                "alternatives of its input that are nested too deeply, or refer to themselves, are not read"
            )
            return _Fields()
        self._left -= 1 + len(mapping(schema.get("properties")))
        if self._left < 0:
            raise UnsupportedError(f"its alternatives have more than {MAX_READ} inputs in all")
        self._note_unread(schema)
        inside = stack | passed
        parts: list[_Fields | None] = [_own(schema)]
        parts += [self.read(part, inside, level + 1) for part in items(schema.get("allOf"))]
        parts += [self._any_of(group, inside, level + 1) for group in _alternatives(schema)]
        return None if None in parts else _all_of(cast(Sequence[_Fields], parts))

    def _any_of(self, group: Iterable[object], stack: frozenset[str], level: int) -> _Fields | None:
        """Join alternatives: all their fields, of which those are required that every alternative requires."""
        found = [one for part in group if (one := self.read(part, stack, level)) is not None]
        if not found:
            return None
        joined = _Fields(required=set[str].intersection(*(one.required for one in found)))
        for name in dict.fromkeys(name for one in found for name in one.declared):
            alternatives = [_both(one.declared[name]) for one in found if name in one.declared]
            allowed = _distinct([one for one in alternatives if one is not False])
            if allowed:  # a field forbidden by one alternative may be allowed by another
                joined.declared[name] = [_either(self._schemas, allowed)]
        joined.further = _distinct([schema for one in found for schema in one.further])
        joined.closed = all(one.closed for one in found)
        return joined

    def _note_unread(self, schema: Schema) -> None:
        for keyword in _UNREAD:
            if mapping(schema.get(keyword)):
                self.notes.append(f"what its input says under {keyword!r} is not checked before a call")
        if patterns := list(mapping(schema.get("patternProperties"))):
            shown = ", ".join(line(pattern, 60) for pattern in patterns[:5])
            self.notes.append(
                f"inputs whose names match {shown} are given in {ADDITIONAL_FIELDS}, their names unchecked"
            )


def _is_object(schema: Schema) -> bool:
    said = schema.get("type")
    return said is None or "object" in (said if isinstance(said, list) else [said])


def _alternatives(schema: Schema) -> list[list[object]]:
    groups = [items(schema.get(keyword)) for keyword in ("anyOf", "oneOf")]
    if "if" in schema and ("then" in schema or "else" in schema):
        groups.append([schema.get("then", True), schema.get("else", True)])
    return [group for group in groups if group]


def _own(schema: Schema) -> _Fields:
    more: object = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
    further: list[object] = [cast(object, more)] if more is True or isinstance(more, dict) else []
    return _Fields(
        declared={name: [one] for name, one in mapping(schema.get("properties")).items()},
        required={name for name in items(schema.get("required")) if isinstance(name, str)},
        further=[*further, *mapping(schema.get("patternProperties")).values()],
        closed=more is False and "patternProperties" not in schema,
    )


def _all_of(parts: Sequence[_Fields]) -> _Fields:
    """Join schemas that all apply."""
    joined = _Fields(closed=any(part.closed for part in parts))
    for part in parts:
        joined.required |= part.required
        for name, found in part.declared.items():
            joined.declared[name] = _distinct([*joined.declared.get(name, []), *found])
    if not joined.closed:
        joined.further = _distinct([schema for part in parts for schema in part.further])
    return joined


def _distinct(given: Iterable[object]) -> list[object]:
    """Return each schema once, in order. They are compared as JSON, because 1 and true are equal in Python."""
    return list({orjson.dumps(one, option=orjson.OPT_SORT_KEYS): one for one in given}.values())


def _never(declared: Sequence[object]) -> bool:
    return any(one is False for one in declared)


def _both(declared: Sequence[object]) -> object:
    """Combine schemas that all apply into one. Schemas that allow everything are dropped beside others."""
    if _never(declared):
        return False
    telling = [one for one in declared if one is not True and one != {}]
    return (telling[0] if len(telling) == 1 else {"allOf": telling}) if telling else True


def _either(schemas: Schemas, alternatives: Sequence[object]) -> object:
    """Build one schema that accepts whatever any alternative accepts."""
    if len(alternatives) == 1:
        return alternatives[0]
    if len(alternatives) > MAX_ALTERNATIVES:
        return {}
    followed = [schemas.follow(one) for one in alternatives]
    description = next((text for one in followed if (text := line(one.get("description")))), "")
    about: Schema = {"description": description} if description else {}
    values = [_values(one) for one in followed]
    if all(values):  # tags of a union: one enum reads better than alternatives of one value each
        kinds = {str(one.get("type")) for one in followed if "type" in one}
        typed: Schema = {"type": kinds.pop()} if len(kinds) == 1 else {}
        return {**about, **typed, "enum": _distinct(value for found in values for value in found)}
    return {**about, "anyOf": list(alternatives)}


def _values(schema: Schema) -> list[Any]:
    return [schema["const"]] if "const" in schema else items(schema.get("enum"))


def _parameter(schemas: Schemas, name: str, declared: Sequence[object], *, needed: bool) -> Parameter:
    if len(name) > MAX_NAME:
        raise UnsupportedError(f"an input's name is longer than {MAX_NAME} characters")
    given = _both(declared)
    return parameter(schemas, name, schemas.follow(given), given, required=needed, location="body")


def _spread(schemas: Schemas, fields: _Fields, declared: Iterable[str]) -> list[Parameter]:
    """Build the parameter for additional fields, if the schema explicitly allows some."""
    if not fields.further:
        return []
    name = ADDITIONAL_FIELDS
    while name in declared:
        name = f"body_{name}"
    each = _either(schemas, fields.further)
    allows_any = any(one is True or one == {} for one in (each, *fields.further))
    about = next((text for one in fields.further if (text := line(mapping(one).get("description")))), "")
    return [
        Parameter(
            name=name,
            type="object",
            description=f"Further fields, sent beside the others. {about}".strip(),
            location="body",
            spread=True,
            json_schema=None if allows_any else value_schema(schemas, {"type": "object", "additionalProperties": each}),
        )
    ]
