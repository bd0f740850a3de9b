"""The body of an OpenAPI operation as parameters: fields of an object, or the body whole."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

from domain.tool import Parameter, Style
from graph.importers.openapi_nodes import Schema, items, mapping, type_of
from graph.importers.openapi_parameters import parameter
from graph.importers.openapi_schema import Schemas, UnsupportedError
from graph.importers.openapi_values import value_schema

BodyType = Literal["json", "form", "multipart", "text"]
MAX_FIELDS = 300
_USUAL = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "multipart": "multipart/form-data",
    "text": "text/plain",
}


@dataclass(frozen=True, slots=True)
class Body:
    """``media``: the media type, where it is not the usual one of its form."""

    type: BodyType = "json"
    media: str = ""
    parameters: tuple[Parameter, ...] = ()


def body_of(schemas: Schemas, operation: Schema) -> Body:
    """The body of an operation, in the first of JSON, form, multipart and text that it may have.

    An object's fields are parameters each; those that are only read are left out. A list, a free object or alternatives are one
    parameter ``body``.

    Raises:
        UnsupportedError: a required body can be written in none of these forms.
        DanglingReferenceError: a reference leads nowhere.
    """
    body = schemas.follow(operation.get("requestBody"))
    content = mapping(body.get("content"))
    required = body.get("required") is True
    chosen = next(
        (
            (form, media)
            for form in ("json", "form", "multipart", "text")
            for media in content
            if _form(media, content[media], schemas) == form
        ),
        None,
    )
    if chosen is None:
        if required:
            found = ", ".join(content)[:200] or "unknown"
            raise UnsupportedError(f"it needs a body of type {found}, and only JSON, forms and text are sent")
        return Body()
    form, media = cast(BodyType, chosen[0]), chosen[1]
    made = tuple(_parameters(schemas, form, mapping(content[media]), body, required=required))
    plain = media.partition(";")[0].strip().lower()
    return Body(form, "" if plain == _USUAL[form] or "*" in plain else plain, made)


def _form(media: str, holder: object, schemas: Schemas) -> str:
    plain = media.partition(";")[0].strip().lower()
    if plain.endswith(("/json", "+json")) or plain in ("*/*", "application/*"):
        return "json"
    for form in ("form", "multipart"):
        if plain == _USUAL[form]:
            return form
    if plain.startswith("text/") and not plain.endswith("xml"):
        return "text" if type_of(schemas.merged(mapping(holder).get("schema"))) == "string" else ""
    return ""


def _parameters(
    schemas: Schemas, form: BodyType, media: Schema, body: Schema, *, required: bool
) -> Iterator[Parameter]:
    given = media.get("schema")
    schema = schemas.merged(given)
    fields = mapping(schema.get("properties"))
    alternatives = [
        one for key in ("anyOf", "oneOf") for one in items(schema.get(key)) if schemas.follow(one).get("type") != "null"
    ]
    if form in ("form", "multipart") or (fields and not alternatives and type_of(schema) == "object"):
        if len(fields) > MAX_FIELDS:
            raise UnsupportedError(f"its body has {len(fields)} fields, more than {MAX_FIELDS}")
        if not fields and required:
            raise UnsupportedError(f"its body is a {form} whose fields are not told")
        yield from _fields(schemas, form, media, schema, required=required)
        return
    whole = parameter(schemas, "body", {**media, **body}, given, required=required, location="body")
    if given is None or not (schema.get("type") or whole.json_schema):
        whole = whole.model_copy(update={"type": "object", "json_schema": value_schema(schemas, given) or "{}"})
    yield whole.model_copy(update={"whole_body": True})


def _fields(schemas: Schemas, form: BodyType, media: Schema, schema: Schema, *, required: bool) -> Iterator[Parameter]:
    needed = {name for name in items(schema.get("required")) if isinstance(name, str)} if required else set[str]()
    examples = mapping(media.get("example"))
    for name, given in mapping(schema.get("properties")).items():
        field = schemas.follow(given)
        if field.get("readOnly") is True or not name:
            continue
        style, explode = (
            _style(mapping(mapping(media.get("encoding")).get(name)), field) if form == "form" else (None, None)
        )
        holder = {"example": examples[name], **field} if name in examples else field
        yield parameter(
            schemas, name, holder, given, required=name in needed, location="body", style=style, explode=explode
        )


def _style(encoding: Schema, field: Schema) -> tuple[Style, bool | None]:
    """How a field of a form is written: as its encoding says, lists repeated, objects as JSON."""
    said: Any = encoding.get("style")
    if said in ("form", "spaceDelimited", "pipeDelimited", "deepObject"):
        return cast(Style, said), encoding.get("explode", said == "form") is True
    if type_of(field) == "object" or "json" in str(encoding.get("contentType")):
        return "json", None
    return "form", encoding.get("explode", True) is True
