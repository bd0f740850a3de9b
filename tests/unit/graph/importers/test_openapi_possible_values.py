"""A value that a document means can be given: schemas without a type, or whose keywords contradict each other, rule out nothing that works."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic.types import JsonValue

from agent.execution.validation import validate_arguments
from domain.errors import InvalidArgumentsError
from domain.tool import ToolDoc
from graph.importers.openapi import read_openapi

OK: dict[str, Any] = {"200": {"description": "ok"}}


def import_value(folder: Path, schema: Any, components: dict[str, Any] | None = None) -> ToolDoc:
    """Import a tool whose body has the one field ``value``."""
    body = {"type": "object", "required": ["value"], "properties": {"value": schema}}
    operation = {"requestBody": {"required": True, "content": {"application/json": {"schema": body}}}, "responses": OK}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Things"},
        "paths": {"/things": {"post": {"operationId": "put", **operation}}},
        "components": {"schemas": components or {}},
    }
    path = folder / "api.json"
    path.write_text(json.dumps(document))
    (doc,) = read_openapi(path)
    return doc


def send(doc: ToolDoc, value: JsonValue) -> JsonValue:
    return validate_arguments(doc, {"value": value})["value"]


def refuses(doc: ToolDoc, value: JsonValue) -> bool:
    try:
        validate_arguments(doc, {"value": value})
    except InvalidArgumentsError:
        return True
    return False


@pytest.mark.parametrize(
    "schema", [{}, True, {"description": "Any value."}, {"title": "Value", "nullable": True}, {"example": 3}]
)
@pytest.mark.parametrize("value", [5, "5", True, None, 1.5, {"type": "doc", "content": []}, [1, "a"]])
def test_a_schema_without_a_type_takes_every_value_as_it_is(tmp_path: Path, schema: Any, value: JsonValue) -> None:
    doc = import_value(tmp_path, schema)
    assert doc.parameters[0].type == "any"
    assert (sent := send(doc, value)) == value
    assert type(sent) is type(value)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"minLength": 1}, "string"),
        ({"format": "date"}, "string"),
        ({"format": "int64"}, "integer"),
        ({"maximum": 9}, "number"),
        ({"minItems": 1}, "array"),
        ({"additionalProperties": {"type": "string"}}, "object"),
        ({"enum": ["a", "b"]}, "string"),
        ({"enum": [1, 2.5]}, "number"),
        ({"enum": ["a", 1]}, "any"),
        ({"const": True}, "boolean"),
    ],
)
def test_keywords_tell_a_type_that_is_not_named(tmp_path: Path, schema: Any, expected: str) -> None:
    assert import_value(tmp_path, schema).parameters[0].type == expected


@pytest.mark.parametrize(
    ("schema", "given", "sent"),
    [
        ({"type": "string", "enum": [True, False]}, "true", "true"),
        ({"type": "string", "enum": [True, False]}, True, "true"),
        ({"type": "string", "enum": [1, 2.5, "x"]}, "2.5", "2.5"),
        ({"type": "boolean", "enum": ["false", "true"]}, "true", True),
        ({"type": "boolean", "enum": ["false", "true"]}, False, False),
        ({"type": "boolean", "enum": [0, 1]}, 1, 1),
        ({"type": "integer", "enum": ["10", "20"]}, 20, 20),
        ({"type": "integer", "enum": ["low", "high"]}, "low", "low"),
        ({"type": "number", "enum": ["0.5", "1"]}, 0.5, 0.5),
        ({"type": "object", "enum": ["asc", "desc"]}, "asc", "asc"),
        ({"type": "string", "format": "date-time", "enum": ["now"]}, "now", "now"),
        ({"type": "integer", "enum": ["1 (Plan)", "2 (User)"], "format": "int32"}, "1 (Plan)", "1 (Plan)"),
        ({"type": "array", "items": {"type": "string"}, "enum": ["live", "paid"]}, ["live"], ["live"]),
        ({"type": "array", "items": {"type": "integer"}, "enum": ["1", "2"]}, [1, 2], [1, 2]),
        ({"type": "array", "enum": ["live", "paid"]}, ["paid", "live"], ["paid", "live"]),
        ({"type": "array", "items": {"type": "string", "enum": [1, 2]}}, ["1"], ["1"]),
        ({"type": ["integer", "null"], "enum": ["1", None]}, None, None),
        ({"type": "integer", "const": "7"}, 7, 7),
        ({"type": "object", "properties": {"on": {"type": "string", "enum": [True]}}}, {"on": "true"}, {"on": "true"}),
    ],
)  # fmt: skip
def test_allowed_values_of_another_type_than_the_type(
    tmp_path: Path, schema: Any, given: JsonValue, sent: JsonValue
) -> None:
    doc = import_value(tmp_path, schema)
    assert send(doc, given) == sent
    assert type(send(doc, given)) is type(sent)


def test_allowed_values_are_still_the_only_ones(tmp_path: Path) -> None:
    assert refuses(import_value(tmp_path, {"type": "string", "enum": [True, False]}), "maybe")
    assert refuses(import_value(tmp_path, {"type": "array", "enum": ["live", "paid"]}), ["dead"])
    assert refuses(import_value(tmp_path, {"type": "integer", "enum": ["low", "high"]}), 3)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, 5),
        ({"oneOf": [{"type": "object", "properties": {"a": True}}, {"type": "object", "properties": {"b": True}}]}, {"a": 1}),
        ({"anyOf": [{"type": "string"}], "oneOf": [{"minLength": 1}, {"maxLength": 9}]}, "abc"),
        ({"type": "object", "required": ["a"], "additionalProperties": False}, {"a": 1}),
        ({"type": "object", "additionalProperties": False, "properties": {"a": True}, "allOf": [{"required": ["b"], "properties": {"b": True}}]}, {"a": 1, "b": 2}),
        ({"type": "integer", "minimum": 10, "maximum": 1}, 5),
        ({"type": "string", "pattern": r"/^\+(?:[0-9]-?){6,14}[0-9]$/i"}, "+49-301234567"),
        ({"type": "string", "pattern": "^[a-z]*$\\{2,64\\}$"}, "abc"),
        ({"type": "string", "pattern": "^arn:group/^.{1,255}$"}, "arn:group/one"),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, 5),
        ({"type": "number", "allOf": [{"type": "integer"}]}, 5),
        ({"type": "array", "items": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}}, [[1, 2]]),
        ({"type": "string", "minLength": 10, "maxLength": 1}, "abc"),
        ({"type": "integer", "minimum": -(2**70), "maximum": 2**70}, 5),
        ({"type": "object", "properties": {"seed": {"type": "integer", "enum": [2**70, 1]}}}, {"seed": 1}),
    ],
)  # fmt: skip
def test_constraints_that_nothing_could_satisfy_or_keep(tmp_path: Path, schema: Any, value: JsonValue) -> None:
    assert send(import_value(tmp_path, schema), value) == value


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "example": 0},
        {"type": "object", "nullable": True, "example": [1]},
        {"type": "string", "example": {"text": "Hello"}},
        {"type": "integer", "example": "2025-10-15T13:51:40Z"},
        {"type": "boolean", "examples": [0, 1]},
        {"type": "integer", "minimum": 10, "example": 3},
        {"type": "string", "maxLength": 2, "example": "abc"},
        {"type": "array", "items": {"type": "string"}, "minItems": 2, "example": ["a"]},
        {"type": "object", "properties": {"at": {"type": "object", "example": 12.5}}, "example": {"at": 12.5}},
    ],
)  # fmt: skip
def test_the_documents_own_examples_pass(tmp_path: Path, schema: dict[str, Any]) -> None:
    value = schema["example"] if "example" in schema else schema["examples"][0]
    assert send(import_value(tmp_path, schema), value) == value


def test_examples_that_are_values_as_text_change_nothing(tmp_path: Path) -> None:
    for schema in (
        {"type": "integer", "example": "10"},
        {"type": "boolean", "example": "true"},
        {"type": "string", "example": 5},
    ):
        doc = import_value(tmp_path, schema)
        assert doc.parameters[0].json_schema is None
    assert refuses(import_value(tmp_path, {"type": "integer", "example": "10"}), "ten")


def test_the_example_of_a_parameter_passes(tmp_path: Path) -> None:
    path = tmp_path / "api.json"
    given = [{"name": "value", "in": "query", "schema": {"type": "integer"}, "example": "latest"}]
    document = {"openapi": "3.0.3", "paths": {"/x": {"get": {"parameters": given, "responses": OK}}}}
    path.write_text(json.dumps(document))
    (doc,) = read_openapi(path)
    assert (send(doc, "latest"), send(doc, 5), doc.parameters[0].type) == ("latest", 5, "integer")


def test_a_pattern_that_can_match_is_checked(tmp_path: Path) -> None:
    for pattern in ("^(a|b)$", "^a$|^b$", r"^[$^a-b]$", "/^[ab]$/"):
        doc = import_value(tmp_path, {"type": "string", "pattern": pattern})
        assert (send(doc, "a"), refuses(doc, "abc")) == ("a", True), pattern


@pytest.mark.parametrize(
    ("schema", "given", "sent"),
    [
        ({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}, "a, b", ["a", "b"]),
        ({"type": "string", "enum": ["DISMISS"]}, '"DISMISS"', "DISMISS"),
        ({"type": "object", "properties": {"zip": {"allOf": [{"type": "string"}]}}}, {"zip": 91521}, {"zip": "91521"}),
    ],
)
def test_values_as_documents_write_them(tmp_path: Path, schema: Any, given: JsonValue, sent: JsonValue) -> None:
    assert send(import_value(tmp_path, schema), given) == sent


def chat(user: Any, discriminator: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Messages told apart by ``role``, as chat completions have them."""
    system = {"type": "object", "required": ["role"], "properties": {"role": {"type": "string", "enum": ["system"]}}}
    variants = [{"$ref": "#/components/schemas/UserMessage"}, {"$ref": "#/components/schemas/SystemMessage"}]
    schema = {"type": "array", "items": {"oneOf": variants, "discriminator": discriminator}}
    return schema, {"UserMessage": user, "SystemMessage": system}


MAPPED = {"propertyName": "role", "mapping": {"person": "#/components/schemas/UserMessage"}}


@pytest.mark.parametrize(
    ("user", "discriminator", "role"),
    [
        ({"properties": {"role": {"type": "string", "enum": ["user"]}}}, {"propertyName": "role"}, "user"),
        ({"properties": {"role": {"const": "user"}}}, {"propertyName": "role"}, "user"),
        ({"allOf": [{"properties": {"role": {"enum": ["user", "person"]}}}]}, MAPPED, "person"),
        ({"properties": {"role": {"enum": ["user"]}}}, MAPPED, "user"),
        ({"properties": {"role": {"type": "string"}}}, MAPPED, "person"),
        ({"properties": {"role": {"type": "string"}}}, {"propertyName": "role"}, "UserMessage"),
        ({"properties": {"role": {"type": "string", "example": "user"}}}, {"propertyName": "role"}, "user"),
        ({"properties": {"text": {}}, "example": {"role": "user"}}, {"propertyName": "role"}, "user"),
        ({"properties": {"text": {}}, "additionalProperties": False}, {"propertyName": "role"}, "UserMessage"),
    ],
)
def test_a_discriminator_never_makes_every_value_impossible(
    tmp_path: Path, user: Any, discriminator: Any, role: str
) -> None:
    schema, components = chat({"type": "object", **user}, discriminator)
    doc = import_value(tmp_path, schema, components)
    messages: JsonValue = [{"role": role}, {"role": "system"}]
    assert send(doc, messages) == messages
    assert refuses(doc, [{"role": "nobody"}])
