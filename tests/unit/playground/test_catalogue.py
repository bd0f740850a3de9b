"""The OpenAPI document is worth planning over, and says the truth."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast, get_args

import pytest

from graph.importers.openapi import read_openapi
from playground.application import routes
from playground.equivalents import EQUIVALENTS
from playground.failures import Fault, Kind
from playground.record import CATALOGUE, DATA

DOCUMENT: dict[str, Any] = json.loads((DATA / CATALOGUE).read_bytes())
"""As committed, which is as it is served: ``test_apis``."""
ID_LIKE = re.compile(r"(id|Id|_?[cC]ode|symbol|sym|isbn|timezone|lat|lng|latitude|longitude|airport|_number|[a-z]+Id)$")


def operations() -> dict[str, dict[str, Any]]:
    return {one["operationId"]: one for item in DOCUMENT["paths"].values() for one in item.values()}


def inputs(operation: dict[str, Any]) -> set[str]:
    """The names of what a call must have."""
    named = {one["name"] for one in operation.get("parameters", []) if one["required"]}
    content = operation.get("requestBody", {}).get("content", {})
    return named | {name for media in content.values() for name in resolved(media["schema"]).get("required", [])}


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rsplit("/", 1)[-1]
    return DOCUMENT["components"]["schemas"][name] if name else schema


def fields(schema: object, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """Every field name below a schema."""
    if isinstance(schema, list):
        for one in cast(list[object], schema):
            yield from fields(one, seen)
    elif isinstance(schema, dict):
        given = cast(dict[str, Any], schema)
        reference = str(given.get("$ref", ""))
        if reference and reference not in seen:
            yield from fields(resolved(given), seen | {reference})
        yield from given.get("properties", {})
        for one in given.values():
            yield from fields(one, seen)


def outputs(operation: dict[str, Any]) -> set[str]:
    """The names of all fields that a success has."""
    good = [one for status, one in operation["responses"].items() if status.startswith("2")]
    schemas = [media["schema"] for one in good for media in one.get("content", {}).values()]
    return set(fields(schemas))


def plain(name: str) -> str:
    """A name without its case and its joints: ``teamId`` and ``team_id`` are one."""
    return name.replace("_", "").replace("-", "").casefold()


def test_there_are_sixty_operations_in_twelve_categories() -> None:
    assert len(operations()) >= 60
    assert len({one["tags"][0] for one in operations().values()}) >= 12


def test_half_of_them_need_what_another_returns() -> None:
    """A required parameter that is an identifier, a code or a coordinate, and a field of another's response."""
    given = {name: {plain(field) for field in outputs(one)} for name, one in operations().items()}
    needy: set[str] = set()
    for name, one in operations().items():
        wanted = {plain(item) for item in inputs(one) if ID_LIKE.search(item)}
        if any(wanted & found for other, found in given.items() if other != name):
            needy.add(name)
    assert len(needy) >= len(operations()) / 2, sorted(set(operations()) - needy)


def test_pairs_do_the_same_job() -> None:
    assert len(EQUIVALENTS) >= 4
    for first, second in EQUIVALENTS:
        one, other = operations()[first], operations()[second]
        assert one["tags"] == other["tags"]
        assert one["x-toolset"] != other["x-toolset"]
        assert inputs(one) != inputs(other)


def test_every_kind_of_failure_is_there_and_documented() -> None:
    kinds: set[str] = set()
    for _, route in routes():
        answers = operations()[str(route.operation_id)]["responses"]
        for fault in (one.dependency for one in route.dependencies):
            for failure in fault.failures if isinstance(fault, Fault) else ():
                kinds.add(failure.kind)
                assert not failure.status or str(failure.status) in answers, route.operation_id
    assert kinds == set(get_args(Kind))


def test_two_services_want_a_key_and_say_so() -> None:
    schemes = DOCUMENT["components"]["securitySchemes"]
    assert {(one["type"], one.get("in"), one.get("scheme")) for one in schemes.values()} == {
        ("apiKey", "header", None),
        ("http", None, "bearer"),
    }
    assert all("For tests" in one["description"] for one in schemes.values())
    guarded = [one for one in operations().values() if "security" in one]
    assert len({one["x-toolset"] for one in guarded}) == 2
    assert all({"401", "403"} <= one["responses"].keys() for one in guarded)


def test_there_are_deep_objects_lists_choices_and_nested_bodies() -> None:
    parameters = [one for operation in operations().values() for one in operation.get("parameters", [])]
    assert any(one.get("style") == "deepObject" for one in parameters)
    assert any("array" in str(one["schema"]) for one in parameters)
    assert any("enum" in str(one["schema"]) for one in parameters)
    body = operations()["place_order"]["requestBody"]["content"]["application/json"]["schema"]
    assert "$ref" in resolved(body)["properties"]["customer"]


def test_every_operation_is_described_with_parameters_and_answers() -> None:
    for name, one in operations().items():
        assert one["description"], name
        assert one["x-toolset"], name
        assert one["x-toolset-description"], name
        assert all(item.get("description") for item in one.get("parameters", [])), name
        assert any(status.startswith("2") for status in one["responses"]), name


def test_switches_are_no_tools() -> None:
    assert not [path for path in DOCUMENT["paths"] if path.startswith("/_") or path == "/health"]


@pytest.mark.parametrize("word", ["operationId", "path"])
def test_names_are_unique(word: str) -> None:
    names = [
        one["operationId"] if word == "operationId" else f"{method} {path}"
        for path, item in DOCUMENT["paths"].items()
        for method, one in item.items()
    ]
    assert len(names) == len(set(names))


def test_every_operation_is_imported_with_its_parameters() -> None:
    docs = {doc.api: doc for doc in read_openapi(DATA / CATALOGUE)}
    assert docs.keys() == operations().keys()
    for name, doc in docs.items():
        declared = {one["name"] for one in operations()[name].get("parameters", [])}
        assert declared <= {parameter.name for parameter in doc.parameters}, name
        assert inputs(operations()[name]) <= {parameter.name for parameter in doc.required}, name
        assert bool(doc.credentials) == ("security" in operations()[name]), name
        assert doc.category == operations()[name]["tags"][0]
        assert doc.url.startswith("http://127.0.0.1:8765/")
        assert doc.response_schema or name == "delete_event"
        assert doc.example_response or name == "delete_event"
