"""A GET that lets its caller set another method is asked about like any change, whatever its document says."""

import json
from pathlib import Path
from typing import Any

import pytest

from graph.importers.openapi import read_openapi

NAMES = [
    "X-HTTP-Method-Override", "x-http-method", "X_Method_Override", "_method", "methodOverride", "X-HTTP-Verb-Override", "X-HTTP-Override",
    "x-http-verb", "X-Tunneled-Method", "__method__", "X-REST-Method", "x-override-method", "$httpMethod",
]  # fmt: skip


def imported(folder: Path, name: str, place: str, **more: Any) -> Any:
    operation = {
        "operationId": "listOrders",
        "parameters": [{"name": name, "in": place, "schema": {"type": "string"}}],
        "responses": {"200": {"description": "ok"}},
    } | more
    document = {
        "openapi": "3.0.3",
        "info": {"title": "Orders", "version": "1"},
        "servers": [{"url": "https://orders.example"}],
        "paths": {"/orders": {"get": operation}},
    }
    file = folder / "orders.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    (doc,) = read_openapi(file)
    return doc


@pytest.mark.parametrize("place", ["header", "query"])
@pytest.mark.parametrize("name", NAMES)
def test_a_get_with_a_method_override_does_not_count_as_one_that_reads(tmp_path: Path, name: str, place: str) -> None:
    doc = imported(tmp_path, name, place)
    assert (doc.safe, doc.effect.kind, name in doc.effect.why) == (False, "unknown", True)
    assert not doc.model_copy(update={"side_effect": "reads"}).safe
    assert doc.model_copy(update={"marked": "reads"}).safe


@pytest.mark.parametrize(
    "name", ["method", "payment_method", "X-Request-Id", "http_method", "price_override", "method_name"]
)
def test_an_ordinary_parameter_leaves_a_get_as_it_is(tmp_path: Path, name: str) -> None:
    assert imported(tmp_path, name, "query").safe
