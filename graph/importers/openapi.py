"""OpenAPI 3.x documents (JSON) to tool documents, an operation each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urljoin

import orjson

from domain.errors import BrokenInputError
from domain.tool import ToolDoc, ToolId, tool_id
from graph.importers.openapi_parameters import UnsupportedError, parameters_of
from graph.importers.openapi_schema import DanglingReferenceError, Schema, Schemas, items, mapping
from graph.names import function_name

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
MAX_BYTES = 64 * 1024 * 1024
MAX_SCHEMA = 20_000
"""Characters of a response schema that are kept; a longer one is cut at a smaller depth."""

Report = Callable[[BrokenInputError], None]


def _stop(error: BrokenInputError) -> NoReturn:
    raise error


def read_openapi(path: Path, report: Report = _stop, *, server: str = "") -> Iterator[ToolDoc]:
    """The operations of a document, in its order.

    Category is the first tag, tool set the extension ``x-toolset``, api the ``operationId``; the document's title and
    ``METHOD /path`` stand in for what is not given. ``server`` is the address that relative servers are relative to;
    without any, ``url`` stays empty (known by document only).

    An operation that cannot be imported is told to ``report`` and left out; the default raises at the first.

    Raises:
        BrokenInputError: the file is no OpenAPI 3 document at all.
    """
    document = _load(path)
    seen: set[ToolId] = set()
    for route, path_item, method, operation in _operations(document, path, report):
        source = _Source(document, Schemas(document), route, method, path_item, operation)
        try:
            doc = _tool(source, server, path.name)
        except (UnsupportedError, DanglingReferenceError) as error:
            report(BrokenInputError(f"{method.upper()} {route} is not imported: {error}", file=str(path)))
            continue
        if doc.id in seen:
            problem = f"{method.upper()} {route} is not imported: another operation is already called {doc.id}"
            report(BrokenInputError(problem, file=str(path)))
            continue
        seen.add(doc.id)
        yield doc


@dataclass(frozen=True, slots=True)
class _Source:
    """An operation and where it stands."""

    document: Schema
    schemas: Schemas
    route: str
    method: str
    path_item: Schema
    operation: Schema


def _load(path: Path) -> Schema:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BrokenInputError(f"larger than {MAX_BYTES >> 20} MB; is it an OpenAPI document?", file=str(path))
        document: object = orjson.loads(path.read_bytes())
    except OSError as error:
        raise BrokenInputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except orjson.JSONDecodeError as error:
        hint = "; YAML is not read, convert it to JSON" if path.suffix in (".yaml", ".yml") else ""
        raise BrokenInputError(f"is not JSON ({error}){hint}", file=str(path)) from error
    version = mapping(document).get("openapi")
    if not isinstance(version, str) or not version.startswith("3."):
        found = f"version {version or mapping(document).get('swagger')}" if mapping(document) else "no JSON object"
        raise BrokenInputError(f"is no OpenAPI 3 document ({found}); convert it to OpenAPI 3", file=str(path))
    return mapping(document)


def _operations(document: Schema, path: Path, report: Report) -> Iterator[tuple[str, Schema, str, Schema]]:
    schemas = Schemas(document)
    for route, given in mapping(document.get("paths")).items():
        try:
            path_item = schemas.follow(given)
        except DanglingReferenceError as error:
            report(BrokenInputError(f"{route} is not imported: {error}", file=str(path)))
            continue
        for method in METHODS:
            if method not in path_item:
                continue
            if isinstance(path_item[method], dict):
                yield route, path_item, method, mapping(path_item[method])
            else:
                report(BrokenInputError(f"{method.upper()} {route} is not imported: not an object", file=str(path)))


def _tool(source: _Source, server: str, file_name: str) -> ToolDoc:
    operation = source.operation
    info = mapping(source.document.get("info"))
    title = _text(info.get("title")) or "API"
    category = next((_text(tag) for tag in items(operation.get("tags")) if _text(tag)), title)
    toolset = _text(operation.get("x-toolset")) or title
    api = _text(operation.get("operationId")) or f"{source.method.upper()} {source.route}"
    schema, example = _response(source)
    return ToolDoc(
        id=tool_id(category, toolset, api),
        category=category,
        toolset=toolset,
        api=api,
        function=function_name(api, toolset),
        method=source.method.upper(),
        url=_url(source, server),
        description=_text(operation.get("description")) or _text(operation.get("summary")),
        toolset_description=_text(operation.get("x-toolset-description")) or _text(info.get("description")),
        parameters=parameters_of(source.schemas, source.document, source.route, source.path_item, operation),
        response_schema=schema,
        example_response=example,
        source=f"openapi:{file_name}",
    )


def _text(value: object) -> str:
    """Text in one line; empty where it is none."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def _url(source: _Source, server: str) -> str:
    """Server and path; variables of the server take their defaults."""
    for holder in (source.operation, source.path_item, source.document):
        for entry in items(holder.get("servers")):
            base = _text(mapping(entry).get("url"))
            for name, variable in mapping(mapping(entry).get("variables")).items():
                base = base.replace(f"{{{name}}}", _text(mapping(variable).get("default")))
            base = urljoin(server, base) if server else base
            if base.startswith(("http://", "https://")):
                return base.rstrip("/") + source.route
    return server.rstrip("/") + source.route if server else ""


def _response(source: _Source) -> tuple[str | None, str | None]:
    """Schema and example of the success, as JSON texts."""
    responses = mapping(source.operation.get("responses"))
    codes = sorted(code for code in responses if code[:1] == "2") or [code for code in responses if code == "default"]
    for code in codes:
        for kind, media in mapping(source.schemas.follow(responses[code]).get("content")).items():
            if "json" in kind or kind == "*/*":
                return _schema_text(source.schemas, mapping(media)), _example_text(source.schemas, mapping(media))
    return None, None


def _schema_text(schemas: Schemas, media: Schema) -> str | None:
    if "schema" not in media:
        return None
    for depth in (8, 5, 3, 2):
        text = _json(schemas.shape(media["schema"], depth))
        if len(text) <= MAX_SCHEMA:
            return text
    return _json(schemas.shape(media["schema"], 1))[:MAX_SCHEMA]


def _example_text(schemas: Schemas, media: Schema) -> str | None:
    named = next((schemas.follow(one).get("value") for one in mapping(media.get("examples")).values()), None)
    given = media.get("example", named)
    made = schemas.example(media.get("schema")) if given is None else given
    return None if made is None else _json(made)[:MAX_SCHEMA]


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
