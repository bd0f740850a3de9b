"""Request bodies of OpenAPI operations as parameters: the fields of an object, or the whole body."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from domain.tool import BodyType, Parameter, Style
from graph.importers.openapi_nodes import Schema, first_example, items, mapping, type_of
from graph.importers.openapi_parameters import line, parameter
from graph.importers.openapi_schema import DanglingReferenceError, Schemas, UnsupportedError

MAX_FIELDS = 300
ADDITIONAL_FIELDS = "additional_fields"
_USUAL = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "multipart": "multipart/form-data",
    "text": "text/plain",
    "binary": "application/octet-stream",
}
"""The forms in order of preference, with their media types."""
_WRITES = frozenset({"post", "put", "patch"})
_MEDIA = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+*-]+|\*/\*", re.IGNORECASE)
_TEXT = re.compile(
    r"text/.+|.+/.+\+(xml|yaml)"
    r"|application/(xml|xml-dtd|(x-)?yaml|(x-)?ndjson|(x-)?jsonl|(x-)?jsonlines|javascript|ecmascript|graphql|sql|toml|sparql-\w+)"
)
_LINES = re.compile(r"application/(x-)?(ndjson|jsonl|jsonlines)")
_JSON_PATCH = "application/json-patch+json"
_MERGE_PATCHES = ("application/merge-patch+json", "application/strategic-merge-patch+json")
_OPERATIONS: Schema = {
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
class Body:
    """Request body of an operation."""

    type: BodyType = "json"
    media: str = ""
    """The media type, if it is not the usual one of the form."""
    required: bool = False
    parameters: tuple[Parameter, ...] = ()


def body_of(schemas: Schemas, operation: Schema, method: str, left_out: Callable[[str], None]) -> Body:
    """Build the body of an operation, in the first of JSON, form, multipart, text and binary that it offers.

    Each field of an object is one parameter, except fields that are only read. A list, a free object, alternatives, a text or a
    file is one parameter ``body``. The last argument is called with the reason if an optional body cannot be sent.

    Raises:
        UnsupportedError: a body without which the operation has no purpose cannot be written in any of these forms.
        DanglingReferenceError: a reference leads nowhere.
    """
    body = schemas.follow(operation.get("requestBody"))
    content = mapping(body.get("content"))
    required = body.get("required") is True
    # By OpenAPI a body is optional if the document does not say, but no operation that writes a whole file or text is meant without one.
    silent = "required" not in body and method.lower() in _WRITES
    if not content and not required:
        return Body()
    try:
        form, media = _choose(schemas, content)
        return _Reading(schemas, form, media, mapping(content[media]), body, required=required, silent=silent).read()
    except DanglingReferenceError:
        raise
    except UnsupportedError as error:
        if required or silent:
            raise
        left_out(str(error))
        return Body()


def _choose(schemas: Schemas, content: Schema) -> tuple[BodyType, str]:
    """Return the form of the body, and the media type that it is sent as."""
    ranked: list[tuple[int, int, int, str, BodyType]] = []
    for number, (media, holder) in enumerate(content.items()):
        schema = schemas.merged(mapping(holder).get("schema"))
        form = _find_form(_plain(media), schema)
        if form is not None:
            rank = _rank_json(_plain(media), schema) if form == "json" else 0
            ranked.append((list(_USUAL).index(form), rank, number, media, form))
    if not ranked:
        found = ", ".join(content)[:200]
        what = f"of the type {found}, which is no media type" if found else "whose media type is not given"
        raise UnsupportedError(f"it has a body {what}; write one under 'content', application/json say")
    *_, media, form = min(ranked)
    return form, media


def _plain(media: str) -> str:
    return media.partition(";")[0].strip().lower()


def _find_form(plain: str, schema: Schema) -> BodyType | None:
    if plain == _USUAL["form"]:
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
        fits = type_of(schema) == "object" or not ({"type", "items"} & schema.keys())
        return 2 + _MERGE_PATCHES.index(plain) if fits else 5
    if plain == _JSON_PATCH:
        return 4
    return 6 if "*" in plain else 1


def _is_file(schema: Schema) -> bool:
    """Return whether the value is the content of a file.

    In OpenAPI 3.0 its format says so, in 3.1 a media type without an encoding (OpenAPI 3.1, 4.8.14).
    """
    if type_of(schema) != "string":
        return False
    return schema.get("format") == "binary" or ("contentMediaType" in schema and "contentEncoding" not in schema)


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reader of one body in the chosen form."""

    schemas: Schemas
    form: BodyType
    media: str
    holder: Schema
    body: Schema
    required: bool
    silent: bool
    """The document does not say whether the body is required, and the method usually writes."""

    def read(self) -> Body:
        given = self.holder.get("schema")
        schema = self.schemas.merged(given)
        if self.form in ("text", "binary"):
            made = (self._read_text(schema),)
        elif self.form == "json" and _plain(self.media) == _JSON_PATCH:
            made = (self._read_whole(given if type_of(schema) == "array" else _OPERATIONS),)
        elif self._has_fields(schema):
            made = tuple(self._read_fields(schema))
        else:
            made = (self._read_whole(given) if self.form == "json" else self._read_form(given, schema),)
        needed = self.required or (self.silent and any(one.format == "binary" for one in made))
        return Body(self.form, self._media(), needed, made)

    def _media(self) -> str:
        plain = _plain(self.media)
        # For a file a range says which types are accepted; any other body is sent as the usual type.
        usual = plain == _USUAL[self.form] or ("*" in plain and self.form != "binary")
        return "" if usual else plain

    def _has_fields(self, schema: Schema) -> bool:
        fields = mapping(schema.get("properties"))
        if self.form == "json":
            variants = (*items(schema.get("anyOf")), *items(schema.get("oneOf")))
            alternatives = [one for one in variants if self.schemas.follow(one).get("type") != "null"]
            if alternatives or type_of(schema) != "object":
                return False
        if len(fields) > MAX_FIELDS:
            raise UnsupportedError(f"its body has {len(fields)} fields, more than {MAX_FIELDS}")
        return bool(fields)

    def _read_whole(self, given: object) -> Parameter:
        whole = self._read_body({} if given is None else given, required=self.required)
        return whole.model_copy(update={"whole_body": True})

    def _read_text(self, schema: Schema) -> Parameter:
        """Return the body as one value: a file, or a text in a notation that the caller writes."""
        plain = _plain(self.media)
        written = type_of(schema) == "string" or (_LINES.fullmatch(plain) and type_of(schema) == "array")
        given: object = {"type": "string", "description": schema.get("description")}
        if self.form == "binary":
            given = {"type": "string", "format": "binary", "description": schema.get("description")}
        elif written:
            given = self.holder.get("schema")
        whole = self._read_body(given, required=self.required or self.silent)
        told = "" if written or self.form == "binary" else _describe_text(plain, schema)
        return whole.model_copy(update={"whole_body": True, "description": f"{whole.description} {told}".strip()})

    def _read_body(self, given: object, *, required: bool) -> Parameter:
        holder = {**self.holder, **self.body}
        return parameter(self.schemas, "body", holder, given, required=required, location="body")

    def _read_form(self, given: object, schema: Schema) -> Parameter:
        """Return a form whose fields the document does not name, as an object whose entries are the fields.

        If the document declares a list, each field may hold the list or one of its items.
        """
        item = items_of(schema)
        more = schema.get("additionalProperties", {}) if item is None else {"anyOf": [given, item]}
        whole = self._read_body({"type": "object", "additionalProperties": more}, required=self.required)
        text = whole.description or "The fields of the form by their names, which its document does not tell."
        read = whole.model_copy(update={"spread": True, "description": text})
        read = self._as_part(read, mapping(more) if item is None else schema, {}) if self.form == "multipart" else read
        return read.model_copy(update={"required": True}) if self.silent and read.format == "binary" else read

    def _read_fields(self, schema: Schema) -> Iterator[Parameter]:
        fields = mapping(schema.get("properties"))
        needed = {name for name in items(schema.get("required")) if isinstance(name, str)}
        sent = {
            name: given
            for name, given in fields.items()
            if name and self.schemas.follow(given).get("readOnly") is not True
        }
        made = [self._read_field(name, given) for name, given in sent.items()]
        # Required fields must be given only if the body must be; that of an upload must, whether or not the document says so.
        asked = self.required or (self.silent and any(one.format == "binary" for one in made))
        alone = len(made) == 1 and made[0].format == "binary"
        for one in made:
            yield one.model_copy(update={"required": asked and (alone or one.name in needed)})
        if schema.get("additionalProperties") is False:
            return
        yield from self._read_exemplified(schema, fields)
        if "additionalProperties" in schema:
            yield self._read_further(fields, schema["additionalProperties"])

    def _read_field(self, name: str, given: object) -> Parameter:
        field = self.schemas.follow(given)
        examples = mapping(self.holder.get("example"))
        encoding = mapping(mapping(self.holder.get("encoding")).get(name))
        style, explode = _style(encoding, field, self.form)
        described = {"example": examples[name], **field} if name in examples else field
        read = parameter(
            self.schemas, name, described, given, required=False, location="body", style=style, explode=explode
        )
        if self.form == "multipart":
            return self._as_part(read, field, encoding)
        reserved = self.form == "form" and encoding.get("allowReserved") is True
        return read.model_copy(update={"allow_reserved": True}) if reserved else read

    def _read_exemplified(self, schema: Schema, fields: Schema) -> Iterator[Parameter]:
        """Yield the fields that examples of the body have and its (open) schema lacks."""
        named = mapping(self.holder.get("examples")).values()
        examples = [
            self.holder.get("example"),
            *(self.schemas.follow(one).get("value") for one in named),
            first_example(schema),
        ]
        known = {name.casefold() for name in fields}
        for name, value in (pair for example in examples for pair in mapping(example).items()):
            if name and name.casefold() not in known and len(known) < MAX_FIELDS:
                known.add(name.casefold())
                holder = {"description": "Known by an example only.", "example": value}
                read = parameter(self.schemas, name, holder, {}, required=False, location="body")
                yield self._as_part(read, {}, {}) if self.form == "multipart" else read

    def _read_further(self, fields: Schema, more: object) -> Parameter:
        """Build the object parameter whose entries are sent beside the named fields."""
        name = ADDITIONAL_FIELDS
        while name in fields:
            name = f"further_{name}"
        schema: Schema = {"type": "object", "additionalProperties": more}
        described = {
            "description": line(mapping(more).get("description"))
            or "Further fields by their names, sent beside the others."
        }
        read = parameter(self.schemas, name, described, schema, required=False, location="body")
        read = read.model_copy(update={"spread": True})
        return self._as_part(read, mapping(more), {}) if self.form == "multipart" else read

    def _as_part(self, read: Parameter, field: Schema, encoding: Schema) -> Parameter:
        """Return a field as a part of a multipart body: as a file or not, and with its media type."""
        schema = self._find_content(field)
        said = encoding.get("contentType")
        media = said.partition(",")[0].strip() if isinstance(said, str) else ""
        update: Schema = {"content_type": media or line(schema.get("contentMediaType"))[:200]}
        if _is_file(schema):
            update["format"] = "binary"
        elif schema.get("contentEncoding") == "base64" and type_of(schema) == "string":
            update["format"] = "base64"
        return read.model_copy(update=update)

    def _find_content(self, field: Schema) -> Schema:
        """Return the schema of one part, without the list or the null around it."""
        schema = self.schemas.merged(field)
        for _ in range(3):
            variants = (*items(schema.get("anyOf")), *items(schema.get("oneOf")))
            inner = [one for one in map(self.schemas.merged, variants) if one.get("type") != "null"]
            if inner and "type" not in schema:
                schema = inner[0]
            elif (item := items_of(schema)) is not None:
                schema = self.schemas.merged(item)
            else:
                break
        return schema


def items_of(schema: Schema) -> object | None:
    """Return the schema of a list's items; None if the schema is not a list."""
    return cast(object, schema.get("items") or {}) if type_of(schema) == "array" else None


def _describe_text(plain: str, schema: Schema) -> str:
    names = ", ".join(sorted(mapping(schema.get("properties"))))[:300]
    if plain.endswith("xml"):
        root = line(mapping(schema.get("xml")).get("name"))[:100]
        inside = f" with the elements {names}" if names else ""
        return f"Sent as it is: XML{f', root element {root}' if root else ''}{inside}."
    return f"Sent as it is, as {plain}{f', of the fields {names}' if names else ''}."


def _style(encoding: Schema, field: Schema, form: BodyType) -> tuple[Style | None, bool | None]:
    """Return how a field of a form is written: as its encoding says; by default lists are repeated, objects are JSON."""
    said: Any = encoding.get("style")
    if said in ("form", "spaceDelimited", "pipeDelimited", "deepObject"):
        return cast(Style, said), encoding.get("explode", said == "form") is True
    if form != "form":
        return None, None
    if type_of(field) == "object" or "json" in str(encoding.get("contentType")):
        return "json", None
    return "form", encoding.get("explode", True) is True
