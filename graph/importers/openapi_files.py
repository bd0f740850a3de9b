"""Reading of files as OpenAPI 3 documents: JSON or YAML, version 3 or converted from Swagger 2."""

import json
import re
from pathlib import Path
from typing import Any

import orjson

from domain.errors import BrokenInputError
from graph.importers.openapi_nodes import Schema, build_object, to_mapping
from graph.importers.yaml_events import YamlError, read_yaml

MAX_BYTES = 64 * 1024 * 1024
MAX_YAML_BYTES = 16 * 1024 * 1024
"""YAML takes about thirty times as long to read as JSON."""


def read_document(path: Path) -> Schema:
    """Read the document at a path, in the form of OpenAPI 3.

    Raises:
        BrokenInputError: it cannot be read, is too large, or is not an OpenAPI or Swagger document.
    """
    limit = MAX_YAML_BYTES if path.suffix in (".yaml", ".yml") else MAX_BYTES
    try:
        if path.stat().st_size > limit:
            hint = "convert it to JSON" if limit == MAX_YAML_BYTES else "is it an OpenAPI document?"
            raise BrokenInputError(f"larger than {limit >> 20} MiB; {hint}", file=str(path))
        with path.open("rb", buffering=0) as stream:
            content = stream.readall()
    except OSError as error:
        raise BrokenInputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    return to_openapi(_parse_content(content, path), path)


def to_openapi(document: Schema, path: Path) -> Schema:
    """Convert a parsed document to OpenAPI 3. Raises ``BrokenInputError`` if it is neither OpenAPI 3 nor Swagger 2."""
    version: object = document.get("openapi")
    if re.fullmatch(r"3(\..*)?", str(version).strip()):  # YAML reads 3.0 as a number
        return document
    swagger = document.get("swagger")
    if swagger in ("2.0", 2.0, 2):
        from graph.importers.swagger import convert_to_openapi_3  # few documents need it

        return convert_to_openapi_3(document)
    named_version = version or swagger
    version_note = (
        f"version {str(named_version)[:40]}"
        if named_version
        else "it names no version"
        if document
        else "no JSON object"
    )
    raise BrokenInputError(
        f"is no OpenAPI 3 or Swagger 2.0 document ({version_note}); convert it to OpenAPI 3", file=str(path)
    )


def _parse_content(content: bytes, path: Path) -> Schema:
    try:
        if path.suffix in (".yaml", ".yml"):
            return to_mapping(read_yaml(content))
        return to_mapping(read_json(content.removeprefix(b"\xef\xbb\xbf")))
    except YamlError as error:
        raise BrokenInputError(f"is not YAML that can be read: {error}", file=str(path)) from error
    except orjson.JSONDecodeError as error:
        raise BrokenInputError(f"is not JSON ({error})", file=str(path)) from error


def read_json(content: bytes) -> Any:
    """Parse JSON; a path given twice becomes one with the operations of both (:func:`build_object`), as in YAML.

    Raises:
        orjson.JSONDecodeError: it is not JSON.
    """
    orjson.loads(content)  # first: its errors are clearer, and it takes a twentieth of the time
    return load_joining_paths(content)


def load_joining_paths(content: bytes) -> Any:
    """Parse JSON that is known to be valid, as :func:`read_json` does."""
    try:
        return json.loads(content, object_pairs_hook=build_object)
    except RecursionError:  # too deep for Python's own parser; no real document is
        return orjson.loads(content)
