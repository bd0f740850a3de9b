"""Conversion of Swagger 2.0 documents to OpenAPI 3. Referenced parts stay in place, so that references still resolve."""

from typing import Any

from graph.importers.openapi_nodes import Schema, items, mapping, remember_given_twice
from graph.importers.openapi_schema import Schemas, UnsupportedError

_COLLECTIONS = {
    "csv": "form",
    "ssv": "spaceDelimited",
    "pipes": "pipeDelimited",
    "multi": "form",
    "tsv": "tabDelimited",
}
"""Styles by ``collectionFormat``. OpenAPI 3 has none for tabs, so that one is rejected by its name."""
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
_NO_SCHEMA = frozenset(
    {"name", "in", "description", "required", "collectionFormat", "allowEmptyValue", "examples", "x-example"}
)


def as_openapi_3(document: Schema) -> Schema:
    """Convert servers, parameters, bodies, responses and security schemes of a document to OpenAPI 3.

    A part that cannot be converted is left unchanged, for the importer to report with its operation.
    """
    schemas = Schemas(document)
    schemes = mapping(document.get("securityDefinitions"))
    return {
        **document,
        "openapi": "3.0.3",
        "servers": _servers(document, items(document.get("schemes"))),
        "components": {"securitySchemes": {name: _scheme(schemas, one) for name, one in schemes.items()}},
        "paths": {route: _path_item(schemas, document, one) for route, one in mapping(document.get("paths")).items()},
    }


def _servers(document: Schema, schemes: list[Any]) -> list[Schema]:
    host, base = document.get("host"), document.get("basePath")
    path = base if isinstance(base, str) else ""
    if not isinstance(host, str) or not host:
        return [{"url": path or "/"}]
    chosen = next((scheme for scheme in ("https", "http") if scheme in schemes), "https")
    if schemes and not {"http", "https"} & {str(scheme) for scheme in schemes}:
        chosen = str(schemes[0])
    return [{"url": f"{chosen}://{host}/{path.lstrip('/')}"}]


_FLOWS: dict[object, str] = {"accessCode": "authorizationCode", "application": "clientCredentials"}
"""OAuth flows by their Swagger names, with the names that OpenAPI 3 gives them."""


def _scheme(schemas: Schemas, given: object) -> Any:
    try:
        scheme = schemas.follow(given)
    except UnsupportedError:
        return given
    if scheme.get("type") == "oauth2":
        return {**scheme, "flows": {_FLOWS.get(scheme.get("flow"), "other"): scheme}}
    return {**scheme, "type": "http", "scheme": "basic"} if scheme.get("type") == "basic" else scheme


def _path_item(schemas: Schemas, document: Schema, given: object) -> Any:
    try:
        path_item = schemas.follow(given)
    except UnsupportedError:
        return given
    if not isinstance(given, dict):
        return given
    shared = items(path_item.get("parameters"))
    made = {key: part for key, part in path_item.items() if key not in ("parameters", "$ref")}
    for method in _METHODS:
        if isinstance(path_item.get(method), dict):
            try:
                operation = schemas.follow(path_item[method])
            except UnsupportedError:
                continue  # its reference is reported with the operation
            made[method] = _operation(schemas, document, shared, operation)
    return remember_given_twice(made, path_item)


def _operation(schemas: Schemas, document: Schema, shared: list[Any], operation: Schema) -> Schema:
    given: dict[tuple[str, str], Any] = {}
    for one in (*shared, *items(operation.get("parameters"))):
        try:
            found = schemas.follow(one)
        except UnsupportedError:
            found = mapping(one)  # its reference is reported with the operation
        given[str(found.get("name", found.get("$ref"))), str(found.get("in"))] = found
    fields = [one for (_, place), one in given.items() if place == "formData"]
    whole = next((one for (_, place), one in given.items() if place == "body"), None)
    made = {
        **operation,
        "parameters": [_parameter(one) for (_, place), one in given.items() if place not in ("formData", "body")],
        "responses": {code: _response(schemas, one) for code, one in mapping(operation.get("responses")).items()},
    }
    consumed = [str(one) for one in items(operation.get("consumes")) or items(document.get("consumes"))]
    if "schemes" in operation:
        made["servers"] = _servers(document, items(operation["schemes"]))
    if whole is not None:
        content = {media: {"schema": whole.get("schema")} for media in consumed or ["application/json"]}
        made["requestBody"] = {**whole, "content": content}
    elif fields:
        made["requestBody"] = _form(fields, consumed)
    return made


def _parameter(given: Schema) -> Schema:
    if "$ref" in given:
        return given
    made: Schema = {key: given[key] for key in given if key in _NO_SCHEMA}
    if "x-example" in given:
        made["example"] = given["x-example"]
    made["schema"] = _value(given)
    if given.get("type") == "array":
        made |= _collection(given, str(given.get("in")))
    return made


def _collection(given: Schema, place: str) -> Schema:
    said = given.get("collectionFormat", "csv")
    if place in ("path", "header"):
        return {"style": "simple" if said in ("csv", "multi") else f"{said} of Swagger"}
    return {"style": _COLLECTIONS.get(said, str(said)) if isinstance(said, str) else "form", "explode": said == "multi"}


def _value(given: Schema) -> Schema:
    """Return the schema of a parameter, which version 2 writes into the parameter itself."""
    made = {key: part for key, part in given.items() if key not in _NO_SCHEMA}
    return {**made, "type": "string", "format": "binary"} if given.get("type") == "file" else made


def _form(fields: list[Schema], consumed: list[str]) -> Schema:
    files = any(one.get("type") == "file" for one in fields) or (
        "multipart/form-data" in consumed and "application/x-www-form-urlencoded" not in consumed
    )
    named = {str(one.get("name")): one for one in fields}
    schema: Schema = {
        "type": "object",
        "properties": {name: {**_value(one), "description": one.get("description")} for name, one in named.items()},
        "required": [name for name, one in named.items() if one.get("required") is True],
    }
    encoding = {name: _collection(one, "formData") for name, one in named.items() if one.get("type") == "array"}
    media = "multipart/form-data" if files else "application/x-www-form-urlencoded"
    needed = bool(schema["required"])
    return {"required": needed, "content": {media: {"schema": schema, "encoding": encoding}}}


def _response(schemas: Schemas, given: object) -> Any:
    try:
        response = schemas.follow(given)
    except UnsupportedError:
        return given
    if "schema" not in response:
        return response
    example = next(iter(mapping(response.get("examples")).values()), None)
    media: Schema = {"schema": response["schema"]} | ({} if example is None else {"example": example})
    return {**response, "content": {"application/json": media}}
