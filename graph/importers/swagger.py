"""Converts Swagger 2.0 documents to OpenAPI 3. Referenced parts stay in place, so that references still resolve."""

from typing import Any

from graph.importers.openapi_nodes import Schema, copy_duplicate_keys, to_list, to_mapping
from graph.importers.openapi_schema import SchemaResolver, UnsupportedError

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


def convert_to_openapi_3(document: Schema) -> Schema:
    """Convert servers, parameters, bodies, responses and security schemes of a document to OpenAPI 3.

    A part that cannot be converted is left unchanged, for the importer to report with its operation.
    """
    schemas = SchemaResolver(document)
    schemes = to_mapping(document.get("securityDefinitions"))
    return {
        **document,
        "openapi": "3.0.3",
        "servers": _build_servers(document, to_list(document.get("schemes"))),
        "components": {"securitySchemes": {name: _convert_scheme(schemas, one) for name, one in schemes.items()}},
        "paths": {
            route: _convert_path_item(schemas, document, one)
            for route, one in to_mapping(document.get("paths")).items()
        },
    }


def _build_servers(document: Schema, schemes: list[Any]) -> list[Schema]:
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


def _convert_scheme(schemas: SchemaResolver, value: object) -> Any:
    try:
        scheme = schemas.follow(value)
    except UnsupportedError:
        return value
    if scheme.get("type") == "oauth2":
        return {**scheme, "flows": {_FLOWS.get(scheme.get("flow"), "other"): scheme}}
    return {**scheme, "type": "http", "scheme": "basic"} if scheme.get("type") == "basic" else scheme


def _convert_path_item(schemas: SchemaResolver, document: Schema, value: object) -> Any:
    try:
        path_item = schemas.follow(value)
    except UnsupportedError:
        return value
    if not isinstance(value, dict):
        return value
    shared = to_list(path_item.get("parameters"))
    converted = {key: part for key, part in path_item.items() if key not in ("parameters", "$ref")}
    for method in _METHODS:
        if isinstance(path_item.get(method), dict):
            try:
                operation = schemas.follow(path_item[method])
            except UnsupportedError:
                continue  # its reference is reported with the operation
            converted[method] = _convert_operation(schemas, document, shared, operation)
    return copy_duplicate_keys(converted, path_item)


def _convert_operation(schemas: SchemaResolver, document: Schema, shared: list[Any], operation: Schema) -> Schema:
    parameters: dict[tuple[str, str], Any] = {}
    for one in (*shared, *to_list(operation.get("parameters"))):
        try:
            resolved = schemas.follow(one)
        except UnsupportedError:
            resolved = to_mapping(one)  # its reference is reported with the operation
        parameters[str(resolved.get("name", resolved.get("$ref"))), str(resolved.get("in"))] = resolved
    fields = [one for (_, place), one in parameters.items() if place == "formData"]
    body = next((one for (_, place), one in parameters.items() if place == "body"), None)
    converted = {
        **operation,
        "parameters": [
            _convert_parameter(one) for (_, place), one in parameters.items() if place not in ("formData", "body")
        ],
        "responses": {
            code: _convert_response(schemas, one) for code, one in to_mapping(operation.get("responses")).items()
        },
    }
    consumed = [str(one) for one in to_list(operation.get("consumes")) or to_list(document.get("consumes"))]
    if "schemes" in operation:
        converted["servers"] = _build_servers(document, to_list(operation["schemes"]))
    if body is not None:
        content = {media: {"schema": body.get("schema")} for media in consumed or ["application/json"]}
        converted["requestBody"] = {**body, "content": content}
    elif fields:
        converted["requestBody"] = _build_form(fields, consumed)
    return converted


def _convert_parameter(parameter: Schema) -> Schema:
    if "$ref" in parameter:
        return parameter
    converted: Schema = {key: parameter[key] for key in parameter if key in _NO_SCHEMA}
    if "x-example" in parameter:
        converted["example"] = parameter["x-example"]
    converted["schema"] = _extract_schema(parameter)
    if parameter.get("type") == "array":
        converted |= _convert_collection(parameter, str(parameter.get("in")))
    return converted


def _convert_collection(parameter: Schema, place: str) -> Schema:
    format_name = parameter.get("collectionFormat", "csv")
    if place in ("path", "header"):
        return {"style": "simple" if format_name in ("csv", "multi") else f"{format_name} of Swagger"}
    return {
        "style": _COLLECTIONS.get(format_name, str(format_name)) if isinstance(format_name, str) else "form",
        "explode": format_name == "multi",
    }


def _extract_schema(parameter: Schema) -> Schema:
    """Return the schema of a parameter, which version 2 writes into the parameter itself."""
    schema = {key: part for key, part in parameter.items() if key not in _NO_SCHEMA}
    return {**schema, "type": "string", "format": "binary"} if parameter.get("type") == "file" else schema


def _build_form(fields: list[Schema], consumed: list[str]) -> Schema:
    files = any(one.get("type") == "file" for one in fields) or (
        "multipart/form-data" in consumed and "application/x-www-form-urlencoded" not in consumed
    )
    by_name = {str(one.get("name")): one for one in fields}
    schema: Schema = {
        "type": "object",
        "properties": {
            name: {**_extract_schema(one), "description": one.get("description")} for name, one in by_name.items()
        },
        "required": [name for name, one in by_name.items() if one.get("required") is True],
    }
    encoding = {
        name: _convert_collection(one, "formData") for name, one in by_name.items() if one.get("type") == "array"
    }
    media = "multipart/form-data" if files else "application/x-www-form-urlencoded"
    needed = bool(schema["required"])
    return {"required": needed, "content": {media: {"schema": schema, "encoding": encoding}}}


def _convert_response(schemas: SchemaResolver, value: object) -> Any:
    try:
        response = schemas.follow(value)
    except UnsupportedError:
        return value
    if "schema" not in response:
        return response
    example = next(iter(to_mapping(response.get("examples")).values()), None)
    media: Schema = {"schema": response["schema"]} | ({} if example is None else {"example": example})
    return {**response, "content": {"application/json": media}}
