"""Inputs of OpenAPI operations: parameters in path, query, header and cookie, each under a unique name."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from domain.tool import Location, Parameter, ParameterType, Style
from graph.importers.openapi_nodes import Schema, contradicts, find_example, find_type, to_list, to_mapping
from graph.importers.openapi_schema import SchemaResolver, UnsupportedError
from graph.importers.openapi_values import build_value_schema, is_nullable
from graph.json_schema import sanitize_value

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


def collect_parameter_objects(schemas: SchemaResolver, path_item: Schema, operation: Schema) -> list[Schema]:
    """Return the parameter objects of an operation; its own override those of its path."""
    parameter_objects = [
        schemas.follow(one) for one in (*to_list(path_item.get("parameters")), *to_list(operation.get("parameters")))
    ]
    return list({(str(one.get("name")), str(one.get("in"))): one for one in parameter_objects}.values())


def build_placed_parameters(
    schemas: SchemaResolver, parameter_objects: Iterable[Schema], route: str, report_omitted: Callable[[str], None]
) -> Iterator[Parameter]:
    """Yield the parameters outside the body, including those that only the route names.

    ``report_omitted`` is called with the reason for each optional parameter that is left out.

    Raises:
        UnsupportedError: a required parameter cannot be sent.
        DanglingReferenceError: a reference leads nowhere.
    """
    places = re.findall(r"\{([^{}]+)\}", route)
    for one in parameter_objects:
        name, place = one.get("name"), str(one.get("in"))
        if place == "header" and str(name).lower() in _IGNORED_HEADERS:
            continue
        absent = place == "path" and isinstance(name, str) and name not in places
        needed = not absent and (one.get("required") is True or place == "path")
        try:
            if absent:
                raise UnsupportedError(f"{str(name)[:MAX_NAME]} is no part of the path; write {{…}} where it belongs")
            yield _build_placed(schemas, _require_name(one), one, _require_location(one), required=needed)
        except UnsupportedError as error:
            if needed:
                raise
            report_omitted(str(error))
    described_names = {str(one.get("name")) for one in parameter_objects if one.get("in") == "path"}
    for name in dict.fromkeys(places):
        if name not in described_names:
            yield Parameter(name=name, required=True, location="path")


def _require_name(parameter_object: Schema) -> str:
    name = parameter_object.get("name")
    if isinstance(name, str) and 0 < len(name) <= MAX_NAME:
        return name
    where = f" in {parameter_object['in']}" if parameter_object.get("in") in tuple(_PLACES) else ""
    raise UnsupportedError(
        f"a parameter{where} has no 'name' that can be used; give it one of 1 to {MAX_NAME} characters"
    )


def _require_location(parameter_object: Schema) -> Location:
    location = parameter_object.get("in")
    if isinstance(location, str) and location in _PLACES:
        return _PLACES[location]
    problem = (
        f"stands in {str(location)[:40]}, where no value can be sent" if location else "does not say where it is sent"
    )
    raise UnsupportedError(f"{_require_name(parameter_object)} {problem}; give it an 'in' of {', '.join(_PLACES)}")


def _build_placed(
    schemas: SchemaResolver, name: str, parameter_object: Schema, location: Location, *, required: bool
) -> Parameter:
    content = to_mapping(parameter_object.get("content"))
    if content:
        media, holder = next(iter(content.items()))
        described = (
            parameter_object
            if find_example(parameter_object) is not None
            else {**to_mapping(holder), **parameter_object}
        )
        if "json" not in media and media.partition(";")[0].strip().lower() not in ("*/*", "text/plain"):
            raise UnsupportedError(f"{name} is written as {media[:100]}, and only JSON and plain text are")
        style = "json" if "json" in media else None
        schema: object = to_mapping(holder).get("schema")
        return build_parameter(schemas, name, described, schema, required=required, location=location, style=style)
    style = parameter_object.get("style", _STYLES[location][0])
    if style not in _STYLES[location]:
        raise UnsupportedError(f"{name} has the style {str(style)[:40]}, which values in {location} do not have")
    explode = parameter_object.get("explode", style == "form")
    built = build_parameter(
        schemas,
        name,
        parameter_object,
        parameter_object.get("schema"),
        required=required,
        location=location,
        style=style,
        explode=explode is True,
    )
    reserved = location == "query" and parameter_object.get("allowReserved") is True
    return built.model_copy(update={"allow_reserved": True}) if reserved else built


def build_parameter(
    schemas: SchemaResolver,
    name: str,
    holder: Schema,
    raw_schema: object,
    *,
    required: bool,
    location: Location,
    style: Style | None = None,
    explode: bool | None = None,
) -> Parameter:
    """Build one parameter.

    Args:
        schemas: Resolver of the document's references.
        name: Name of the parameter.
        holder: Object with its description and examples.
        raw_schema: Schema of its value as the document has it; None for plain text.
        required: Whether a call must give it.
        location: Where it is sent.
        style: OpenAPI's serialisation style; kept for structured values only, as is ``explode``.
        explode: OpenAPI's ``explode``.
    """
    schema = schemas.build_shape(raw_schema, 1)
    example = find_example(holder)
    if example is None:
        example = find_example(schemas.merge_all_of(raw_schema))
    elif contradicts(schema, example):
        raw_schema = {**to_mapping(raw_schema), "example": example}
        schema = schemas.build_shape(raw_schema, 1)
    kind: ParameterType = "string" if raw_schema is None else find_type(schema)  # without any schema it is text
    exact_schema = build_value_schema(schemas, raw_schema)
    has_style = style in ("label", "matrix", "json") or kind in ("array", "object", "any") or exact_schema is not None
    format_name = schema.get("format")
    return Parameter(
        name=name,
        type=kind,
        description=_build_description(holder, schema),
        required=required,
        default=sanitize_value(schema.get("default")),
        example=sanitize_value(example),
        enum=tuple(value for value in to_list(sanitize_value(schema.get("enum"))) if value is not None),
        format=format_name[:100] if isinstance(format_name, str) else None,
        minimum=_to_bound(schema.get("minimum")),
        maximum=_to_bound(schema.get("maximum")),
        location=location,
        nullable=is_nullable(schemas, raw_schema)
        or (kind == "any" and exact_schema is None and not schema.get("enum")),
        json_schema=exact_schema,
        style=style if has_style else None,
        explode=explode if has_style else None,
    )


def make_unique(parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Return the parameters under unique names, required ones first; the second ``id`` becomes ``body_id``."""
    by_name: dict[str, Parameter] = {}
    seen_places: set[tuple[str, str]] = set()
    for one in sorted(
        parameters, key=lambda parameter: parameter.location != "path"
    ):  # path parameters keep their names, because the URL has placeholders by them
        place = (one.location, one.name.lower() if one.location == "header" else one.name)
        if place in seen_places:
            continue
        seen_places.add(place)
        name = one.name
        while name in by_name:
            name = f"{one.location}_{name}"
        by_name[name] = one if name == one.name else one.model_copy(update={"name": name, "sent_as": one.name})
    return tuple(sorted(by_name.values(), key=lambda parameter: not parameter.required))


def _build_description(holder: Schema, schema: Schema) -> str:
    text = to_single_line(holder.get("description")) or to_single_line(schema.get("description"))
    is_deprecated = holder.get("deprecated") is True or schema.get("deprecated") is True
    return f"Deprecated. {text}".strip() if is_deprecated else text


def _to_bound(value: Any) -> float | None:
    """Return a bound as a float; None for NaN and for numbers beyond floating point."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or abs(value) > 1e300 or value != value:
        return None
    return float(value)


def to_single_line(value: object, limit: int = MAX_DESCRIPTION) -> str:
    """Return text as one line, cut at the limit; empty for other values."""
    return " ".join(value.split())[:limit] if isinstance(value, str) else ""
