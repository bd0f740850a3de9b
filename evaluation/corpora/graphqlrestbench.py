"""GraphQLRestBench: requests with the functions that serve them, their response schemas, and a gold program."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from domain.errors import UsageError
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc, make_tool_id
from evaluation.code_calls import CodeCall, FunctionSignature, extract_calls
from graph.importers.lines import JsonlLine, read_lines
from graph.importers.records import RecordError, SkippedInput, load, require_text

FILES = ("train.jsonl", "valid.jsonl")
_TYPE = re.compile(r"type\s+(\w+)\s*\{(.*?)\n\}", re.DOTALL)
_FIELD = re.compile(r"(\w+)\s*(?:\([^)]*\))?\s*:\s*(\[*)(\w+)")
_DIRECTIVE = re.compile(r"@\w+\s*\((?:[^()\"]|\"[^\"]*\")*\)")
_SCALARS = {"Int": "integer", "Float": "number", "Boolean": "boolean"}
_CALLED = re.compile(r"\b((?:GET|POST|PUT|DELETE|PATCH)_\w+)\s*\(")
_TYPES = {"dict": "object", "float": "number", "int": "integer", "bool": "boolean", "list": "array"}
_MAX_DEPTH = 6


@dataclass(frozen=True, slots=True)
class ProgramSample:
    """A request of the benchmark."""

    id: str
    domain: str
    request: str
    tools: tuple[ToolDoc, ...]
    """Functions of the gold program, as the benchmark lists them."""
    program: str
    gold: tuple[CodeCall, ...]
    """Calls of the gold program."""


def read_samples(folder: Path) -> tuple[list[ProgramSample], list[SkippedInput]]:
    """Return the rows of both files, and those that cannot be used.

    Raises:
        UsageError: one of the files does not exist.
    """
    samples: list[ProgramSample] = []
    skipped: list[SkippedInput] = []
    for path, line in read_rows(folder):
        if isinstance(line, SkippedInput):
            skipped.append(line)
            continue
        try:
            samples.append(_parse_sample(load(line.body), f"{path.stem}-{line.number}"))
        except (RecordError, SyntaxError, ValueError) as error:
            skipped.append(SkippedInput(str(path), line.number, str(error)))
    return samples, skipped


def read_rows(folder: Path) -> Iterator[tuple[Path, JsonlLine | SkippedInput]]:
    """Yield the lines of both files in order, each with its file.

    Raises:
        UsageError: one of the files does not exist.
    """
    for path in (folder / name for name in FILES):
        if not path.is_file():
            raise UsageError(f"{path} is not there; --data is the folder that holds {' and '.join(FILES)}")
        for line in read_lines(path):
            yield path, line


def _parse_sample(record: dict[str, Any], name: str) -> ProgramSample:
    specs: list[dict[str, Any]] = json.loads(require_text(record, "function_specs"))
    schemas = dict(parse_response_schemas(str(record.get("GraphQL_schema") or "")))
    tools = tuple(_build_tool(spec, schemas.get(str(spec["name"]))) for spec in specs)
    program = require_text(record, "output")
    parameters_by_function = {tool.api: {one.name: one.name for one in tool.parameters} for tool in tools}
    # Some programs call functions that are not listed: they count, but can only be missed.
    called = set(_CALLED.findall(program))
    gold = extract_calls(
        program,
        {
            each: FunctionSignature(each, parameters_by_function.get(each, {}))
            for each in (called | parameters_by_function.keys())
        },
    )
    if not gold:
        raise RecordError("its gold program calls no function")
    return ProgramSample(
        name, require_text(record, "domain"), require_text(record, "utterance"), tools, program, tuple(gold)
    )


def _build_tool(spec: dict[str, Any], response: JsonObject | None) -> ToolDoc:
    name, declared = str(spec["name"]), spec["parameters"]
    method = name.partition("_")[0]
    return ToolDoc(
        id=make_tool_id("GraphQLRestBench", "API", name), category="GraphQLRestBench", toolset="API", api=name, function=name,
        method=method if method in ("GET", "POST", "PUT", "DELETE", "PATCH") else "GET", url=f"https://api.invalid/{name}",
        description=str(spec.get("description", "")),
        parameters=tuple(
            Parameter.model_validate(
                {
                    "name": one, "type": _TYPES.get(str(about.get("type")), about.get("type", "string")),
                    "description": str(about.get("description", "")), "required": one in declared.get("required", []),
                }
            )
            for one, about in declared["properties"].items()
        ),
        response_schema=json.dumps(response) if response else None,
    )  # fmt: skip


def parse_response_schemas(graphql: str) -> Iterator[tuple[str, JsonObject]]:
    """Yield the response of each query of a GraphQL schema as JSON Schema."""
    # A type may be declared in several places, each with some of its fields.
    types: dict[str, list[tuple[str, str, str]]] = {}
    for name, body in _TYPE.findall(graphql):
        types.setdefault(name, []).extend(_FIELD.findall(_DIRECTIVE.sub("", body)))
    for name, lists, kind in types.pop("Query", []):
        yield name, _build_schema(kind, len(lists), types, 0)


def _build_schema(kind: str, lists: int, types: dict[str, list[tuple[str, str, str]]], depth: int) -> JsonObject:
    if lists:
        return {"type": "array", "items": _build_schema(kind, lists - 1, types, depth)}
    if kind not in types:
        return {"type": _SCALARS.get(kind, "string")}
    if depth == _MAX_DEPTH:
        return {"type": "object"}
    fields = {name: _build_schema(inner, len(more), types, depth + 1) for name, more, inner in types[kind]}
    return {"type": "object", "properties": {**fields}}
