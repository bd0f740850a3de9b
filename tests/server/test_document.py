"""The API's document shows how it is used: what is sent and what is answered has an example, and each is one."""

from typing import Any

import pytest
from fastapi.routing import APIRoute
from jsonschema import Draft202012Validator

from server.app import create_app
from server.examples import EXAMPLES
from tests.server.document import api_document

DOCUMENT = api_document()
PLAIN = {"type": "string"}
"""A list of words says by itself what it is."""
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]


def spoken_of() -> list[tuple[str, dict[str, Any]]]:
    """(operation, schema) of each body and of each answer that is JSON and says that it went well."""
    found: list[tuple[str, dict[str, Any]]] = []
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            about = [("body", operation.get("requestBody", {}))]
            about += [(status, answer) for status, answer in operation["responses"].items() if status[0] == "2"]
            for what, one in about:
                content = one.get("content", {}).get("application/json")
                if content is not None and content["schema"].get("items") != PLAIN:
                    found.append((f"{method.upper()} {path} {what}", content["schema"]))
    return found


def examples_of(schema: dict[str, Any]) -> list[Any]:
    """Those of a schema, of the schema that it refers to, or of a list's items as a list of each."""
    if "$ref" in schema:
        return examples_of(SCHEMAS[schema["$ref"].rpartition("/")[2]])
    if schema.get("type") == "array" and "examples" not in schema:
        return [[example] for example in examples_of(schema["items"])]
    return schema.get("examples", [])


@pytest.mark.parametrize(("operation", "schema"), spoken_of(), ids=lambda one: one if isinstance(one, str) else "")
def test_every_body_and_answer_has_an_example_that_is_one(operation: str, schema: dict[str, Any]) -> None:
    found = examples_of(schema)
    assert found, f"{operation}: give it an example in server/examples.py"
    validator: Any = Draft202012Validator(schema | {"components": DOCUMENT["components"]})
    for example in found:
        assert [error.message for error in validator.iter_errors(example)] == []


def test_no_example_is_of_what_is_gone() -> None:
    assert EXAMPLES.keys() - SCHEMAS.keys() == set()


def test_every_operation_says_what_it_is_for() -> None:
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            assert operation.get("summary"), f"{method} {path}"
            assert operation.get("tags"), f"{method} {path}"


def test_a_wrong_example_is_noticed() -> None:
    validator: Any = Draft202012Validator(
        {"$ref": "#/components/schemas/RunBody", "components": DOCUMENT["components"]}
    )
    assert list(validator.iter_errors({"request": 3}))


def test_another_application_builds_no_operation_anew() -> None:
    """They take longer to build than all else that an application needs; a server, too, builds them once."""
    served, again = (
        {
            (route.path, *sorted(route.methods or ())): route
            for route in create_app().routes
            if isinstance(route, APIRoute)
        }
        for _ in range(2)
    )
    assert served
    assert {key for key, route in served.items() if again[key] is not route} == set()
    assert len(served) == sum(len(operations) for operations in DOCUMENT["paths"].values())
