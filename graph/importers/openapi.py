"""Import of OpenAPI documents (3.0 to 3.2, Swagger 2.0; JSON or YAML): one tool document for each operation.

This module reads the operations, their names and their addresses; ``openapi_parameters``, ``openapi_bodies``,
``openapi_responses`` and ``openapi_security`` read their parts.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.parse import urljoin

from domain.errors import BrokenInputError
from domain.side_effect import MCP, DeclaredEffect
from domain.tool import Credential, Parameter, ToolDoc, ToolId, make_tool_id
from domain.tool_source import Operation
from graph.function_names import build_function_name
from graph.importers.openapi_bodies import build_body
from graph.importers.openapi_files import read_document, to_openapi
from graph.importers.openapi_nodes import Schema, get_duplicate_keys, to_list, to_mapping
from graph.importers.openapi_parameters import (
    build_placed_parameters,
    collect_parameter_objects,
    make_unique,
    to_single_line,
)
from graph.importers.openapi_responses import read_response
from graph.importers.openapi_schema import DanglingReferenceError, SchemaResolver, UnsupportedError
from graph.importers.openapi_security import build_authorization, collect_credentials
from graph.importers.openapi_servers import build_url
from graph.importers.records import RecordError, describe_defect
from graph.importers.side_effects import find_fixed_effect, infer_read_only, parse_side_effect

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_NON_METHOD_KEYS = ("$ref", "summary", "description", "servers", "parameters", "additionalOperations")
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


def _raise_error(error: BrokenInputError) -> NoReturn:
    raise error


def read_openapi(
    path: Path,
    report: Report = _raise_error,
    *,
    server: str = "",
    address: str = "",
    document: Schema | None = None,
    place: tuple[str, str] | None = None,
    is_selected: Callable[[Operation], bool] | None = None,
) -> Iterator[ToolDoc]:
    """Yield the operations of a document in order.

    The category is the first tag, the tool set the extension ``x-toolset``, the api the ``operationId``. The document's
    title and ``METHOD /path`` replace what is missing, and are added where a name is taken.

    Args:
        path: The file. If ``document`` is given, it is used in messages only.
        report: Called with the reason for each operation that is not imported; by default the first one raises.
        server: The address that relative servers are relative to. Without any, ``url`` stays empty (known by document
            only).
        address: The address that the document was fetched from, used in place of ``server``. A document without servers
            is called at the root of its host.
        document: The parsed content of ``path``.
        place: Category and tool set of all operations, whatever the document says.
        is_selected: Return true for the operations to import; all are by default.

    Raises:
        BrokenInputError: the file is not an OpenAPI document, or holds no operation.
    """
    content = read_document(path) if document is None else to_openapi(document, path)
    if address and not server:
        server = address if to_list(content.get("servers")) else urljoin(address, "/")
    schemas = SchemaResolver(content)
    used_ids: set[ToolId] = set()
    empty = True

    def report_problem(error: BrokenInputError) -> None:
        nonlocal empty
        empty = False
        report(error)

    for route, method, path_item, operation in _iterate_operations(schemas, content, path, report_problem):
        empty = False
        if is_selected is not None and not is_selected(_describe_operation(route, method, operation)):
            continue
        importer = _OperationImporter(content, schemas, route, method, path_item, operation, server, path.name, place)
        try:
            doc, problems = importer.build_tool(used_ids)
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
        used_ids.add(doc.id)
        for problem in dict.fromkeys(problems):
            report(BrokenInputError(f"{method.upper()} {route} is imported without {problem}", file=str(path)))
        yield doc
    if empty:
        raise BrokenInputError(
            "holds no operation (its 'paths' is missing, or empty); describe at least one in it", file=str(path)
        )


def _iterate_operations(
    schemas: SchemaResolver, document: Schema, path: Path, report: Report
) -> Iterator[tuple[str, str, Schema, Schema]]:
    """Yield path, method, path item and resolved operation of each operation that can be read; report the others."""
    for route, path_value in to_mapping(document.get("paths")).items():
        if route.startswith("x-"):
            continue
        try:
            path_item = schemas.follow(path_value)
        except UnsupportedError as error:
            report(BrokenInputError(f"{route} is not imported: {error}", file=str(path)))
            continue
        if not isinstance(path_value, dict):
            report(BrokenInputError(f"{route} is not imported: {_NO_OBJECT}", file=str(path)))
        for key in _find_misspelt_methods(path_item):
            report(BrokenInputError(f"{key[:40].upper()} {route} is not imported: {_NO_METHOD}", file=str(path)))
        additional = to_mapping(path_item.get("additionalOperations"))
        for key in (
            *get_duplicate_keys(path_item),
            *(method for method in METHODS if method in path_item and method in additional),
        ):
            why = "is given twice, and is imported as it is given last; take one of the two out"
            report(BrokenInputError(f"{key[:40].upper()} {route} {why}", file=str(path)))
        standard = {method: path_item[method] for method in METHODS if method in path_item}
        for method, operation in {**standard, **additional}.items():
            try:
                if not _is_method_token(method):
                    raise UnsupportedError(_NO_METHOD)
                if to_mapping(operation) != operation:
                    raise UnsupportedError(_NO_OBJECT)
                yield route, method, path_item, schemas.follow(operation)
            except UnsupportedError as error:
                report(BrokenInputError(f"{method[:40].upper()} {route} is not imported: {error}", file=str(path)))


def _describe_operation(route: str, method: str, operation: Schema) -> Operation:
    """Describe an operation as the document lists it, without reading its schemas."""
    tags = (to_single_line(tag, MAX_NAME) for tag in to_list(operation.get("tags"))[:MAX_TAGS])
    return Operation(
        method=method.upper(),
        path=route,
        name=to_single_line(operation.get("operationId"), MAX_NAME),
        tags=tuple(dict.fromkeys(tag for tag in tags if tag)),
        summary=to_single_line(operation.get("summary") or operation.get("description"), MAX_SUMMARY),
        deprecated=operation.get("deprecated") is True,
    )


def _find_misspelt_methods(path_item: Schema) -> list[str]:
    """Return the keys of a path item that look like operations but are not."""
    known_keys = {*METHODS, *_NON_METHOD_KEYS}
    return [
        key for key, one in path_item.items() if key not in known_keys and key[:2] != "x-" and isinstance(one, dict)
    ]


def _is_method_token(method: str) -> bool:
    """Return whether a key can be sent as an HTTP method, and is not the one that marks MCP tools."""
    return method.isascii() and method.isalpha() and len(method) <= 20 and method.upper() != MCP


@dataclass(frozen=True, slots=True)
class _OperationImporter:
    """Builds the tool document of one operation.

    ``place`` is the category and tool set to use in place of those of the document.
    """

    document: Schema
    schemas: SchemaResolver
    route: str
    method: str
    path_item: Schema
    operation: Schema
    server: str
    file_name: str
    place: tuple[str, str] | None = None

    def build_tool(self, used_ids: set[ToolId]) -> tuple[ToolDoc, list[str]]:
        """Build the tool document, under an id that is not taken.

        Returns:
            The document, and a description of each part that could not be read.

        Raises:
            UnsupportedError: the operation cannot be called.
        """
        operation, info = self.operation, to_mapping(self.document.get("info"))
        category, toolset = self.place or self._read_place(info)
        api = self._choose_api_name(category, toolset, used_ids)
        problems: list[str] = []
        if any(not isinstance(one.get("parameters", []), list) for one in (self.path_item, operation)):
            problems.append("its inputs: 'parameters' is no list; write it as one")
        parameter_objects = collect_parameter_objects(self.schemas, self.path_item, operation)
        body = build_body(self.schemas, operation, self.method, lambda why: problems.append(f"its body: {why}"))
        credentials = self._collect_credentials(parameter_objects, toolset)
        credential_keys = {(one.place, one.name.lower()) for one in credentials}
        placed = build_placed_parameters(
            self.schemas, parameter_objects, self.route, lambda why: problems.append(f"an input: {why}")
        )
        inputs = (*placed, *body.parameters)
        schema, example, problem = self._read_response()
        if problem:
            problems.append(problem)
        doc = ToolDoc(
            id=make_tool_id(category, toolset, api),
            category=category,
            toolset=toolset,
            api=api,
            function=build_function_name(api, toolset),
            method=self.method.upper(),
            url=build_url(self.server, self.route, operation, self.path_item, self.document),
            description=self._build_description(),
            toolset_description=to_single_line(operation.get("x-toolset-description"), MAX_DESCRIPTION)
            or to_single_line(info.get("description"), MAX_DESCRIPTION),
            parameters=make_unique(one for one in inputs if (one.location, one.name.lower()) not in credential_keys),
            response_schema=schema,
            example_response=example,
            source=f"openapi:{self.file_name}",
            credentials=credentials,
            idempotent=operation.get("x-idempotent") is True,
            body_type=body.type,
            body_media=body.media,
            body_required=body.required,
            side_effect=self._read_side_effect(body.parameters),
        )
        return doc, problems

    def _read_place(self, info: Schema) -> tuple[str, str]:
        """Return category and tool set as the document declares them."""
        title = to_single_line(info.get("title"), MAX_NAME) or "API"
        tags = (to_single_line(tag, MAX_NAME) for tag in to_list(self.operation.get("tags")))
        return next((tag for tag in tags if tag), title), to_single_line(
            self.operation.get("x-toolset"), MAX_NAME
        ) or title

    def _read_side_effect(self, parameters: Sequence[Parameter]) -> DeclaredEffect:
        """Return the declared side effect, else that of a fixed GraphQL document in the body."""
        read_only = infer_read_only(self.operation, "x-")
        if read_only is None and self.operation.get("x-openai-isConsequential") is True:
            read_only = False
        try:
            side_effect = parse_side_effect("x-side-effect", self.operation.get("x-side-effect"), read_only)
        except RecordError as error:
            raise UnsupportedError(str(error)) from error
        return side_effect or find_fixed_effect(parameters)

    def _choose_api_name(self, category: str, toolset: str, used_ids: set[ToolId]) -> str:
        """Return a free name for the operation; a digest tells apart long names that are equal once cut."""
        full_place = f"{self.method.upper()} {self.route}"
        place, name = full_place[:MAX_NAME], to_single_line(self.operation.get("operationId"), MAX_NAME)
        digest = hashlib.sha256(full_place.encode()).hexdigest()[:8]
        for api in (name, f"{name} ({place})" if name else place, f"{(name or place)[: MAX_NAME - 9]} {digest}"):
            if api and make_tool_id(category, toolset, api) not in used_ids:
                return api
        raise UnsupportedError(f"another operation is already called {name or place}")

    def _collect_credentials(self, parameter_objects: list[Schema], toolset: str) -> tuple[Credential, ...]:
        """Return the credentials, also one declared as header parameter ``Authorization`` instead of ``security``."""
        credentials = collect_credentials(self.schemas, self.document, self.operation, toolset)
        authorization_headers = [
            one
            for one in parameter_objects
            if one.get("in") == "header" and str(one.get("name")).lower() == "authorization"
        ]
        if authorization_headers and not any(
            one.place == "header" and one.name.lower() == "authorization" for one in credentials
        ):
            return (
                *credentials,
                build_authorization(toolset, required=authorization_headers[0].get("required") is True),
            )
        return credentials

    def _read_response(self) -> tuple[str | None, str | None, str]:
        """Return schema, example and problem of the response. A problem is no error, since a call needs neither."""
        try:
            return *read_response(self.schemas, self.operation), ""
        except DanglingReferenceError as error:
            return None, None, f"its response: {error}"

    def _build_description(self) -> str:
        text = to_single_line(self.operation.get("description"), MAX_DESCRIPTION) or to_single_line(
            self.operation.get("summary")
        )
        return f"Deprecated. {text}".strip() if self.operation.get("deprecated") is True else text
