"""Parameters of an OpenAPI operation: path, query, header, the fields of a JSON body, and keys."""

import re
from collections.abc import Iterator
from typing import Any

from domain.tool import Location, Parameter
from graph.importers.openapi_schema import Schema, Schemas, first_example, items, mapping, type_of

_PLACES: dict[str, Location] = {"path": "path", "query": "query", "header": "header"}
_IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})  # OpenAPI says that these are no parameters


class UnsupportedError(Exception):
    """An operation that our calls cannot express."""


def parameters_of(
    schemas: Schemas, document: Schema, route: str, path_item: Schema, operation: Schema
) -> tuple[Parameter, ...]:
    """All inputs of an operation, the required ones first, names unique.

    Raises:
        UnsupportedError: something required cannot be sent: a cookie, a form, a body that is no object, or two inputs
            of one name.
        DanglingReferenceError: a reference leads nowhere.
    """
    found: dict[str, Parameter] = {}
    for parameter in (
        *_declared(schemas, path_item, operation),
        *(Parameter(name=name, required=True, location="path") for name in re.findall(r"\{([^{}]+)\}", route)),
        *_body(schemas, operation),
        *_keys(schemas, document, operation),
    ):
        first = found.setdefault(parameter.name, parameter)
        if parameter.required and first.location != parameter.location and parameter.location != "path":
            raise UnsupportedError(f"it has two inputs called {parameter.name}")
    return tuple(sorted(found.values(), key=lambda parameter: not parameter.required))


def _declared(schemas: Schemas, path_item: Schema, operation: Schema) -> Iterator[Parameter]:
    """The operation's own parameters replace those of its path."""
    given = [schemas.follow(one) for one in (*items(path_item.get("parameters")), *items(operation.get("parameters")))]
    latest = {(one.get("name"), one.get("in")): one for one in given}
    for (name, place), one in latest.items():
        if not isinstance(name, str) or (place == "header" and name.lower() in _IGNORED_HEADERS):
            continue
        if place in _PLACES:
            required = place == "path" or one.get("required") is True
            yield _parameter(schemas, name, one, _schema_of(one), required=required, location=_PLACES[place])
        elif one.get("required") is True:
            raise UnsupportedError(f"it needs {name} in {place}")


def _schema_of(parameter: Schema) -> object:
    """The schema, which may hang on a media type."""
    content = mapping(parameter.get("content"))
    return next((mapping(media).get("schema") for media in content.values()), parameter.get("schema"))


def _body(schemas: Schemas, operation: Schema) -> Iterator[Parameter]:
    """The top-level fields of a JSON body."""
    body = schemas.follow(operation.get("requestBody"))
    if not body:
        return
    required = body.get("required") is True
    content = mapping(body.get("content"))
    media = next((mapping(content[kind]) for kind in content if "json" in kind or kind == "*/*"), None)
    if media is None:
        if required:
            raise UnsupportedError(f"it needs a body of type {', '.join(content) or 'unknown'}, and only JSON is sent")
        return
    shape = schemas.shape(media.get("schema"))
    fields = mapping(shape.get("properties"))
    if shape["type"] != "object" and required:
        raise UnsupportedError(f"its body is of type {shape['type']}, and only objects are sent")
    needed = {name for name in items(shape.get("required")) if isinstance(name, str)} if required else set[str]()
    for name, field in fields.items():
        yield _parameter(schemas, name, mapping(field), field, required=name in needed, location="body")


def _keys(schemas: Schemas, document: Schema, operation: Schema) -> Iterator[Parameter]:
    """What the first way to authenticate needs; optional where anonymous calls are allowed, too."""
    ways = [mapping(way) for way in items(operation.get("security", document.get("security")))]
    declared = mapping(mapping(document.get("components")).get("securitySchemes"))
    anonymous = {} in ways
    first = next((way for way in ways if way), Schema())
    for name in first:
        scheme = schemas.follow(declared.get(name))
        place = str(scheme.get("in")) if scheme.get("type") == "apiKey" else "header"
        if place not in _PLACES and not anonymous:
            raise UnsupportedError(f"it needs a key in {place}")
        header = str(scheme.get("name")) if scheme.get("type") == "apiKey" else "Authorization"
        yield Parameter(
            name=header,
            description=_line(scheme.get("description")) or f"Key for {name}.",
            required=not anonymous,
            format="password",
            location=_PLACES.get(place, "header"),
        )


def _parameter(
    schemas: Schemas, name: str, holder: Schema, given: object, *, required: bool, location: Location
) -> Parameter:
    schema = schemas.shape(given)
    example = first_example(holder)
    limits = {"minimum": _number(schema.get("minimum")), "maximum": _number(schema.get("maximum"))}
    text = schema.get("format")
    return Parameter(
        name=name,
        type=type_of(schema),
        description=_line(holder.get("description")) or _line(schema.get("description")),
        required=required,
        default=schema.get("default"),
        example=schemas.example(given) if example is None and _has_example(schemas, given) else example,
        enum=tuple(items(schema.get("enum"))),
        format=text if isinstance(text, str) else None,
        location=location,
        **limits,
    )


def _has_example(schemas: Schemas, given: object) -> bool:
    """Whether the schema itself gives an example: defaults and enums are kept apart, as what they are."""
    return first_example(schemas.follow(given)) is not None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _line(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
