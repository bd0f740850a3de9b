"""Inputs of OpenAPI operations: parameters in path, query, header and cookie, each under a unique name."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from domain.tool import Location, Parameter, ParameterType, Style
from graph.importers.openapi_nodes import Schema, contradicts, first_example, items, mapping, type_of
from graph.importers.openapi_schema import Schemas, UnsupportedError
from graph.importers.openapi_values import is_nullable, value_schema
from graph.json_schema import sound_value

MAX_NAME = 200
MAX_DESCRIPTION = 1_000
_PLACES: dict[str, Location] = {"path": "path", "query": "query", "header": "header", "cookie": "cookie"}
_STYLES: dict[Location, tuple[Style, ...]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
    "body": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
}
"""The styles of each location, the default first."""
_IGNORED_HEADERS = frozenset({"accept", "content-type", "authorization"})  # OpenAPI says that these are no parameters


def declared(schemas: Schemas, path_item: Schema, operation: Schema) -> list[Schema]:
    """Return the parameter objects of an operation; its own override those of its path."""
    given = [schemas.follow(one) for one in (*items(path_item.get("parameters")), *items(operation.get("parameters")))]
    return list({(str(one.get("name")), str(one.get("in"))): one for one in given}.values())


def placed_parameters(
    schemas: Schemas, given: Iterable[Schema], route: str, left_out: Callable[[str], None]
) -> Iterator[Parameter]:
    """Yield the parameters outside the body, including those that only the route names.

    The last argument is called with the reason for each optional parameter that is left out.

    Raises:
        UnsupportedError: a required parameter cannot be sent.
        DanglingReferenceError: a reference leads nowhere.
    """
    places = re.findall(r"\{([^{}]+)\}", route)
    for one in given:
        name, place = one.get("name"), str(one.get("in"))
        if place == "header" and str(name).lower() in _IGNORED_HEADERS:
            continue
        absent = place == "path" and isinstance(name, str) and name not in places
        needed = not absent and (one.get("required") is True or place == "path")
        try:
            if absent:
                raise UnsupportedError(f"{str(name)[:MAX_NAME]} is no part of the path; write {{…}} where it belongs")
            yield _placed(schemas, _usable_name(one), one, _place(one), required=needed)
        except UnsupportedError as error:
            if needed:
                raise
            left_out(str(error))
    spoken = {str(one.get("name")) for one in given if one.get("in") == "path"}
    for name in dict.fromkeys(places):
        if name not in spoken:
            yield Parameter(name=name, required=True, location="path")


def _usable_name(one: Schema) -> str:
    name = one.get("name")
    if isinstance(name, str) and 0 < len(name) <= MAX_NAME:
        return name
    where = f" in {one['in']}" if one.get("in") in tuple(_PLACES) else ""
    raise UnsupportedError(
        f"a parameter{where} has no 'name' that can be used; give it one of 1 to {MAX_NAME} characters"
    )


def _place(one: Schema) -> Location:
    said = one.get("in")
    if isinstance(said, str) and said in _PLACES:
        return _PLACES[said]
    where = f"stands in {str(said)[:40]}, where no value can be sent" if said else "does not say where it is sent"
    raise UnsupportedError(f"{_usable_name(one)} {where}; give it an 'in' of {', '.join(_PLACES)}")


def _placed(schemas: Schemas, name: str, one: Schema, location: Location, *, required: bool) -> Parameter:
    content = mapping(one.get("content"))
    if content:
        media, holder = next(iter(content.items()))
        described = one if first_example(one) is not None else {**mapping(holder), **one}
        if "json" not in media and media.partition(";")[0].strip().lower() not in ("*/*", "text/plain"):
            raise UnsupportedError(f"{name} is written as {media[:100]}, and only JSON and plain text are")
        style = "json" if "json" in media else None
        schema: object = mapping(holder).get("schema")
        return parameter(schemas, name, described, schema, required=required, location=location, style=style)
    style = one.get("style", _STYLES[location][0])
    if style not in _STYLES[location]:
        raise UnsupportedError(f"{name} has the style {str(style)[:40]}, which values in {location} do not have")
    explode = one.get("explode", style == "form")
    made = parameter(
        schemas,
        name,
        one,
        one.get("schema"),
        required=required,
        location=location,
        style=style,
        explode=explode is True,
    )
    reserved = location == "query" and one.get("allowReserved") is True
    return made.model_copy(update={"allow_reserved": True}) if reserved else made


def parameter(
    schemas: Schemas,
    name: str,
    holder: Schema,
    given: object,
    *,
    required: bool,
    location: Location,
    style: Style | None = None,
    explode: bool | None = None,
) -> Parameter:
    """Build one parameter. ``holder`` describes it; the argument after it is the schema of its value.

    Style and explode are kept for structured values only.
    """
    schema = schemas.shape(given, 1)
    example = first_example(holder)
    if example is None:
        example = first_example(schemas.merged(given))
    elif contradicts(schema, example):
        given = {**mapping(given), "example": example}
        schema = schemas.shape(given, 1)
    kind: ParameterType = "string" if given is None else type_of(schema)  # without any schema it is text
    exact = value_schema(schemas, given)
    styled = style in ("label", "matrix", "json") or kind in ("array", "object", "any") or exact is not None
    text = schema.get("format")
    return Parameter(
        name=name,
        type=kind,
        description=_description(holder, schema),
        required=required,
        default=sound_value(schema.get("default")),
        example=sound_value(example),
        enum=tuple(value for value in items(sound_value(schema.get("enum"))) if value is not None),
        format=text[:100] if isinstance(text, str) else None,
        minimum=_number(schema.get("minimum")),
        maximum=_number(schema.get("maximum")),
        location=location,
        nullable=is_nullable(schemas, given) or (kind == "any" and exact is None and not schema.get("enum")),
        json_schema=exact,
        style=style if styled else None,
        explode=explode if styled else None,
    )


def unique(parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Return the parameters under unique names, the required ones first: the second ``id``, of the body, becomes ``body_id``."""
    found: dict[str, Parameter] = {}
    places: set[tuple[str, str]] = set()
    for one in sorted(
        parameters, key=lambda parameter: parameter.location != "path"
    ):  # path parameters keep their names, because the URL has placeholders by them
        place = (one.location, one.name.lower() if one.location == "header" else one.name)
        if place in places:
            continue
        places.add(place)
        name = one.name
        while name in found:
            name = f"{one.location}_{name}"
        found[name] = one if name == one.name else one.model_copy(update={"name": name, "sent_as": one.name})
    return tuple(sorted(found.values(), key=lambda parameter: not parameter.required))


def _description(holder: Schema, schema: Schema) -> str:
    text = line(holder.get("description")) or line(schema.get("description"))
    outdated = holder.get("deprecated") is True or schema.get("deprecated") is True
    return f"Deprecated. {text}".strip() if outdated else text


def _number(value: Any) -> float | None:
    """Return a bound as a float; None for NaN and for numbers beyond floating point."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or abs(value) > 1e300 or value != value:
        return None
    return float(value)


def line(value: object, limit: int = MAX_DESCRIPTION) -> str:
    """Return text as one line, cut at the limit; empty for other values."""
    return " ".join(value.split())[:limit] if isinstance(value, str) else ""
