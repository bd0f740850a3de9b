"""The input schema of an MCP tool as parameters: the fields of all alternatives, and an object for further ones.

A call sends one object of arguments. So what JSON Schema spreads over ``allOf``, ``anyOf``, ``oneOf`` and ``if`` is one list of
parameters here. It never refuses what the schema accepts; which fields may stand together is left to the server.
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
"""Levels of alternatives within alternatives."""
MAX_READ = 5_000
"""Fields read for one tool: alternatives that refer to one large schema again and again would cost minutes."""
MAX_ALTERNATIVES = 50
"""Different schemas of one field; of more the field is left open, for the server to check."""
ADDITIONAL_FIELDS = "additional_fields"
"""The parameter that holds fields without names of their own; its entries are sent beside the named ones."""
_UNREAD = ("dependentSchemas", "dependencies", "not")
"""Keywords that may hold fields or conditions, and are left to the server."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Parameters of a tool."""

    parameters: tuple[Parameter, ...]
    notes: tuple[str, ...] = ()
    """What of the schema is not among them, in sentences."""


@dataclass(slots=True)
class _Fields:
    """Fields that one schema, or several together, declare."""

    declared: dict[str, list[object]] = field(default_factory=dict[str, list[object]])
    """Schemas of each field that all hold, in the order of the document."""
    required: set[str] = field(default_factory=set[str])
    further: list[object] = field(default_factory=list[object])
    """Schemas of fields without a name of their own, of which any may hold; ``True`` allows every value."""
    closed: bool = False
    """``additionalProperties: false``: no further field is allowed."""


def read_inputs(schemas: Schemas, schema: Schema) -> Inputs:
    """Read the parameters of an input schema.

    Raises:
        UnsupportedError: an input is required that is not described, there are too many, or the input is no object.
    """
    reader = _Reader(schemas)
    fields = reader.read(schema)
    if fields is None:
        raise UnsupportedError("its input is no object, and a call sends an object of named values")
    declared = {name: found for name, found in fields.declared.items() if name and not _never(found)}
    if fields.further:  # a required name that nothing declares is one of them
        declared |= {name: [_either(schemas, fields.further)] for name in sorted(fields.required - declared.keys())}
    if len(declared) > MAX_FIELDS:
        raise UnsupportedError(f"it has {len(declared)} inputs, more than {MAX_FIELDS}")
    if unknown := sorted(fields.required - declared.keys()):
        raise UnsupportedError(f"it needs {', '.join(unknown)[:200]}, of which its document says nothing")
    named = [_parameter(schemas, name, found, needed=name in fields.required) for name, found in declared.items()]
    return Inputs(unique([*named, *_spread(schemas, fields, declared)]), tuple(dict.fromkeys(reader.notes)))


class _Reader:
    """Collects the fields of one schema."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._left = MAX_READ
        self.notes: list[str] = []

    def read(self, given: object, stack: frozenset[str] = frozenset(), level: int = 0) -> _Fields | None:
        """Return the fields of an object; None of a schema that no object fits."""
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
        """Join alternatives: the fields of all, and those required that each of them requires."""
        found = [one for part in group if (one := self.read(part, stack, level)) is not None]
        if not found:
            return None
        joined = _Fields(required=set[str].intersection(*(one.required for one in found)))
        for name in dict.fromkeys(name for one in found for name in one.declared):
            alternatives = [_both(one.declared[name]) for one in found if name in one.declared]
            allowed = _distinct([one for one in alternatives if one is not False])
            if allowed:  # forbidden by one alternative, it may be a field of another
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
    """Join what holds together."""
    joined = _Fields(closed=any(part.closed for part in parts))
    for part in parts:
        joined.required |= part.required
        for name, found in part.declared.items():
            joined.declared[name] = _distinct([*joined.declared.get(name, []), *found])
    if not joined.closed:
        joined.further = _distinct([schema for part in parts for schema in part.further])
    return joined


def _distinct(given: Iterable[object]) -> list[object]:
    """Each schema once, in their order; by their JSON, for 1 and true are equal in Python."""
    return list({orjson.dumps(one, option=orjson.OPT_SORT_KEYS): one for one in given}.values())


def _never(declared: Sequence[object]) -> bool:
    return any(one is False for one in declared)


def _both(declared: Sequence[object]) -> object:
    """One schema of those that all hold; what allows everything says nothing beside others."""
    if _never(declared):
        return False
    telling = [one for one in declared if one is not True and one != {}]
    return (telling[0] if len(telling) == 1 else {"allOf": telling}) if telling else True


def _either(schemas: Schemas, alternatives: Sequence[object]) -> object:
    """One schema that accepts what any alternative accepts."""
    if len(alternatives) == 1:
        return alternatives[0]
    if len(alternatives) > MAX_ALTERNATIVES:
        return {}
    followed = [schemas.follow(one) for one in alternatives]
    description = next((text for one in followed if (text := line(one.get("description")))), "")
    about: Schema = {"description": description} if description else {}
    values = [_values(one) for one in followed]
    if all(values):  # the tags of a union: one list of values reads better than alternatives of one value each
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
    """The parameter for further fields, where the schema says outright that there may be some."""
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
