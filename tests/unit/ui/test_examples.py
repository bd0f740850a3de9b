"""What is offered to be asked: what this store has served, the playground's requests only over the playground's tools."""

from typing import Any

import httpx
import pytest

from domain.model import JsonObject
from tests.unit.ui.served import Served
from ui.examples import examples
from ui.problems import ServerError

PATHS: JsonObject = {"paths": {"/api/v1/solutions": {}, "/api/v1/tools": {}}}
NONE: JsonObject = {"tools": [], "next": None, "total": 0}
ONE: JsonObject = {"tools": [{"id": "c/Festa/list_feasts"}], "next": None, "total": 1}
FOUND: JsonObject = {"id": "s", "patterns": ["Which plots has {gardener}?"], "path": []}


def of(found: JsonObject, tools: JsonObject = NONE, **whole: Any) -> list[str]:
    text: JsonObject = {"program": {"text": "1", "tools": {}}, "inputs": {}}
    return examples(
        Served(
            {
                "GET /openapi.json": PATHS,
                "GET /solutions": [found] if found else [],
                "GET /solutions/s": {**found, "program": text, **whole},
                "GET /runs/r": {"id": "r", "request": "Which plots has Uli?"},
                "GET /tools": tools,
            }
        ).client
    )


def test_without_solutions_nothing_is_offered_but_over_the_playground() -> None:
    assert of({}) == []
    assert "Which public holidays does Caldera have in 2026?" in of({}, ONE)


def test_a_request_that_was_served_is_offered_with_its_values() -> None:
    assert of(FOUND, ONE, runs=["r"]) == ["Which plots has Uli?"]
    assert of(FOUND, parameters={"gardener": {"type": "string", "default": "Ada"}}) == ["Which plots has Ada?"]
    assert of(FOUND, parameters={"gardener": {"type": "string", "enum": ["Moss"]}}) == ["Which plots has Moss?"]
    assert of({**FOUND, "patterns": ["Which plots are there?"]}) == ["Which plots are there?"]


def test_a_pattern_whose_values_nobody_knows_and_what_is_suspended_are_not_offered() -> None:
    assert of(FOUND, parameters={"gardener": {"type": "string"}}) == []
    assert of({**FOUND, "patterns": ["Which plots are there?"], "suspended": "it failed"}) == []


def test_what_a_stranger_put_there_is_not_offered() -> None:
    found: JsonObject = {**FOUND, "patterns": ["Which plots are there?"], "own": False}
    assert of(found) == of({**found, "approved": False}) == []
    assert of({**found, "approved": True}) == ["Which plots are there?"]


def test_a_server_that_does_not_tell_offers_nothing_and_who_is_logged_out_logs_in() -> None:
    assert examples(Served({"GET /openapi.json": PATHS}).client) == []
    out = httpx.Response(401, json={"code": "unauthenticated", "detail": "no"})
    with pytest.raises(ServerError):
        examples(Served({"GET /openapi.json": PATHS, "GET /solutions": out, "POST /auth/refresh": out}).client)
