"""The calls that lead to an answer, made one after the other against the running playground."""

import re
from typing import cast

import httpx
from pydantic.types import JsonValue

from domain.tool import ToolDoc
from evaluation.evaluation_cases import EvaluationCase
from playground.calls import send

TRIES = 3
_STEP = re.compile(r"([^.\[\]]+)|\[(-?\d+)\]")


def follow(
    client: httpx.Client, tools: dict[str, ToolDoc], asked: EvaluationCase
) -> tuple[list[str], list[dict[str, JsonValue]]]:
    """The responses and the arguments, references put in. A call that fails for a moment is repeated.

    Raises:
        AssertionError: a call failed for good.
    """
    responses: list[str] = []
    made: list[dict[str, JsonValue]] = []
    for call in asked.calls:
        arguments = {name: resolved(value, responses) for name, value in call.arguments.items()}
        response = _sent(client, tools[call.operation], arguments)
        assert response.status_code < 400, f"{asked.id}: {call.operation} {arguments}: {response.text}"
        responses.append(response.text)
        made.append(arguments)
    return responses, made


def _sent(client: httpx.Client, tool: ToolDoc, arguments: dict[str, JsonValue]) -> httpx.Response:
    for _ in range(TRIES - 1):
        response = send(client, tool, arguments)
        if response.status_code not in (408, 429, 500, 503):
            return response
    return send(client, tool, arguments)


def resolved(value: JsonValue, responses: list[str]) -> JsonValue:
    """The value, or what ``{"from": "1.items[0].id"}`` points to in a response."""
    if isinstance(value, list):
        return [resolved(item, responses) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() != {"from"}:
        return {name: resolved(item, responses) for name, item in value.items()}
    number, _, path = cast(str, value["from"]).partition(".")
    found = httpx.Response(200, text=responses[int(number) - 1]).json()
    for name, position in _STEP.findall(path):
        found = found[int(position)] if position else found[name]
    return found
