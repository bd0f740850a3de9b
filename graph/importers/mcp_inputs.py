"""Input schemas of MCP tools as parameters: the fields of all alternatives, and an object for additional ones.

A call sends one object of arguments, so everything that JSON Schema spreads over ``allOf``, ``anyOf``, ``oneOf`` and
``if`` becomes one list of parameters. No value that the schema accepts is refused; which fields may be combined is
checked by the server.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import orjson

from domain.tool import Parameter
from graph.importers.openapi_nodes import Schema, to_list, to_mapping
from graph.importers.openapi_parameters import build_parameter, make_unique, to_single_line
from graph.importers.openapi_schema import SchemaResolver, UnsupportedError
from graph.importers.openapi_values import build_value_schema

MAX_NAME = 128
MAX_FIELDS = 300
MAX_NESTING = 6
"""Levels of nested alternatives."""
MAX_FIELDS_READ = 5_000
"""Maximum number of fields read for one tool: alternatives that repeat one large schema would take minutes."""
MAX_ALTERNATIVES = 50
"""Different schemas of one field. A field with more is left open, for the server to check."""
ADDITIONAL_FIELDS = "additional_fields"
"""The parameter for fields without names of their own; its entries are sent beside the named ones."""
_UNCHECKED_KEYWORDS = ("dependentSchemas", "dependencies", "not")
"""Keywords that may hold fields or conditions, and are left to the server."""


@dataclass(frozen=True, slots=True)
class McpInputs:
    """Parameters of a tool."""

    parameters: tuple[Parameter, ...]
    notes: tuple[str, ...] = ()
    """Sentences on the parts of the schema that the parameters do not cover."""


@dataclass(slots=True)
class _InputFields:
    """Fields that one schema, or several together, declare."""

    declared: dict[str, list[object]] = field(default_factory=dict[str, list[object]])
    """The schemas of each field, all of which apply, in the document's order."""
    required: set[str] = field(default_factory=set[str])
    further: list[object] = field(default_factory=list[object])
    """Schemas of additional fields, any of which may apply; ``True`` allows every value."""
    closed: bool = False
    """No further field is allowed (``additionalProperties: false``)."""


def read_inputs(schemas: SchemaResolver, schema: Schema) -> McpInputs:
    """Read the parameters of an input schema.

    Raises:
        UnsupportedError: a required input is not described, there are too many inputs, or the input is not an object.
    """
    reader = _InputReader(schemas)
    fields = reader.read(schema)
    if fields is None:
        raise UnsupportedError("its input is no object, and a call sends an object of named values")
    declared = {name: found for name, found in fields.declared.items() if name and not _is_forbidden(found)}
    if fields.further:  # a required field that is not declared must be one of the additional ones
        declared |= {
            name: [_combine_any(schemas, fields.further)] for name in sorted(fields.required - declared.keys())
        }
    if len(declared) > MAX_FIELDS:
        raise UnsupportedError(f"it has {len(declared)} inputs, more than {MAX_FIELDS}")
    if undeclared := sorted(fields.required - declared.keys()):
        raise UnsupportedError(f"it needs {', '.join(undeclared)[:200]}, of which its document says nothing")
    parameters = [
        _build_parameter(schemas, name, found, required=name in fields.required) for name, found in declared.items()
    ]
    return McpInputs(
        make_unique([*parameters, *_build_spread_parameter(schemas, fields, declared)]),
        tuple(dict.fromkeys(reader.notes)),
    )


class _InputReader:
    """Collector of the fields of one schema."""

    def __init__(self, schemas: SchemaResolver) -> None:
        self._schemas = schemas
        self._remaining = MAX_FIELDS_READ
        self.notes: list[str] = []

    def read(self, value: object, stack: frozenset[str] = frozenset(), level: int = 0) -> _InputFields | None:
        """Return the fields of an object, or None for a schema that no object satisfies."""
        if value is False:
            return None
        schema, passed = self._schemas.resolve(to_mapping(value))
        if not _is_object(schema):
            return None
        if level > MAX_NESTING or passed & stack:
            self.notes.append(
                "alternatives of its input that are nested too deeply, or refer to themselves, are not read"
            )
            return _InputFields()
        self._remaining -= 1 + len(to_mapping(schema.get("properties")))
        if self._remaining < 0:
            raise UnsupportedError(f"its alternatives have more than {MAX_FIELDS_READ} inputs in all")
        self._note_unchecked(schema)
        inside = stack | passed
        parts: list[_InputFields | None] = [_read_own_fields(schema)]
        parts += [self.read(part, inside, level + 1) for part in to_list(schema.get("allOf"))]
        parts += [self._join_alternatives(group, inside, level + 1) for group in _collect_alternatives(schema)]
        return None if None in parts else _join_all_of(cast(Sequence[_InputFields], parts))

    def _join_alternatives(self, group: Iterable[object], stack: frozenset[str], level: int) -> _InputFields | None:
        """Join alternatives: all their fields, of which those are required that every alternative requires."""
        readable = [one for part in group if (one := self.read(part, stack, level)) is not None]
        if not readable:
            return None
        joined = _InputFields(required=set[str].intersection(*(one.required for one in readable)))
        for name in dict.fromkeys(name for one in readable for name in one.declared):
            alternatives = [_combine_all(one.declared[name]) for one in readable if name in one.declared]
            allowed = _deduplicate([one for one in alternatives if one is not False])
            if allowed:  # a field forbidden by one alternative may be allowed by another
                joined.declared[name] = [_combine_any(self._schemas, allowed)]
        joined.further = _deduplicate([schema for one in readable for schema in one.further])
        joined.closed = all(one.closed for one in readable)
        return joined

    def _note_unchecked(self, schema: Schema) -> None:
        for keyword in _UNCHECKED_KEYWORDS:
            if to_mapping(schema.get(keyword)):
                self.notes.append(f"what its input says under {keyword!r} is not checked before a call")
        if patterns := list(to_mapping(schema.get("patternProperties"))):
            pattern_list = ", ".join(to_single_line(pattern, 60) for pattern in patterns[:5])
            self.notes.append(
                f"inputs whose names match {pattern_list} are given in {ADDITIONAL_FIELDS}, their names unchecked"
            )


def _is_object(schema: Schema) -> bool:
    types = schema.get("type")
    return types is None or "object" in (types if isinstance(types, list) else [types])


def _collect_alternatives(schema: Schema) -> list[list[object]]:
    groups = [to_list(schema.get(keyword)) for keyword in ("anyOf", "oneOf")]
    if "if" in schema and ("then" in schema or "else" in schema):
        groups.append([schema.get("then", True), schema.get("else", True)])
    return [group for group in groups if group]


def _read_own_fields(schema: Schema) -> _InputFields:
    additional: object = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
    further: list[object] = [cast(object, additional)] if additional is True or isinstance(additional, dict) else []
    return _InputFields(
        declared={name: [one] for name, one in to_mapping(schema.get("properties")).items()},
        required={name for name in to_list(schema.get("required")) if isinstance(name, str)},
        further=[*further, *to_mapping(schema.get("patternProperties")).values()],
        closed=additional is False and "patternProperties" not in schema,
    )


def _join_all_of(parts: Sequence[_InputFields]) -> _InputFields:
    """Join schemas that all apply."""
    joined = _InputFields(closed=any(part.closed for part in parts))
    for part in parts:
        joined.required |= part.required
        for name, schemas in part.declared.items():
            joined.declared[name] = _deduplicate([*joined.declared.get(name, []), *schemas])
    if not joined.closed:
        joined.further = _deduplicate([schema for part in parts for schema in part.further])
    return joined


def _deduplicate(schemas: Iterable[object]) -> list[object]:
    """Return each schema once, in order. They are compared as JSON, because 1 and true are equal in Python."""
    return list({orjson.dumps(one, option=orjson.OPT_SORT_KEYS): one for one in schemas}.values())


def _is_forbidden(declared: Sequence[object]) -> bool:
    return any(one is False for one in declared)


def _combine_all(declared: Sequence[object]) -> object:
    """Combine schemas that all apply into one. Schemas that allow everything are dropped beside others."""
    if _is_forbidden(declared):
        return False
    restricting = [one for one in declared if one is not True and one != {}]
    return (restricting[0] if len(restricting) == 1 else {"allOf": restricting}) if restricting else True


def _combine_any(schemas: SchemaResolver, alternatives: Sequence[object]) -> object:
    """Build one schema that accepts whatever any alternative accepts."""
    if len(alternatives) == 1:
        return alternatives[0]
    if len(alternatives) > MAX_ALTERNATIVES:
        return {}
    resolved = [schemas.follow(one) for one in alternatives]
    description = next((text for one in resolved if (text := to_single_line(one.get("description")))), "")
    annotations: Schema = {"description": description} if description else {}
    values = [_get_allowed_values(one) for one in resolved]
    if all(values):  # tags of a union: one enum reads better than alternatives of one value each
        kinds = {str(one.get("type")) for one in resolved if "type" in one}
        typed: Schema = {"type": kinds.pop()} if len(kinds) == 1 else {}
        return {**annotations, **typed, "enum": _deduplicate(value for found in values for value in found)}
    return {**annotations, "anyOf": list(alternatives)}


def _get_allowed_values(schema: Schema) -> list[Any]:
    return [schema["const"]] if "const" in schema else to_list(schema.get("enum"))


def _build_parameter(schemas: SchemaResolver, name: str, declared: Sequence[object], *, required: bool) -> Parameter:
    if len(name) > MAX_NAME:
        raise UnsupportedError(f"an input's name is longer than {MAX_NAME} characters")
    schema = _combine_all(declared)
    return build_parameter(schemas, name, schemas.follow(schema), schema, required=required, location="body")


def _build_spread_parameter(schemas: SchemaResolver, fields: _InputFields, declared: Iterable[str]) -> list[Parameter]:
    """Build the parameter for additional fields, if the schema explicitly allows some."""
    if not fields.further:
        return []
    name = ADDITIONAL_FIELDS
    while name in declared:
        name = f"body_{name}"
    value_schemas = _combine_any(schemas, fields.further)
    allows_any = any(one is True or one == {} for one in (value_schemas, *fields.further))
    description = next(
        (text for one in fields.further if (text := to_single_line(to_mapping(one).get("description")))), ""
    )
    return [
        Parameter(
            name=name,
            type="object",
            description=f"Further fields, sent beside the others. {description}".strip(),
            location="body",
            spread=True,
            json_schema=None
            if allows_any
            else build_value_schema(schemas, {"type": "object", "additionalProperties": value_schemas}),
        )
    ]
