"""Import of OpenAPI documents (3.0 to 3.2, Swagger 2.0; JSON or YAML): one tool document for each operation."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.parse import urljoin

from domain.errors import BrokenInputError
from domain.operations import Operation
from domain.side_effect import MCP, Said
from domain.tool import Credential, Parameter, ToolDoc, ToolId, tool_id
from graph.function_names import function_name
from graph.importers.graphql import fixed_effect
from graph.importers.openapi_bodies import body_of
from graph.importers.openapi_files import as_openapi, read_document
from graph.importers.openapi_nodes import Schema, given_twice, items, mapping
from graph.importers.openapi_parameters import declared, line, placed_parameters, unique
from graph.importers.openapi_responses import response_of
from graph.importers.openapi_schema import DanglingReferenceError, Schemas, UnsupportedError
from graph.importers.openapi_security import authorization, credentials_of
from graph.importers.openapi_servers import url_of
from graph.importers.records import RecordError, describe_defect
from graph.importers.side_effects import of_hints, said_of

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_BESIDE_METHODS = ("$ref", "summary", "description", "servers", "parameters", "additionalOperations")
"""Keys of a path item that are not operations."""
_NO_OBJECT = "not an object; describe there what is called, or take it out"
_NO_METHOD = "no method of HTTP; correct how it is written"
MAX_NAME = 200
MAX_TAGS = 20
"""Tags listed for one operation."""
MAX_SUMMARY = 200
MAX_DESCRIPTION = 4_000
"""Characters. A tool set's description is repeated in each of its tools."""

Report = Callable[[BrokenInputError], None]
"""Called with each operation, or part of one, that is not imported."""


def _stop(error: BrokenInputError) -> NoReturn:
    raise error


def read_openapi(
    path: Path,
    report: Report = _stop,
    *,
    server: str = "",
    address: str = "",
    document: Schema | None = None,
    place: tuple[str, str] | None = None,
    chosen: Callable[[Operation], bool] | None = None,
) -> Iterator[ToolDoc]:
    """Yield the operations of a document in order.

    The category is the first tag, the tool set the extension ``x-toolset``, the api the ``operationId``. The document's title and
    ``METHOD /path`` replace what is missing, and are added where a name is taken.

    Args:
        path: The file; for messages only, if ``document`` is given.
        report: Called with the reason for each operation that is not imported; by default the first one raises.
        server: The address that relative servers are relative to. Without any, ``url`` stays empty (known by document only).
        address: The address that the document was fetched from, used in place of ``server``. A document without servers is
            called at the root of its host.
        document: The parsed content of ``path``.
        place: Category and tool set of all operations, whatever the document says.
        chosen: Return true for the operations to import; all are by default.

    Raises:
        BrokenInputError: the file is not an OpenAPI document, or holds no operation.
    """
    content = read_document(path) if document is None else as_openapi(document, path)
    if address and not server:
        server = address if items(content.get("servers")) else urljoin(address, "/")
    schemas = Schemas(content)
    taken: set[ToolId] = set()
    empty = True

    def told(error: BrokenInputError) -> None:
        nonlocal empty
        empty = False
        report(error)

    for route, method, path_item, operation in _operations(schemas, content, path, told):
        empty = False
        if chosen is not None and not chosen(_listed(route, method, operation)):
            continue
        importing = _Importing(content, schemas, route, method, path_item, operation, server, path.name, place)
        try:
            doc, problems = importing.tool(taken)
        except UnsupportedError as error:
            report(BrokenInputError(f"{method.upper()} {route} is not imported: {error}", file=str(path)))
            continue
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # a defect of ours must not take the document's other operations along
            report(
                BrokenInputError(f"{method.upper()} {route} is not imported: {describe_defect(error)}", file=str(path))
            )
            continue
        taken.add(doc.id)
        for problem in dict.fromkeys(problems):
            report(BrokenInputError(f"{method.upper()} {route} is imported without {problem}", file=str(path)))
        yield doc
    if empty:
        raise BrokenInputError(
            "holds no operation (its 'paths' is missing, or empty); describe at least one in it", file=str(path)
        )


def _operations(
    schemas: Schemas, document: Schema, path: Path, report: Report
) -> Iterator[tuple[str, str, Schema, Schema]]:
    """Yield path, method, path item and resolved operation of each operation that can be read; report the others."""
    for route, given in mapping(document.get("paths")).items():
        if route.startswith("x-"):
            continue
        try:
            path_item = schemas.follow(given)
        except UnsupportedError as error:
            report(BrokenInputError(f"{route} is not imported: {error}", file=str(path)))
            continue
        if not isinstance(given, dict):
            report(BrokenInputError(f"{route} is not imported: {_NO_OBJECT}", file=str(path)))
        for key in _misspelt(path_item):
            report(BrokenInputError(f"{key[:40].upper()} {route} is not imported: {_NO_METHOD}", file=str(path)))
        further = mapping(path_item.get("additionalOperations"))
        for key in (
            *given_twice(path_item),
            *(method for method in METHODS if method in path_item and method in further),
        ):
            why = "is given twice, and is imported as it is given last; take one of the two out"
            report(BrokenInputError(f"{key[:40].upper()} {route} {why}", file=str(path)))
        own = {method: path_item[method] for method in METHODS if method in path_item}
        for method, operation in {**own, **further}.items():
            try:
                if not _token(method):
                    raise UnsupportedError(_NO_METHOD)
                if mapping(operation) != operation:
                    raise UnsupportedError(_NO_OBJECT)
                yield route, method, path_item, schemas.follow(operation)
            except UnsupportedError as error:
                report(BrokenInputError(f"{method[:40].upper()} {route} is not imported: {error}", file=str(path)))


def _listed(route: str, method: str, operation: Schema) -> Operation:
    """Describe an operation as the document lists it, without reading its schemas."""
    tags = (line(tag, MAX_NAME) for tag in items(operation.get("tags"))[:MAX_TAGS])
    return Operation(
        method=method.upper(),
        path=route,
        name=line(operation.get("operationId"), MAX_NAME),
        tags=tuple(dict.fromkeys(tag for tag in tags if tag)),
        summary=line(operation.get("summary") or operation.get("description"), MAX_SUMMARY),
        deprecated=operation.get("deprecated") is True,
    )


def _misspelt(path_item: Schema) -> list[str]:
    """Return the keys of a path item that look like operations but are not."""
    known = {*METHODS, *_BESIDE_METHODS}
    return [key for key, one in path_item.items() if key not in known and key[:2] != "x-" and isinstance(one, dict)]


def _token(method: str) -> bool:
    """Return whether a key can be sent as an HTTP method, and is not the one that marks MCP tools."""
    return method.isascii() and method.isalpha() and len(method) <= 20 and method.upper() != MCP


@dataclass(frozen=True, slots=True)
class _Importing:
    """One operation with its position in the document."""

    document: Schema
    schemas: Schemas
    route: str
    method: str
    path_item: Schema
    operation: Schema
    server: str
    file_name: str
    place: tuple[str, str] | None = None

    def tool(self, taken: set[ToolId]) -> tuple[ToolDoc, list[str]]:
        """Build the tool document, under an id that is not taken.

        Returns:
            The document, and a description of each part that could not be read.

        Raises:
            UnsupportedError: the operation cannot be called.
        """
        operation, info = self.operation, mapping(self.document.get("info"))
        category, toolset = self.place or self._said_place(info)
        api = self._api(category, toolset, taken)
        problems: list[str] = []
        if any(not isinstance(one.get("parameters", []), list) for one in (self.path_item, operation)):
            problems.append("its inputs: 'parameters' is no list; write it as one")
        given = declared(self.schemas, self.path_item, operation)
        body = body_of(self.schemas, operation, self.method, lambda why: problems.append(f"its body: {why}"))
        credentials = self._credentials(given, toolset)
        keys = {(one.place, one.name.lower()) for one in credentials}
        placed = placed_parameters(self.schemas, given, self.route, lambda why: problems.append(f"an input: {why}"))
        inputs = (*placed, *body.parameters)
        schema, example, problem = self._response()
        if problem:
            problems.append(problem)
        doc = ToolDoc(
            id=tool_id(category, toolset, api),
            category=category,
            toolset=toolset,
            api=api,
            function=function_name(api, toolset),
            method=self.method.upper(),
            url=url_of(self.server, self.route, operation, self.path_item, self.document),
            description=self._description(),
            toolset_description=line(operation.get("x-toolset-description"), MAX_DESCRIPTION)
            or line(info.get("description"), MAX_DESCRIPTION),
            parameters=unique(one for one in inputs if (one.location, one.name.lower()) not in keys),
            response_schema=schema,
            example_response=example,
            source=f"openapi:{self.file_name}",
            credentials=credentials,
            idempotent=operation.get("x-idempotent") is True,
            body_type=body.type,
            body_media=body.media,
            body_required=body.required,
            side_effect=self._side_effect(body.parameters),
        )
        return doc, problems

    def _said_place(self, info: Schema) -> tuple[str, str]:
        """Return category and tool set as the document declares them."""
        title = line(info.get("title"), MAX_NAME) or "API"
        tags = (line(tag, MAX_NAME) for tag in items(self.operation.get("tags")))
        return next((tag for tag in tags if tag), title), line(self.operation.get("x-toolset"), MAX_NAME) or title

    def _side_effect(self, parameters: Sequence[Parameter]) -> Said:
        """Return the declared side effect, else that of a fixed GraphQL document in the body."""
        read_only = of_hints(self.operation, "x-")
        if read_only is None and self.operation.get("x-openai-isConsequential") is True:
            read_only = False
        try:
            said = said_of("x-side-effect", self.operation.get("x-side-effect"), read_only)
        except RecordError as error:
            raise UnsupportedError(str(error)) from error
        return said or fixed_effect(parameters)

    def _api(self, category: str, toolset: str, taken: set[ToolId]) -> str:
        """Return a name for the operation that is not taken. A digest tells long names apart that are equal once cut."""
        whole_place = f"{self.method.upper()} {self.route}"
        place, name = whole_place[:MAX_NAME], line(self.operation.get("operationId"), MAX_NAME)
        digest = hashlib.sha256(whole_place.encode()).hexdigest()[:8]
        for api in (name, f"{name} ({place})" if name else place, f"{(name or place)[: MAX_NAME - 9]} {digest}"):
            if api and tool_id(category, toolset, api) not in taken:
                return api
        raise UnsupportedError(f"another operation is already called {name or place}")

    def _credentials(self, given: list[Schema], toolset: str) -> tuple[Credential, ...]:
        """Return the credentials, including a header parameter ``Authorization``, which documents use in place of ``security``."""
        found = credentials_of(self.schemas, self.document, self.operation, toolset)
        told = [one for one in given if one.get("in") == "header" and str(one.get("name")).lower() == "authorization"]
        if told and not any(one.place == "header" and one.name.lower() == "authorization" for one in found):
            return (*found, authorization(toolset, required=told[0].get("required") is True))
        return found

    def _response(self) -> tuple[str | None, str | None, str]:
        """Return schema, example and problem of the response. A problem is no error, since a call needs neither."""
        try:
            return *response_of(self.schemas, self.operation), ""
        except DanglingReferenceError as error:
            return None, None, f"its response: {error}"

    def _description(self) -> str:
        text = line(self.operation.get("description"), MAX_DESCRIPTION) or line(self.operation.get("summary"))
        return f"Deprecated. {text}".strip() if self.operation.get("deprecated") is True else text
