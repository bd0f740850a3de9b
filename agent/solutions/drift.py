"""Drift: changes in the signatures of a solution's tools since its program was checked."""

import json
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import cast

from pydantic.types import JsonValue

from agent.execution.validation import build_value_schema
from domain.model import JsonObject
from domain.program import Program
from domain.solution import Solution
from domain.source_text import parse_source, try_parse_source
from domain.tool import Parameter, ToolDoc, ToolId
from graph.lenient_json import read_value

_PROSE_KEYWORDS = frozenset({"description", "title", "example", "examples", "default", "$comment", "deprecated"})
_UNORDERED_KEYWORDS = frozenset({"required", "enum", "type"})
_SCHEMA_MAP_KEYWORDS = frozenset({"properties", "patternProperties", "$defs", "definitions"})


def compute_fingerprints(program: Program, docs: Mapping[ToolId, ToolDoc]) -> dict[ToolId, str]:
    """Return a fingerprint of each tool's signature as a program uses it; tools without a document are left out.

    A fingerprint covers the method, the host, the schemas of parameters that are required or that the program passes,
    and the types of the documented response fields that the text names. Descriptions, defaults, order and whatever the
    program does not use do not matter.
    """
    source = try_parse_source(program.text) or parse_source("")
    words, called_names = frozenset(source.string_constants), set(source.names)
    given_parameters = {tool: set[str]() for name, tool in program.tools.items() if name in called_names}
    for call in source.calls:
        if call.name in program.tools:
            names = program.arguments.get(call.name, {})
            given_parameters[program.tools[call.name]] |= {
                names.get(argument.name, argument.name) for argument in call.arguments if argument.name
            }
    return {
        tool: _compute_fingerprint(docs[tool], names, words) for tool, names in given_parameters.items() if tool in docs
    }


def find_drifted_tools(solution: Solution, docs: Mapping[ToolId, ToolDoc]) -> list[ToolId]:
    """Return the tools of a solution whose signatures have changed since it was checked."""
    # A tool without a document has no fingerprint now, and does not count as changed.
    current = compute_fingerprints(solution.plan.program, docs)
    return [
        tool for tool, fingerprint in solution.fingerprints.items() if current.get(tool, fingerprint) != fingerprint
    ]


def _compute_fingerprint(doc: ToolDoc, given_parameters: set[str], words: frozenset[str]) -> str:
    used_parameters = [
        parameter for parameter in doc.parameters if parameter.required or parameter.name in given_parameters
    ]
    signature: JsonObject = {
        "method": doc.method.upper(),
        "host": doc.host,
        "parameters": {parameter.name: _describe_parameter(parameter) for parameter in used_parameters},
        "answer": "\n".join(sorted(_find_named_types(read_value(doc.response_schema or ""), words))),
    }
    text = json.dumps(signature, sort_keys=True, ensure_ascii=False)
    return blake2b(text.encode(), digest_size=12).hexdigest()


def _describe_parameter(parameter: Parameter) -> JsonValue:
    is_whole_body = parameter.location == "body" and parameter.whole_body
    # Added only if true: stored fingerprints are older than this property and must stay valid.
    spread: list[JsonValue] = ["spread"] if parameter.spread else []
    return [parameter.required, is_whole_body, _strip_prose(build_value_schema(parameter)), *spread]


def _strip_prose(schema: JsonValue) -> JsonValue:
    """Return a schema without prose, and with lists sorted whose order has no meaning."""
    match schema:
        case dict():
            return {
                name: _strip_properties(part)
                if name in _SCHEMA_MAP_KEYWORDS
                else _sort_list(part)
                if name in _UNORDERED_KEYWORDS
                else _strip_prose(part)
                for name, part in schema.items()
                if name not in _PROSE_KEYWORDS
            }
        case list():
            return [_strip_prose(part) for part in schema]
        case _:
            return schema


def _strip_properties(part: JsonValue) -> JsonValue:
    return (
        {name: _strip_prose(schema) for name, schema in part.items()} if isinstance(part, dict) else _strip_prose(part)
    )


def _sort_list(part: JsonValue) -> JsonValue:
    return cast("JsonValue", sorted(part, key=repr)) if isinstance(part, list) else part


def _find_named_types(schema: JsonValue, words: frozenset[str], place: str = "", depth: int = 12) -> Iterator[str]:
    """Yield path and type of each field of a response schema whose name is among ``words``."""
    if not isinstance(schema, dict) or not depth:
        return
    for name, part in schema.items():
        if name in _SCHEMA_MAP_KEYWORDS and isinstance(part, dict):
            for field, field_schema in part.items():
                here = f"{place}.{field}"
                if field in words and isinstance(field_schema, dict):
                    yield f"{here}: {json.dumps(_sort_list(field_schema.get('type')))}"
                yield from _find_named_types(field_schema, words, here, depth - 1)
        elif name not in _PROSE_KEYWORDS:
            subschemas = part if isinstance(part, list) else [part]
            for subschema in subschemas:
                yield from _find_named_types(subschema, words, f"{place}[]" if name == "items" else place, depth - 1)
