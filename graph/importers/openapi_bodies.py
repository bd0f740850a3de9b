"""Request bodies of OpenAPI operations as parameters: the fields of an object, or the whole body."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from domain.tool import BodyType, Parameter, Style
from graph.importers.openapi_nodes import Schema, find_example, find_type, to_list, to_mapping
from graph.importers.openapi_parameters import build_parameter, to_single_line
from graph.importers.openapi_schema import DanglingReferenceError, SchemaResolver, UnsupportedError

MAX_FIELDS = 300
ADDITIONAL_FIELDS = "additional_fields"
_USUAL_MEDIA = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "multipart": "multipart/form-data",
    "text": "text/plain",
    "binary": "application/octet-stream",
}
"""The forms of a body in order of preference, each with its usual media type."""
_WRITES = frozenset({"post", "put", "patch"})
_MEDIA = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+*-]+|\*/\*", re.IGNORECASE)
_TEXT = re.compile(
    r"text/.+|.+/.+\+(xml|yaml)"
    r"|application/(xml|xml-dtd|(x-)?yaml|(x-)?ndjson|(x-)?jsonl|(x-)?jsonlines|javascript|ecmascript|graphql|sql|toml|sparql-\w+)"
)
_LINES = re.compile(r"application/(x-)?(ndjson|jsonl|jsonlines)")
_JSON_PATCH = "application/json-patch+json"
_MERGE_PATCHES = ("application/merge-patch+json", "application/strategic-merge-patch+json")
_JSON_PATCH_SCHEMA: Schema = {
    "type": "array",
    "description": "Operations of a JSON Patch (RFC 6902), applied in their order.",
    "items": {
        "type": "object",
        "required": ["op", "path"],
        "properties": {
            "op": {"enum": ["add", "remove", "replace", "move", "copy", "test"]},
            "path": {"type": "string"},
            "from": {"type": "string"},
            "value": {},
        },
    },
}


@dataclass(frozen=True, slots=True)
class RequestBody:
    """Request body of an operation."""

    type: BodyType = "json"
    media: str = ""
    """The media type, if it is not the usual one of the form."""
    required: bool = False
    parameters: tuple[Parameter, ...] = ()


def build_body(
    schemas: SchemaResolver, operation: Schema, method: str, report_omitted: Callable[[str], None]
) -> RequestBody:
    """Build the body of an operation, in the first of JSON, form, multipart, text and binary that it offers.

    Each field of an object becomes one parameter, except read-only ones. A list, a free object, alternatives, a text or
    a file become one parameter ``body``. ``report_omitted`` is called with the reason if an optional body cannot be
    sent and is left out.

    Raises:
        UnsupportedError: a body without which the operation has no purpose cannot be written in any of these forms.
        DanglingReferenceError: a reference leads nowhere.
    """
    body = schemas.follow(operation.get("requestBody"))
    content = to_mapping(body.get("content"))
    required = body.get("required") is True
    # A body is optional by default in OpenAPI, but an operation that writes a file or text makes no sense without one.
    unstated = "required" not in body and method.lower() in _WRITES
    if not content and not required:
        return RequestBody()
    try:
        form, media = _choose_form(schemas, content)
        return _BodyReader(
            schemas, form, media, to_mapping(content[media]), body, required=required, unstated=unstated
        ).read()
    except DanglingReferenceError:
        raise
    except UnsupportedError as error:
        if required or unstated:
            raise
        report_omitted(str(error))
        return RequestBody()


def _choose_form(schemas: SchemaResolver, content: Schema) -> tuple[BodyType, str]:
    """Return the form of the body, and the media type that it is sent as."""
    ranked: list[tuple[int, int, int, str, BodyType]] = []
    for number, (media, holder) in enumerate(content.items()):
        schema = schemas.merge_all_of(to_mapping(holder).get("schema"))
        form = _find_form(_strip_media_parameters(media), schema)
        if form is not None:
            rank = _rank_json(_strip_media_parameters(media), schema) if form == "json" else 0
            ranked.append((list(_USUAL_MEDIA).index(form), rank, number, media, form))
    if not ranked:
        media_types = ", ".join(content)[:200]
        what = f"of the type {media_types}, which is no media type" if media_types else "whose media type is not given"
        raise UnsupportedError(f"it has a body {what}; write one under 'content', application/json say")
    *_, media, form = min(ranked)
    return form, media


def _strip_media_parameters(media: str) -> str:
    return media.partition(";")[0].strip().lower()


def _find_form(plain: str, schema: Schema) -> BodyType | None:
    if plain == _USUAL_MEDIA["form"]:
        return "form"
    if plain.startswith("multipart/"):
        return "multipart"
    if _is_file(schema):
        return "binary"
    if plain.endswith(("/json", "+json")) or plain in ("*/*", "application/*"):
        return "json"
    if _TEXT.fullmatch(plain):
        return "text"
    return "binary" if _MEDIA.fullmatch(plain) else None


def _rank_json(plain: str, schema: Schema) -> int:
    """Rank JSON media types: plain JSON, other types, merge patches of objects, operation lists, wildcards."""
    if plain == "application/json":
        return 0
    if plain in _MERGE_PATCHES:
        fits = find_type(schema) == "object" or not ({"type", "items"} & schema.keys())
        return 2 + _MERGE_PATCHES.index(plain) if fits else 5
    if plain == _JSON_PATCH:
        return 4
    return 6 if "*" in plain else 1


def _is_file(schema: Schema) -> bool:
    """Return whether the value is the content of a file.

    In OpenAPI 3.0 its format says so, in 3.1 a media type without an encoding (OpenAPI 3.1, 4.8.14).
    """
    if find_type(schema) != "string":
        return False
    return schema.get("format") == "binary" or ("contentMediaType" in schema and "contentEncoding" not in schema)


@dataclass(frozen=True, slots=True)
class _BodyReader:
    """Reader of one body in the chosen form."""

    schemas: SchemaResolver
    form: BodyType
    media: str
    holder: Schema
    body: Schema
    required: bool
    unstated: bool
    """The document does not say whether the body is required, and the method usually writes."""

    def read(self) -> RequestBody:
        raw_schema = self.holder.get("schema")
        schema = self.schemas.merge_all_of(raw_schema)
        if self.form in ("text", "binary"):
            parameters = (self._read_text(schema),)
        elif self.form == "json" and _strip_media_parameters(self.media) == _JSON_PATCH:
            parameters = (self._read_whole(raw_schema if find_type(schema) == "array" else _JSON_PATCH_SCHEMA),)
        elif self._has_fields(schema):
            parameters = tuple(self._read_fields(schema))
        else:
            parameters = (self._read_whole(raw_schema) if self.form == "json" else self._read_form(raw_schema, schema),)
        required = self.required or (self.unstated and any(one.format == "binary" for one in parameters))
        return RequestBody(self.form, self._get_media_type(), required, parameters)

    def _get_media_type(self) -> str:
        plain = _strip_media_parameters(self.media)
        # A wildcard on a file says which types are accepted, so it is kept. Any other body is sent as the usual type.
        usual = plain == _USUAL_MEDIA[self.form] or ("*" in plain and self.form != "binary")
        return "" if usual else plain

    def _has_fields(self, schema: Schema) -> bool:
        fields = to_mapping(schema.get("properties"))
        if self.form == "json":
            variants = (*to_list(schema.get("anyOf")), *to_list(schema.get("oneOf")))
            alternatives = [one for one in variants if self.schemas.follow(one).get("type") != "null"]
            if alternatives or find_type(schema) != "object":
                return False
        if len(fields) > MAX_FIELDS:
            raise UnsupportedError(f"its body has {len(fields)} fields, more than {MAX_FIELDS}")
        return bool(fields)

    def _read_whole(self, raw_schema: object) -> Parameter:
        body = self._read_body({} if raw_schema is None else raw_schema, required=self.required)
        return body.model_copy(update={"whole_body": True})

    def _read_text(self, schema: Schema) -> Parameter:
        """Return the body as one value: a file, or a text in a notation that the caller writes."""
        plain = _strip_media_parameters(self.media)
        sent_as_declared = find_type(schema) == "string" or (_LINES.fullmatch(plain) and find_type(schema) == "array")
        raw_schema: object = {"type": "string", "description": schema.get("description")}
        if self.form == "binary":
            raw_schema = {"type": "string", "format": "binary", "description": schema.get("description")}
        elif sent_as_declared:
            raw_schema = self.holder.get("schema")
        body = self._read_body(raw_schema, required=self.required or self.unstated)
        note = "" if sent_as_declared or self.form == "binary" else _describe_text(plain, schema)
        return body.model_copy(update={"whole_body": True, "description": f"{body.description} {note}".strip()})

    def _read_body(self, raw_schema: object, *, required: bool) -> Parameter:
        holder = {**self.holder, **self.body}
        return build_parameter(self.schemas, "body", holder, raw_schema, required=required, location="body")

    def _read_form(self, raw_schema: object, schema: Schema) -> Parameter:
        """Return a form whose fields the document does not name, as an object whose entries are the fields.

        If the document declares a list, each field may hold the list or one of its items.
        """
        item = get_item_schema(schema)
        field_schema = schema.get("additionalProperties", {}) if item is None else {"anyOf": [raw_schema, item]}
        body = self._read_body({"type": "object", "additionalProperties": field_schema}, required=self.required)
        text = body.description or "The fields of the form by their names, which its document does not tell."
        form_parameter = body.model_copy(update={"spread": True, "description": text})
        form_parameter = (
            self._to_part(form_parameter, to_mapping(field_schema) if item is None else schema, {})
            if self.form == "multipart"
            else form_parameter
        )
        return (
            form_parameter.model_copy(update={"required": True})
            if self.unstated and form_parameter.format == "binary"
            else form_parameter
        )

    def _read_fields(self, schema: Schema) -> Iterator[Parameter]:
        fields = to_mapping(schema.get("properties"))
        required_names = {name for name in to_list(schema.get("required")) if isinstance(name, str)}
        sendable = {
            name: given
            for name, given in fields.items()
            if name and self.schemas.follow(given).get("readOnly") is not True
        }
        parameters = [self._read_field(name, given) for name, given in sendable.items()]
        # The fields of an optional body are optional, too. An upload makes no sense without its file, so its body
        # counts as required unless the document says otherwise.
        enforces_required = self.required or (self.unstated and any(one.format == "binary" for one in parameters))
        is_single_file = len(parameters) == 1 and parameters[0].format == "binary"
        for one in parameters:
            yield one.model_copy(
                update={"required": enforces_required and (is_single_file or one.name in required_names)}
            )
        if schema.get("additionalProperties") is False:
            return
        yield from self._read_exemplified(schema, fields)
        if "additionalProperties" in schema:
            yield self._read_additional(fields, schema["additionalProperties"])

    def _read_field(self, name: str, raw_schema: object) -> Parameter:
        field = self.schemas.follow(raw_schema)
        examples = to_mapping(self.holder.get("example"))
        encoding = to_mapping(to_mapping(self.holder.get("encoding")).get(name))
        style, explode = _choose_style(encoding, field, self.form)
        holder = {"example": examples[name], **field} if name in examples else field
        field_parameter = build_parameter(
            self.schemas, name, holder, raw_schema, required=False, location="body", style=style, explode=explode
        )
        if self.form == "multipart":
            return self._to_part(field_parameter, field, encoding)
        reserved = self.form == "form" and encoding.get("allowReserved") is True
        return field_parameter.model_copy(update={"allow_reserved": True}) if reserved else field_parameter

    def _read_exemplified(self, schema: Schema, fields: Schema) -> Iterator[Parameter]:
        """Yield the fields that examples of the body have and its (open) schema lacks."""
        named_examples = to_mapping(self.holder.get("examples")).values()
        examples = [
            self.holder.get("example"),
            *(self.schemas.follow(one).get("value") for one in named_examples),
            find_example(schema),
        ]
        known_names = {name.casefold() for name in fields}
        for name, value in (pair for example in examples for pair in to_mapping(example).items()):
            if name and name.casefold() not in known_names and len(known_names) < MAX_FIELDS:
                known_names.add(name.casefold())
                holder = {"description": "Known by an example only.", "example": value}
                field_parameter = build_parameter(self.schemas, name, holder, {}, required=False, location="body")
                yield self._to_part(field_parameter, {}, {}) if self.form == "multipart" else field_parameter

    def _read_additional(self, fields: Schema, additional: object) -> Parameter:
        """Build the object parameter whose entries are sent beside the named fields."""
        name = ADDITIONAL_FIELDS
        while name in fields:
            name = f"further_{name}"
        schema: Schema = {"type": "object", "additionalProperties": additional}
        described = {
            "description": to_single_line(to_mapping(additional).get("description"))
            or "Further fields by their names, sent beside the others."
        }
        further_parameter = build_parameter(self.schemas, name, described, schema, required=False, location="body")
        further_parameter = further_parameter.model_copy(update={"spread": True})
        return (
            self._to_part(further_parameter, to_mapping(additional), {})
            if self.form == "multipart"
            else further_parameter
        )

    def _to_part(self, field_parameter: Parameter, field: Schema, encoding: Schema) -> Parameter:
        """Return a field as a part of a multipart body: as a file or not, and with its media type."""
        schema = self._find_content(field)
        content_types = encoding.get("contentType")
        media = content_types.partition(",")[0].strip() if isinstance(content_types, str) else ""
        update: Schema = {"content_type": media or to_single_line(schema.get("contentMediaType"))[:200]}
        if _is_file(schema):
            update["format"] = "binary"
        elif schema.get("contentEncoding") == "base64" and find_type(schema) == "string":
            update["format"] = "base64"
        return field_parameter.model_copy(update=update)

    def _find_content(self, field: Schema) -> Schema:
        """Return the schema of one part, without the list or the null around it."""
        schema = self.schemas.merge_all_of(field)
        for _ in range(3):
            variants = (*to_list(schema.get("anyOf")), *to_list(schema.get("oneOf")))
            inner = [one for one in map(self.schemas.merge_all_of, variants) if one.get("type") != "null"]
            if inner and "type" not in schema:
                schema = inner[0]
            elif (item := get_item_schema(schema)) is not None:
                schema = self.schemas.merge_all_of(item)
            else:
                break
        return schema


def get_item_schema(schema: Schema) -> object | None:
    """Return the schema of a list's items; None if the schema is not a list."""
    return cast(object, schema.get("items") or {}) if find_type(schema) == "array" else None


def _describe_text(plain: str, schema: Schema) -> str:
    names = ", ".join(sorted(to_mapping(schema.get("properties"))))[:300]
    if plain.endswith("xml"):
        root = to_single_line(to_mapping(schema.get("xml")).get("name"))[:100]
        inside = f" with the elements {names}" if names else ""
        return f"Sent as it is: XML{f', root element {root}' if root else ''}{inside}."
    return f"Sent as it is, as {plain}{f', of the fields {names}' if names else ''}."


def _choose_style(encoding: Schema, field: Schema, form: BodyType) -> tuple[Style | None, bool | None]:
    """Return style and ``explode`` of a form field; by default lists are repeated and objects are JSON."""
    style: Any = encoding.get("style")
    if style in ("form", "spaceDelimited", "pipeDelimited", "deepObject"):
        return cast(Style, style), encoding.get("explode", style == "form") is True
    if form != "form":
        return None, None
    if find_type(field) == "object" or "json" in str(encoding.get("contentType")):
        return "json", None
    return "form", encoding.get("explode", True) is True
