"""Retention under compression: expected values that responses hold before and after it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic.types import JsonValue

from agent.compression.compress import LIMIT, compress
from agent.compression.field_selection import FieldChoices
from agent.execution.executor import Executor
from agent.policy.protocol import Policy
from domain.errors import UsageError
from domain.tool import ToolDoc
from evaluation.correctness import absent_from_responses
from evaluation.expected import Asked, Expected
from graph.lenient_json import read_value

Figures = dict[str, Any]
_PLACE = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


@dataclass(slots=True)
class Retention:
    """Counts over the responses of an evaluation."""

    responses: int = 0
    compressed: int = 0
    values: int = 0
    """Expected values that a compressed response held in full."""
    lost: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Values no longer in the compressed response, by request."""
    unseen: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Values that no response of the request shows any more, compressed or not, by request."""
    failed: dict[str, str] = field(default_factory=dict[str, str])
    """Reason of the failed call that ended a request."""

    def figures(self) -> Figures:
        """Return the figures; ``share`` is that of the values still in compressed responses, None if there was none."""
        lost = sum(map(len, self.lost.values()))
        return {
            "responses": self.responses,
            "compressed": self.compressed,
            "values": self.values,
            "retained": self.values - lost,
            "share": (self.values - lost) / self.values if self.values else None,
            "lost": self.lost,
            "unseen": self.unseen,
            "failed": self.failed,
        }


async def evaluate_retention(
    asked: Sequence[Asked],
    tools: Mapping[str, ToolDoc],
    executor: Executor,
    policy: Policy,
    choices: FieldChoices,
    limit: int = LIMIT,
) -> Retention:
    """Make the calls that lead to each answer, and compare the responses with their compressed form.

    ``tools`` by operation. A failed call ends its request, which is listed with the reason.
    """
    found = Retention()
    for one in asked:
        responses: list[str] = []
        shown: list[str] = []
        for call in one.calls:
            tool = tools.get(call.operation)
            if tool is None:
                raise UsageError(f"{one.id}: no tool of the store is called {call.operation!r}; build the store anew")
            arguments = {name: _filled(value, responses) for name, value in call.arguments.items()}
            result = await executor.call(tool, arguments)
            if result.outcome != "ok":
                found.failed[one.id] = f"{call.operation}: {result.note or result.http_status or result.outcome}"
                break
            responses.append(result.body)
            found.responses += 1
            short = await compress(tool, result.body, policy, choices, limit)
            shown.append(short.text if short else result.body)
            if short:
                found.compressed += 1
                _compare(found, one, result.body, short.text)
        lost = set(absent_from_responses(one.expect, shown)) - set(absent_from_responses(one.expect, responses))
        if lost:
            found.unseen[one.id] = sorted(lost)
    return found


def _compare(found: Retention, one: Asked, before: str, after: str) -> None:
    for value in _values(one.expect):
        if not absent_from_responses(value, [before]):
            found.values += 1
            if lost := absent_from_responses(value, [after]):
                found.lost.setdefault(one.id, []).extend(lost)


def _values(expect: Expected) -> list[Expected]:
    """Return each expected value by itself."""
    numbers = [Expected(numbers=(number,), tolerance=expect.tolerance) for number in expect.numbers]
    return numbers + [Expected(texts=(texts,)) for texts in expect.texts]


def _filled(value: JsonValue, responses: Sequence[str]) -> JsonValue:
    """Return a literal as it is, or the field that ``{"from": "1.items[0].id"}`` names."""
    reference = value.get("from") if isinstance(value, dict) and len(value) == 1 else None
    if not isinstance(reference, str):
        return value
    step, _, place = reference.partition(".")
    node: JsonValue = read_value(responses[int(step) - 1])
    for index, key in _PLACE.findall(place):
        node = _inner(node, index, key)
    return node


def _inner(node: JsonValue, index: str, key: str) -> JsonValue:
    if index:
        return node[int(index)] if isinstance(node, list) and int(index) < len(node) else None
    return node.get(key) if isinstance(node, dict) else None
